/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the order with the lowest peak among a few candidates: results of walks over the graph
 * (node-orders.h), the file's order, variants of the best order so far, and combinations. Measures
 * a candidate only if its peak may be the lowest. If a graph keeps its order, the candidates are
 * this order and orders in which a few nodes move. */

#include "ordering.h"

#include "../ir/align.h"
#include "../ir/graph-private.h"
#include "../ir/node-queries.h"
#include "../ir/topology.h"
#include "hoisting.h"
#include "node-orders.h"
#include "order-bound.h"
#include "order-combine.h"
#include "quantized-group.h"

#include <string.h>

/* Returns a lower bound in bytes for every peak: the size of the largest computed value. */
static gint64
find_bound (const CleaveGraph *graph)
{
  gint64 largest = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    {
      if (cleave_node_is_source (node) ||
          (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0)
        continue;
      for (guint r = 0; r < node->n_results; r++)
        largest = MAX (largest, cleave_tensor_type_n_bytes (&node->results[r].type));
    }
  return cleave_align_up (largest, CLEAVE_BUFFER_ALIGNMENT);
}

static void
candidate_free (gpointer data)
{
  CleaveOrderCandidate *candidate = data;

  g_ptr_array_unref (candidate->order);
  g_free (candidate->live);
  g_free (candidate);
}

typedef struct
{
  const CleaveGraph *graph;
  GPtrArray *file; /* CleaveNode: the order in which the model's file lists the nodes */
  CleaveGraphFacts *facts;
  gint64 bound; /* lower bound in bytes for the peak of every order */
  GPtrArray *candidates;
  const CleaveOrderCandidate *best; /* the first candidate with the lowest peak */
  CleaveStorage *storage;           /* storage of the order `best` */
} Finding;

static void
finding_clear (Finding *f)
{
  g_clear_pointer (&f->file, g_ptr_array_unref);
  g_clear_pointer (&f->candidates, g_ptr_array_unref);
  g_clear_pointer (&f->storage, cleave_storage_free);
  g_clear_pointer (&f->facts, cleave_graph_facts_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Finding, finding_clear)

/* If the peak of an order is more than this many times the lowest peak, buffer assignment does not
 * try to lower the peak of the order. */
#define CUTOFF 2

/* Returns whether the nodes were added to the graph in this order. The author of the graph, or
 * `fit`, probably chose this order, so this order may be the best order. */
static gboolean
is_as_built (const GPtrArray *order)
{
  for (guint i = 1; i < order->len; i++)
    if (((const CleaveNode *) order->pdata[i - 1])->id > ((const CleaveNode *) order->pdata[i])->id)
      return FALSE;
  return TRUE;
}

/* Returns the cutoff of an order, in bytes: buffer assignment does not try to lower a higher peak.
 * The first order, the order in which nodes were added, and orders of a graph that keeps its order
 * have no cutoff. With a cutoff, a temporal convolution in 86 strips needs 14 % more memory. */
static gint64
find_cutoff (const Finding *f, const GPtrArray *order)
{
  return f->best == NULL || f->graph->keeps_order || is_as_built (order) ? G_MAXINT64
                                                                         : CUTOFF * f->best->peak;
}

static CleaveOrderCandidate *
add_order (Finding *f, GPtrArray *order)
{
  CleaveOrderCandidate *candidate = g_new0 (CleaveOrderCandidate, 1);

  candidate->order = g_ptr_array_ref (order);
  candidate->cutoff = find_cutoff (f, order);
  g_ptr_array_add (f->candidates, candidate);
  return candidate;
}

static void
note_measured (Finding *f, CleaveOrderCandidate *candidate, CleaveStorage *measured)
{
  g_autoptr (CleaveStorage) storage = measured;

  g_free (candidate->live);
  candidate->live = cleave_storage_get_live (storage);
  candidate->peak = cleave_storage_get_peak (storage);
  candidate->is_bound = FALSE;
  if (f->best != NULL && f->best->peak <= candidate->peak)
    return;
  f->best = candidate;
  g_clear_pointer (&f->storage, cleave_storage_free);
  f->storage = g_steal_pointer (&storage);
}

static void
measure (Finding *f, CleaveOrderCandidate *candidate)
{
  note_measured (
      f, candidate,
      cleave_storage_new_within (f->graph, f->facts, candidate->order, candidate->cutoff));
}

static void
add_candidate (Finding *f, GPtrArray *order)
{
  measure (f, add_order (f, order));
}

/* Computes a lower bound for the peak of an order, which takes a fifth of the time of a measurement
 * at most. If the bound is not below the best peak, adds the order with the bound as its peak, and
 * returns TRUE. cleave_order_combine() may still use sections of the order. */
static gboolean
add_bound (Finding *f, GPtrArray *order)
{
  CleaveOrderCandidate *candidate;
  gint64 *least, peak = 0;

  if (f->best == NULL)
    return FALSE;
  least = cleave_order_find_least (f->graph, f->facts, order);
  for (guint i = 0; least != NULL && i < order->len; i++)
    peak = MAX (peak, least[i]);
  if (least == NULL || peak < f->best->peak)
    {
      g_free (least);
      return FALSE;
    }
  candidate = add_order (f, order);
  candidate->live = least;
  candidate->peak = peak;
  candidate->is_bound = TRUE;
  return TRUE;
}

static gboolean
is_same (const GPtrArray *a, const GPtrArray *b)
{
  return a->len == 0 || memcmp (a->pdata, b->pdata, a->len * sizeof *a->pdata) == 0;
}

static gboolean
is_candidate (const Finding *f, const GPtrArray *order)
{
  for (guint i = 0; i < f->candidates->len; i++)
    if (is_same (((const CleaveOrderCandidate *) f->candidates->pdata[i])->order, order))
      return TRUE;
  return FALSE;
}

/* Adds an order that was derived from the best order, if it is not NULL and may lower the peak. */
static void
add_variant (Finding *f, GPtrArray *order)
{
  if (order != NULL && !cleave_order_keeps_peak (f->graph, f->best, order) &&
      !is_candidate (f, order) && !add_bound (f, order))
    note_measured (f, add_order (f, order),
                   cleave_storage_new_like (f->graph, f->facts, order, f->storage));
}

static gboolean
is_done (const Finding *f)
{
  return f->best != NULL && f->best->peak <= f->bound;
}

/* Adds an order, measured if its peak may be the lowest. Returns whether its variants may help. */
static gboolean
add_unless_bound (Finding *f, GPtrArray *order)
{
  const CleaveOrderCandidate *candidate;

  if (!add_bound (f, order))
    add_candidate (f, order);
  candidate = f->candidates->pdata[f->candidates->len - 1];
  return candidate->peak <= candidate->cutoff && !is_done (f);
}

/* Adds an order, and its variant in which copies of carried rows run earlier. If the graph has the
 * flag `keeps_order`, adds the variant first, since its peak is usually far lower. */
static void
add_both (Finding *f, GPtrArray *order)
{
  g_autoptr (GPtrArray) hoisted = NULL;

  if (!f->graph->keeps_order && !add_unless_bound (f, order))
    return;
  hoisted = cleave_order_hoist_carried (f->graph, order);
  if ((hoisted == NULL || is_candidate (f, hoisted) || add_unless_bound (f, hoisted)) &&
      !is_candidate (f, order))
    add_unless_bound (f, order);
}

/* Returns the result of cleave_order_combine(). Measures candidates if necessary. */
static GPtrArray *
combine (Finding *f)
{
  CleaveOrderCandidate *unknown;
  GPtrArray *combined = cleave_order_combine (f->graph, f->candidates, &unknown);

  for (; unknown != NULL; combined = cleave_order_combine (f->graph, f->candidates, &unknown))
    measure (f, unknown);
  return combined;
}

/* Adds the orders that node-orders.c finds, the order `file`, and the combination of all these.
 */
static void
add_walks (Finding *f, GPtrArray *file)
{
  g_autoptr (GPtrArray) first = cleave_order_depth_first (f->graph, NULL), heaviest = NULL,
                        eager = NULL, combined = NULL;

  add_both (f, first);
  if (!is_done (f) && !is_candidate (f, file))
    add_both (f, file);
  heaviest = is_done (f) ? NULL : cleave_order_heaviest_first (f->graph, file);
  if (heaviest != NULL && !is_candidate (f, heaviest))
    add_both (f, heaviest);
  eager = is_done (f) ? NULL : cleave_order_eager (f->graph, f->best->order);
  if (eager != NULL && !is_candidate (f, eager))
    add_both (f, eager);
  if (!is_done (f) && f->candidates->len > 1)
    combined = combine (f);
  if (combined != NULL)
    add_candidate (f, combined);
}

/* Makes variants of the best order by moving some of its nodes, and adds these variants. */
static void
add_variants (Finding *f)
{
  static GPtrArray *(*const move[]) (const GPtrArray *, const CleaveStorage *) = {
    cleave_order_sink, cleave_order_hoist_last, cleave_order_delay_carried
  };

  for (guint i = 0; i < G_N_ELEMENTS (move) && !is_done (f); i++)
    {
      g_autoptr (GPtrArray) moved = move[i](f->best->order, f->storage);

      add_variant (f, moved);
    }
}

static gboolean
must_run_in_order (const CleaveGraph *graph)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if ((node->op->flags & CLEAVE_OP_IN_ORDER) != 0)
      return TRUE;
  return FALSE;
}

/* Sets f->best to the best order. `bound`: lower bound of all peaks, in bytes; 0: none known. */
static gboolean
find_order (Finding *f, const CleaveGraph *graph, gint64 bound, GError **error)
{
  f->file = cleave_topology_sort (graph, error);
  if (f->file == NULL)
    return FALSE;
  f->graph = graph;
  f->facts = cleave_graph_facts_new (graph);
  f->bound = MAX (find_bound (graph), bound);
  f->candidates = g_ptr_array_new_with_free_func (candidate_free);
  if (must_run_in_order (graph))
    {
      add_candidate (f, f->file);
      return TRUE;
    }
  if (graph->keeps_order)
    add_both (f, f->file);
  else
    add_walks (f, f->file);
  add_variants (f);
  return TRUE;
}

GPtrArray *
cleave_order_with_storage (const CleaveGraph *graph, CleaveStorage **storage, GError **error)
{
  g_auto (Finding) f = { 0 };

  if (!find_order (&f, graph, 0, error))
    return NULL;
  *storage = g_steal_pointer (&f.storage);
  return g_ptr_array_ref (f.best->order);
}

GPtrArray *
cleave_order_best_of (const CleaveGraph *graph, const GPtrArray *orders)
{
  g_auto (Finding) f = { .graph = graph, .facts = cleave_graph_facts_new (graph) };
  g_autoptr (GPtrArray) combined = NULL;

  f.candidates = g_ptr_array_new_with_free_func (candidate_free);
  for (guint i = 0; i < orders->len; i++)
    {
      g_autoptr (GPtrArray) hoisted = cleave_order_hoist_carried (graph, orders->pdata[i]);

      add_candidate (&f, orders->pdata[i]);
      if (hoisted != NULL)
        add_candidate (&f, hoisted);
    }
  if (f.candidates->len > 1)
    combined = combine (&f);
  if (combined != NULL)
    add_candidate (&f, combined);
  g_assert (f.best != NULL); /* `orders` is not empty, so there is a best order */
  return g_ptr_array_ref (f.best->order);
}

/* Returns whether to measure the file's order with laps. FALSE if this order is the best order, or
 * a candidate whose peak is above the peak of the best order. */
static gboolean
may_keep_file (const Finding *f)
{
  if (is_same (f->best->order, f->file))
    return FALSE;
  for (guint i = 0; i < f->candidates->len; i++)
    {
      const CleaveOrderCandidate *candidate = f->candidates->pdata[i];

      if (candidate->peak > f->best->peak && is_same (candidate->order, f->file))
        return FALSE;
    }
  return TRUE;
}

/* Returns the file's order if its peak, with and without laps, is at most the peak of the best
 * order. If not, returns the best order. With equal peaks, the order of a file that `fit` wrote is
 * better: another order may have fewer laps, or may leave gaps in the arena. */
GPtrArray *
cleave_order_with_laps_down_to (const CleaveGraph *graph,
                                gint64 n_bytes,
                                CleaveStorage **storage,
                                GError **error)
{
  g_auto (Finding) f = { 0 };
  g_autoptr (CleaveStorage) other = NULL;

  if (!find_order (&f, graph, n_bytes, error))
    return NULL;
  cleave_storage_lap (f.storage, graph);
  if (may_keep_file (&f))
    other = cleave_storage_new_within (graph, f.facts, f.file, G_MAXINT64);
  if (other != NULL && cleave_storage_get_peak (other) <= f.best->peak)
    cleave_storage_lap (other, graph);
  if (other != NULL && cleave_storage_get_peak (other) <= cleave_storage_get_peak (f.storage))
    {
      *storage = g_steal_pointer (&other);
      return g_steal_pointer (&f.file);
    }
  *storage = g_steal_pointer (&f.storage);
  return g_ptr_array_ref (f.best->order);
}

GPtrArray *
cleave_order_with_laps (const CleaveGraph *graph, CleaveStorage **storage, GError **error)
{
  return cleave_order_with_laps_down_to (graph, 0, storage, error);
}

gint64
cleave_order_least_peak (const CleaveGraph *graph, GError **error)
{
  g_autoptr (CleaveGraph) lowered = cleave_group_quantized (graph);
  g_autoptr (CleaveStorage) storage = NULL;
  g_autoptr (GPtrArray) order =
      cleave_order_with_laps (lowered == NULL ? graph : lowered, &storage, error);

  return order == NULL ? -1 : cleave_storage_get_peak (storage);
}
