/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Nodes go, those first from which the way to the end is longest, to the rank that would be done
 * with them first.  Such a choice is short-sighted: where a network is slow, no value is ever sent,
 * although all that follows would pay for it.  So it is made for faster networks as well, and the
 * simulation says which of the placements is best in the real one. */

#include "../../lib/ir/hash.h"
#include "../../lib/memory/ordering.h"
#include "bands.h"
#include "rank-costs.h"
#include "rank-segments.h"
#include "simulation.h"

#include <string.h>

/* How much faster; and how many times what it takes to send a value somewhere must be gained there:
 * with nothing of that, pieces of nodes that follow each other change ranks at each.  Pieces may
 * have to be where their band is, so that it is for whole nodes alone to find a rank. */
typedef struct
{
  double hope, stickiness;
  gboolean in_bands;
} Candidate;

static const Candidate candidates[] = {
  { 1, 1, TRUE },       { 16, 64, TRUE },    { 1e6, 1e6, TRUE },  { 1, 0, FALSE },
  { 1, 1, FALSE },      { 1, 8, FALSE },     { 4, 1, FALSE },     { 4, 8, FALSE },
  { 4, 32, FALSE },     { 16, 8, FALSE },    { 16, 64, FALSE },   { 256, 128, FALSE },
  { 256, 1024, FALSE }, { 1e6, 1e6, FALSE }, { 1e6, 1e7, FALSE },
};

/* A placement must save so much of the time of a single rank: what is not in the cost model, such
 * as ranks that are not alike, takes some of it. */
#define MAX_TIME 0.95

typedef struct
{
  const CleaveNetwork *network;
  double hope, stickiness;
  const gint *band; /* by id: the rank where the node has to be, if there is one; or NULL */
  guint *rank;      /* by id, here and below */
  double *end;
  guint *first_result;  /* its number among all results */
  GHashTable *arrivals; /* when a value is on a rank, by number and rank */
  double *free_at;      /* by rank and thread */
  double *link_free_at; /* by rank */
} Placing;

static double
get_time_to_send (const Placing *p, const CleaveResult *value)
{
  return (double) cleave_tensor_type_n_bytes (&value->type) / (p->network->bandwidth * p->hope) *
         1e9;
}

static double *
find_arrival (const Placing *p, const CleaveResult *value, guint rank)
{
  guint64 key = (guint64) (p->first_result[value->node->id] + value->index) << 32 | rank;

  return g_hash_table_lookup (p->arrivals, &key);
}

/* When a value would be there; `commit`: it is sent, if it is not yet. */
static double
bring (Placing *p, const CleaveResult *value, guint rank, gboolean commit)
{
  guint from = p->rank[value->node->id];
  double end = p->end[value->node->id], left;
  const double *known = from == rank ? &end : find_arrival (p, value, rank);
  guint64 key;

  if (known != NULL)
    return *known;
  left = MAX (end, p->link_free_at[from]) + get_time_to_send (p, value);
  end = left + p->network->latency / p->hope * 1e9;
  if (commit)
    {
      key = (guint64) (p->first_result[value->node->id] + value->index) << 32 | rank;
      p->link_free_at[from] = left;
      g_hash_table_insert (p->arrivals, g_memdup2 (&key, sizeof key), g_memdup2 (&end, sizeof end));
    }
  return end;
}

static double
find_begin (Placing *p, const CleaveNode *node, guint rank, gboolean commit)
{
  double begin = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value != NULL && !cleave_node_is_fixed (value->node))
        begin = MAX (begin, bring (p, value, rank, commit));
    }
  return begin;
}

/* A part of a value is taken where the value is, so that it alone is sent. */
static gboolean
follows_operand (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR)) != 0 &&
         node->operands[0].result != NULL && !cleave_node_is_fixed (node->operands[0].result->node);
}

/* What is an output has to come back. */
static double
find_time_back (const Placing *p, const CleaveNode *node, guint rank)
{
  double time = 0;

  for (guint r = 0; rank != 0 && r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL)
        time = get_time_to_send (p, &node->results[r]) + p->network->latency / p->hope * 1e9;
  return time;
}

/* Of ranks that would be done at the same time, the one that is sent least. */
static double
find_time_to_bring (const Placing *p, const CleaveNode *node, guint rank)
{
  double time = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value != NULL && !cleave_node_is_fixed (value->node) &&
          p->rank[value->node->id] != rank && find_arrival (p, value, rank) == NULL)
        time += get_time_to_send (p, value) + CLEAVE_RANKS_COST_OF_MESSAGE / p->hope;
    }
  return time;
}

static guint
choose_rank (Placing *p, const CleaveNode *node, double cost)
{
  double least = G_MAXDOUBLE, least_time = G_MAXDOUBLE;
  guint best = 0;

  if (follows_operand (node))
    return p->rank[node->operands[0].result->node->id];
  if (p->band != NULL && p->band[node->id] != CLEAVE_NO_BAND)
    return (guint) p->band[node->id];
  for (guint r = 0; r < p->network->n_ranks; r++)
    {
      double begin = find_begin (p, node, r, FALSE), time = find_time_to_bring (p, node, r);
      double end;

      if (cost > 0)
        begin = MAX (begin, p->free_at[cleave_ranks_find_thread (p->network, p->free_at, r)]);
      end = begin + cost + find_time_back (p, node, r) + p->stickiness * time;
      if (end > least || (end >= least && time >= least_time))
        continue;
      least = end;
      least_time = time;
      best = r;
    }
  return best;
}

static void
place (Placing *p, const CleaveNode *node)
{
  double cost = cleave_ranks_cost (node);
  guint rank = cleave_node_is_input (node) ? 0 : choose_rank (p, node, cost);
  double begin = find_begin (p, node, rank, TRUE);
  guint thread = cleave_ranks_find_thread (p->network, p->free_at, rank);

  p->rank[node->id] = rank;
  if (cost > 0)
    begin = MAX (begin, p->free_at[thread]);
  p->end[node->id] = begin + cost;
  if (cost > 0)
    p->free_at[thread] = begin + cost;
}

/* In `order`, which is topological. */
static guint *
find_ranks (const CleaveGraph *graph,
            const GPtrArray *order,
            const CleaveNetwork *network,
            const Candidate *candidate,
            const gint *band)
{
  gsize n = (gsize) graph->n_ids + 1;
  g_autofree double *end = g_new0 (double, n);
  g_autofree guint *first_result = g_new0 (guint, n);
  g_autofree double *free_at = g_new0 (double, (gsize) network->n_ranks * network->n_threads);
  g_autofree double *link_free_at = g_new0 (double, network->n_ranks);
  g_autoptr (GHashTable) arrivals =
      g_hash_table_new_full (cleave_hash_pair, g_int64_equal, g_free, g_free);
  Placing p = { .network = network,
                .hope = candidate->hope,
                .stickiness = candidate->stickiness,
                .band = candidate->in_bands ? band : NULL,
                .rank = g_new0 (guint, n),
                .end = end,
                .first_result = first_result,
                .arrivals = arrivals,
                .free_at = free_at,
                .link_free_at = link_free_at };
  guint n_results = 0;

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      first_result[node->id] = n_results;
      n_results += node->n_results;
      if (!cleave_node_is_fixed (node))
        place (&p, node);
    }
  return p.rank;
}

static GPtrArray *
sort_by_height (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autofree double *key = cleave_ranks_find_heights (graph, order);
  GPtrArray *sorted = g_ptr_array_copy ((GPtrArray *) order, NULL, NULL);

  for (guint i = 0; i < graph->n_ids; i++)
    key[i] = -key[i];
  cleave_ranks_sort_nodes (sorted, key);
  return sorted;
}

static gboolean
check_network (const CleaveNetwork *network, GError **error)
{
  return (network->n_ranks > 0 && network->n_ranks <= CLEAVE_MAX_RANKS &&
          cleave_network_is_possible (network)) ||
         cleave_fail (error, CLEAVE_ERROR_OPTION,
                      "a network of %u ranks of %u threads, %g bytes a second and a latency of %g "
                      "seconds cannot be",
                      network->n_ranks, network->n_threads, network->bandwidth, network->latency);
}

/* That a rank has to have, or sends. */
static gint64
count_bytes (const CleavePlacement *placement)
{
  gint64 n_bytes = cleave_ranks_find_memory (placement);

  for (guint i = 0; i < cleave_placement_get_n_messages (placement); i++)
    n_bytes += cleave_placement_get_message (placement, i)->n_bytes;
  return n_bytes;
}

/* Of those that are as good as fastest, the one that takes least memory for weights on the rank
 * that has most, and sends least; the first has one rank alone. */
static CleavePlacement *
choose (const GPtrArray *placements, const CleaveNetwork *network, guint n_in_flight)
{
  g_autofree double *times = g_new (double, placements->len);
  gint64 fewest = G_MAXINT64;
  double least = G_MAXDOUBLE;
  guint best = 0;

  for (guint i = 0; i < placements->len; i++)
    {
      times[i] = cleave_placement_simulate_stream (placements->pdata[i], network, n_in_flight);
      least = MIN (least, times[i]);
    }
  for (guint i = 0; i < placements->len; i++)
    {
      gint64 n_bytes =
          times[i] * MAX_TIME > least ? G_MAXINT64 : count_bytes (placements->pdata[i]);

      if (n_bytes >= fewest)
        continue;
      fewest = n_bytes;
      best = i;
    }
  return cleave_placement_ref (placements->pdata[best]);
}

static gboolean
is_there (const GPtrArray *placements, const CleaveGraph *graph, const guint *ranks)
{
  for (guint i = 0; i < placements->len; i++)
    if (memcmp (((const CleavePlacement *) placements->pdata[i])->given_rank, ranks,
                graph->n_ids * sizeof *ranks) == 0)
      return TRUE;
  return FALSE;
}

static void
add_candidates (GPtrArray *placements,
                CleaveGraph *graph,
                const GPtrArray *order,
                const CleaveNetwork *network)
{
  g_autoptr (GPtrArray) sorted = sort_by_height (graph, order);
  g_autofree gint *band = cleave_bands_find (graph, order, network->n_ranks);

  for (guint i = 0; i < G_N_ELEMENTS (candidates); i++)
    {
      g_autofree guint *ranks = find_ranks (graph, sorted, network, &candidates[i], band);

      if (!is_there (placements, graph, ranks))
        g_ptr_array_add (placements, cleave_ranks_make (graph, order, network->n_ranks,
                                                        g_steal_pointer (&ranks)));
    }
}

static CleavePlacement *
find_best (CleaveGraph *graph, const CleaveNetwork *network, guint n_in_flight, GError **error)
{
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  g_autoptr (GPtrArray) placements =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_placement_unref);

  if (!check_network (network, error) ||
      (order = cleave_order_with_storage (graph, &storage, error)) == NULL)
    return NULL;
  g_ptr_array_add (placements, cleave_ranks_make (graph, order, network->n_ranks,
                                                  g_new0 (guint, graph->n_ids + 1)));
  if (network->n_ranks > 1)
    add_candidates (placements, graph, order, network);
  if (network->n_ranks > 1 && n_in_flight > 1)
    g_ptr_array_add (placements,
                     cleave_ranks_make (graph, order, network->n_ranks,
                                        cleave_rank_segments_find (graph, order, network)));
  return choose (placements, network, n_in_flight);
}

CleavePlacement *
cleave_ranks_place (CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  return find_best (graph, network, 1, error);
}

/**
 * cleave_placement_new:
 * @graph: a graph, which must not change as long as the placement is there
 * @network: the ranks, and what lies between them
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds on which rank each node is to run, so that a run takes least time by the cost model that
 * splits are found with, and by what it takes to send values.  What does not pay stays on rank 0,
 * which has the inputs and gets the outputs; all of it, if 5 % of the time cannot be saved.  Nodes
 * are not split: see [func@Cleave.split_for_ranks].
 *
 * The same graph has the same placement everywhere.  Costs time in proportion to nodes times ranks.
 *
 * Fails with %CLEAVE_ERROR_OPTION if there can be no such network, and with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the placement, or %NULL on error
 */
CleavePlacement *
cleave_placement_new (CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  return cleave_placement_new_for_stream (graph, network, 1, error);
}

/**
 * cleave_placement_new_for_stream:
 * @graph: a graph, which must not change as long as the placement is there
 * @network: the ranks, and what lies between them
 * @n_in_flight: number of runs that are under way at once
 * @error: return location for a [struct@GLib.Error]
 *
 * As [ctor@Cleave.Placement.new], but so that results follow each other fastest where many inputs
 * are run, as [method@Cleave.Placement.simulate_stream] tells.  Ranks may then have segments, one
 * behind the other, each of which works at another run.
 *
 * Fails with %CLEAVE_ERROR_OPTION if there can be no such network, and with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the placement, or %NULL on error
 */
CleavePlacement *
cleave_placement_new_for_stream (CleaveGraph *graph,
                                 const CleaveNetwork *network,
                                 guint n_in_flight,
                                 GError **error)
{
  g_return_val_if_fail (graph != NULL && network != NULL && n_in_flight > 0, NULL);
  g_autoptr (CleavePlacement) best = find_best (graph, network, n_in_flight, error);

  return best == NULL ? NULL : cleave_ranks_sort_for_memory (best, network, n_in_flight);
}
