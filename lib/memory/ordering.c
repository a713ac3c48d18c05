/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "ordering.h"

#include "../ir/graph-private.h"
#include "../ir/memory.h"
#include "../ir/topology.h"
#include "hoisting.h"
#include "quantized-group.h"
#include "walks.h"

#include <string.h>

/* No order takes less than the largest value that is computed: what it lies in is as large. */
static gint64
find_bound (const CleaveGraph *graph)
{
  const gint64 align = CLEAVE_BUFFER_ALIGNMENT;
  gint64 largest = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      if (cleave_node_is_input (node) || cleave_node_is_fixed (node) ||
          (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0)
        continue;
      for (guint r = 0; r < node->n_results; r++)
        largest = MAX (largest, cleave_tensor_type_n_bytes (&node->results[r].type));
    }
  return (largest + align - 1) / align * align;
}

/* An order, and what is alive while each of its nodes runs. */
typedef struct
{
  GPtrArray *order;
  gint64 *live; /* by position */
  gint64 peak;
} Candidate;

static void
candidate_free (gpointer data)
{
  Candidate *candidate = data;

  g_ptr_array_unref (candidate->order);
  g_free (candidate->live);
  g_free (candidate);
}

typedef struct
{
  const CleaveGraph *graph;
  gint64 bound; /* none needs less */
  GPtrArray *candidates;
  const Candidate *best;  /* the first of those that need least */
  CleaveStorage *storage; /* of the best */
} Finding;

static void
finding_clear (Finding *f)
{
  g_clear_pointer (&f->candidates, g_ptr_array_unref);
  g_clear_pointer (&f->storage, cleave_storage_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Finding, finding_clear)

/* An order that takes more than so many times what the best one does is of use for some stretch at
 * most. */
#define HOPELESS 2

/* Nodes that lie in the order in which they run were put there so, by who fitted the graph if not
 * by who wrote it: copies alone may make that order the best. */
static gboolean
is_as_built (const GPtrArray *order)
{
  for (guint i = 1; i < order->len; i++)
    if (((const CleaveNode *) order->pdata[i - 1])->id > ((const CleaveNode *) order->pdata[i])->id)
      return FALSE;
  return TRUE;
}

static gint64
find_hopeless (const Finding *f, const GPtrArray *order)
{
  return f->best == NULL || is_as_built (order) ? G_MAXINT64 : HOPELESS * f->best->peak;
}

static void
add_measured (Finding *f, GPtrArray *order, CleaveStorage *measured)
{
  Candidate *candidate = g_new0 (Candidate, 1);
  g_autoptr (CleaveStorage) storage = measured;

  candidate->order = g_ptr_array_ref (order);
  candidate->live = cleave_storage_get_live (storage);
  candidate->peak = cleave_storage_get_peak (storage);
  g_ptr_array_add (f->candidates, candidate);
  if (f->best != NULL && f->best->peak <= candidate->peak)
    return;
  f->best = candidate;
  g_clear_pointer (&f->storage, cleave_storage_free);
  f->storage = g_steal_pointer (&storage);
}

static void
add_candidate (Finding *f, GPtrArray *order)
{
  add_measured (f, order, cleave_storage_new_within (f->graph, order, find_hopeless (f, order)));
}

/* An order that was made of the best one; NULL: it has nothing to change. */
static void
add_variant (Finding *f, GPtrArray *order)
{
  if (order != NULL)
    add_measured (f, order, cleave_storage_new_like (f->graph, order, f->storage));
}

static gboolean
is_done (const Finding *f)
{
  return f->best != NULL && f->best->peak <= f->bound;
}

/* An order as it is, and with what later strips need kept in time. */
static void
add_both (Finding *f, GPtrArray *order)
{
  gint64 hopeless = find_hopeless (f, order);
  g_autoptr (GPtrArray) hoisted = NULL;

  add_candidate (f, order);
  if (((const Candidate *) f->candidates->pdata[f->candidates->len - 1])->peak > hopeless ||
      is_done (f))
    return;
  hoisted = cleave_order_hoist_kept (f->graph, order);
  if (hoisted != NULL)
    add_candidate (f, hoisted);
}

/* Inputs and constants are there from the begin on, wherever an order has them. */
static gboolean
is_source (const CleaveNode *node)
{
  return cleave_node_is_input (node) || cleave_node_is_fixed (node);
}

static void
add_sources (const GPtrArray *from, GPtrArray *to)
{
  for (guint i = 0; i < from->len; i++)
    if (is_source (from->pdata[i]))
      g_ptr_array_add (to, from->pdata[i]);
}

/* How far an order has come: `next` is its next node, `n` of the others have been. */
typedef struct
{
  const Candidate *candidate;
  const guint *rank; /* of each node, by id, among those of the first order */
  guint begin, next, n, furthest;
  gint64 peak; /* from `begin` on */
} Walker;

/* Goes on to where the nodes that have been are the first so many of the ranks, at `n` at least. */
static void
walk_on (Walker *walker, guint n)
{
  const GPtrArray *order = walker->candidate->order;

  for (; walker->next < order->len && (walker->n < n || walker->furthest > walker->n);
       walker->next++)
    {
      const CleaveNode *node = order->pdata[walker->next];

      walker->peak = MAX (walker->peak, walker->candidate->live[walker->next]);
      if (is_source (node))
        continue;
      walker->n++;
      walker->furthest = MAX (walker->furthest, walker->rank[node->id] + 1);
    }
}

/* All go on until they have been through the same nodes. */
static guint
meet (Walker *walkers, guint n_walkers)
{
  guint n = walkers[0].n + 1;
  gboolean same;

  do
    {
      same = TRUE;
      for (guint i = 0; i < n_walkers; i++)
        {
          walk_on (&walkers[i], n);
          same &= walkers[i].n <= n;
          n = MAX (n, walkers[i].n);
        }
    }
  while (!same);
  return n;
}

static void
add_stretch (const Walker *walker, GPtrArray *order)
{
  for (guint i = walker->begin; i < walker->next; i++)
    if (!is_source (walker->candidate->order->pdata[i]))
      g_ptr_array_add (order, walker->candidate->order->pdata[i]);
}

/* From each point where all orders have been through the same nodes to the next, the order that
 * needs least there: where a graph has stages, each has the order that suits it.  NULL if one of
 * them suits all. */
static GPtrArray *
combine (const CleaveGraph *graph, const GPtrArray *candidates)
{
  const GPtrArray *first = ((Candidate *) candidates->pdata[0])->order;
  g_autoptr (GPtrArray) order = cleave_memory_list (first->len);
  g_autofree Walker *walkers = g_new0 (Walker, candidates->len);
  g_autofree guint *rank = CLEAVE_NEW (guint, graph->n_ids + 1);
  const Walker *last = NULL;
  gboolean differ = FALSE;
  guint n_nodes = 0, n = 0;

  add_sources (first, order);
  for (guint i = 0; i < first->len; i++)
    if (!is_source (first->pdata[i]))
      rank[((CleaveNode *) first->pdata[i])->id] = n_nodes++;
  for (guint c = 0; c < candidates->len; c++)
    walkers[c] = (Walker){ .candidate = candidates->pdata[c], .rank = rank };
  while (n < n_nodes)
    {
      const Walker *best = &walkers[0];

      n = meet (walkers, candidates->len);
      for (guint c = 1; c < candidates->len; c++)
        if (walkers[c].peak < best->peak)
          best = &walkers[c];
      add_stretch (best, order);
      differ |= last != NULL && last != best;
      last = best;
      for (guint c = 0; c < candidates->len; c++)
        {
          walkers[c].begin = walkers[c].next;
          walkers[c].peak = 0;
        }
    }
  return differ ? g_steal_pointer (&order) : NULL;
}

static gboolean
is_same (const GPtrArray *a, const GPtrArray *b)
{
  return a->len == 0 || memcmp (a->pdata, b->pdata, a->len * sizeof *a->pdata) == 0;
}

/* Orders of all nodes. */
static void
add_walks (Finding *f, GPtrArray *file)
{
  g_autoptr (GPtrArray) first = cleave_walk_depth_first (f->graph, NULL), heaviest = NULL,
                        eager = NULL, combined = NULL;

  add_both (f, first);
  if (!is_done (f) && !is_same (first, file))
    add_both (f, file);
  heaviest = is_done (f) ? NULL : cleave_walk_heaviest_first (f->graph, file);
  if (heaviest != NULL && !is_same (first, heaviest) && !is_same (file, heaviest))
    add_both (f, heaviest);
  eager = is_done (f) ? NULL : cleave_walk_eager (f->graph, f->best->order);
  if (eager != NULL && !is_same (f->best->order, eager))
    add_both (f, eager);
  if (!is_done (f) && f->candidates->len > 1)
    combined = combine (f->graph, f->candidates);
  if (combined != NULL)
    add_candidate (f, combined);
}

/* What the best order becomes if some nodes move. */
static void
add_variants (Finding *f)
{
  static GPtrArray *(*const move[]) (const GPtrArray *, const CleaveStorage *) = {
    cleave_order_sink, cleave_order_hoist_last, cleave_order_delay_kept
  };

  for (guint i = 0; i < G_N_ELEMENTS (move) && !is_done (f); i++)
    {
      g_autoptr (GPtrArray) moved = move[i](f->best->order, f->storage);

      add_variant (f, moved);
    }
}

static gboolean
has_its_order (const CleaveGraph *graph)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if ((node->op->flags & CLEAVE_OP_IN_ORDER) != 0)
      return TRUE;
  return FALSE;
}

static gboolean
find_order (Finding *f, const CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) file = cleave_topology_sort (graph, error);

  if (file == NULL)
    return FALSE;
  f->graph = graph;
  f->bound = find_bound (graph);
  f->candidates = g_ptr_array_new_with_free_func (candidate_free);
  if (has_its_order (graph))
    {
      add_candidate (f, file);
      return TRUE;
    }
  add_walks (f, file);
  add_variants (f);
  return TRUE;
}

GPtrArray *
cleave_order_with_storage (const CleaveGraph *graph, CleaveStorage **storage, GError **error)
{
  g_auto (Finding) f = { 0 };

  if (!find_order (&f, graph, error))
    return NULL;
  *storage = g_steal_pointer (&f.storage);
  return g_ptr_array_ref (f.best->order);
}

gint64
cleave_order_least_peak (const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveGraph) lowered = cleave_group_quantized (graph);
  g_auto (Finding) f = { 0 };

  return find_order (&f, lowered == NULL ? graph : lowered, error) ? f.best->peak : -1;
}
