/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Combines candidate orders (order-combine.h). A walker goes through each order from the first node
 * to the last. A cut is a position at which all walkers have run the same set of nodes. A section
 * of an order is the nodes between two consecutive cuts. All orders have the same nodes in a
 * section, but may run them in different sequences. */

#include "order-combine.h"

#include "../ir/memory.h"
#include "../ir/node-queries.h"

static void
add_sources (const GPtrArray *from, GPtrArray *to)
{
  for (guint i = 0; i < from->len; i++)
    if (cleave_node_is_source (from->pdata[i]))
      g_ptr_array_add (to, from->pdata[i]);
}

/* A walker: the order of a candidate, and how many nodes of the order the walker has run. `next` is
 * the next position in the order, `begin` the position of the last cut. `n` is the number of nodes
 * that have run, not counting sources: inputs and fixed nodes (cleave_node_is_source()). `furthest`
 * is 1 plus the largest `index_in_first` of the nodes that have run. */
typedef struct
{
  CleaveOrderCandidate *candidate;
  const guint *index_in_first; /* indexed by node id: index of the node in the order of the first
                                * candidate, not counting sources */
  guint begin, next, n, furthest;
  gint64 peak; /* largest number of bytes in use since position `begin` */
} Walker;

/* Advances a walker until it has run at least `n` nodes, and has run exactly the same set of nodes
 * as the first candidate after the same number of nodes. Sources are not counted. */
static void
walk_on (Walker *walker, guint n)
{
  const GPtrArray *order = walker->candidate->order;

  for (; walker->next < order->len && (walker->n < n || walker->furthest > walker->n);
       walker->next++)
    {
      const CleaveNode *node = order->pdata[walker->next];

      walker->peak = MAX (walker->peak, walker->candidate->live[walker->next]);
      if (cleave_node_is_source (node))
        continue;
      walker->n++;
      walker->furthest = MAX (walker->furthest, walker->index_in_first[node->id] + 1);
    }
}

/* Advances all walkers to the next position at which all of them have run the same set of nodes.
 * Returns the number of nodes of this set. */
static guint
advance_to_common_cut (Walker *walkers, guint n_walkers)
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
add_section (const Walker *walker, GPtrArray *order)
{
  for (guint i = walker->begin; i < walker->next; i++)
    if (!cleave_node_is_source (walker->candidate->order->pdata[i]))
      g_ptr_array_add (order, walker->candidate->order->pdata[i]);
}

/* Returns whether the orders of two candidates run the current section in the same sequence. The
 * current section of an order is the nodes at the positions from `begin` to `next`, without
 * sources. All orders have the same nodes in this section. */
static gboolean
is_same_section (const Walker *a, const Walker *b)
{
  const gpointer *x = a->candidate->order->pdata, *y = b->candidate->order->pdata;

  for (guint i = a->begin, j = b->begin; i < a->next || j < b->next; i++, j++)
    {
      while (i < a->next && cleave_node_is_source (x[i]))
        i++;
      while (j < b->next && cleave_node_is_source (y[j]))
        j++;
      if ((i < a->next) != (j < b->next) || (i < a->next && x[i] != y[j]))
        return FALSE;
    }
  return TRUE;
}

/* Returns the walker of the measured candidate with the lowest peak in the current section (the
 * nodes between the last two cuts). If several candidates have this peak, returns the walker of the
 * first of them. */
static const Walker *
find_best (const Walker *walkers, guint n_walkers)
{
  const Walker *best = &walkers[0];

  for (guint c = 1; c < n_walkers; c++)
    if (!walkers[c].candidate->is_bound && walkers[c].peak < best->peak)
      best = &walkers[c];
  return best;
}

/* Returns an unmeasured candidate that may have a lower peak in the current section than `best`. It
 * runs the section in another sequence, and the lower bound for its peak is low enough. Returns
 * NULL if there is no such candidate. */
static CleaveOrderCandidate *
find_unknown (const Walker *walkers, guint n_walkers, const Walker *best)
{
  for (guint c = 1; c < n_walkers; c++)
    if (walkers[c].candidate->is_bound && walkers[c].peak < best->peak + (&walkers[c] < best) &&
        !is_same_section (best, &walkers[c]))
      return walkers[c].candidate;
  return NULL;
}

/* Returns the lowest peak of the measured candidates. */
static gint64
find_least (const GPtrArray *candidates)
{
  gint64 least = G_MAXINT64;

  for (guint c = 0; c < candidates->len; c++)
    {
      const CleaveOrderCandidate *candidate = candidates->pdata[c];

      if (!candidate->is_bound)
        least = MIN (least, candidate->peak);
    }
  return least;
}

GPtrArray *
cleave_order_combine (const CleaveGraph *graph,
                      const GPtrArray *candidates,
                      CleaveOrderCandidate **unknown)
{
  const GPtrArray *first = ((CleaveOrderCandidate *) candidates->pdata[0])->order;
  g_autoptr (GPtrArray) order = cleave_memory_list (first->len);
  g_autofree Walker *walkers = g_new0 (Walker, candidates->len);
  g_autofree guint *index_in_first = CLEAVE_NEW (guint, graph->n_ids + 1);
  const Walker *last = NULL;
  gboolean differ = FALSE;
  guint n_nodes = 0, n = 0;
  gint64 peak = 0;

  *unknown = NULL;
  add_sources (first, order);
  for (guint i = 0; i < first->len; i++)
    if (!cleave_node_is_source (first->pdata[i]))
      index_in_first[((CleaveNode *) first->pdata[i])->id] = n_nodes++;
  for (guint c = 0; c < candidates->len; c++)
    walkers[c] = (Walker){ .candidate = candidates->pdata[c], .index_in_first = index_in_first };
  while (n < n_nodes)
    {
      const Walker *best;

      n = advance_to_common_cut (walkers, candidates->len);
      best = find_best (walkers, candidates->len);
      *unknown = find_unknown (walkers, candidates->len, best);
      if (*unknown != NULL)
        return NULL;
      add_section (best, order);
      peak = MAX (peak, best->peak);
      differ |= last != NULL && last != best;
      last = best;
      for (guint c = 0; c < candidates->len; c++)
        {
          walkers[c].begin = walkers[c].next;
          walkers[c].peak = 0;
        }
    }
  return differ && peak < find_least (candidates) ? g_steal_pointer (&order) : NULL;
}
