/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Places nodes by list scheduling: in the order of the longest path to the end, each node on the
 * rank that finishes the node first. In a slow network, this rule never sends a value, even to save
 * time later. So place.c also places for faster networks, and simulates all placements. */

#include "../../lib/ir/hash.h"
#include "../../lib/memory/ordering.h"
#include "bands.h"
#include "rank-costs.h"
#include "rank-segments.h"
#include "simulation.h"

#include <string.h>

/* Parameters of a candidate placement. `speedup`: assumed speed of messages, as a multiple of the
 * real speed. `min_gain`: a node moves to another rank only if the move gains this many times the
 * sending time; with 0, consecutive pieces would change ranks at each node. `in_bands`: pieces run
 * on the rank of their band, so that only whole nodes choose a rank. */
typedef struct
{
  double speedup, min_gain;
  gboolean in_bands;
} Candidate;

static const Candidate candidates[] = {
  { 1, 1, TRUE },       { 16, 64, TRUE },    { 1e6, 1e6, TRUE },  { 1, 0, FALSE },
  { 1, 1, FALSE },      { 1, 8, FALSE },     { 4, 1, FALSE },     { 4, 8, FALSE },
  { 4, 32, FALSE },     { 16, 8, FALSE },    { 16, 64, FALSE },   { 256, 128, FALSE },
  { 256, 1024, FALSE }, { 1e6, 1e6, FALSE }, { 1e6, 1e7, FALSE },
};

/* Two placements count as equally fast if the time of one is at least this fraction of the time of
 * the other. A smaller difference is less than the costs that the cost model leaves out. */
#define MAX_TIME 0.95

typedef struct
{
  const CleaveNetwork *network;
  double speedup, min_gain;
  const gint *band; /* indexed by node id: the rank on which the node must run, or CLEAVE_NO_BAND
                       for any rank; NULL: any rank for all nodes */
  guint *rank;      /* indexed by node id: rank of the node */
  double *end;
  guint *first_result; /* indexed by node id: number of the node's first result among all results */
  GHashTable *arrivals; /* maps a value's number and a rank to the value's time of arrival */
  double *free_at;      /* indexed by rank and thread: time from which the thread is free */
  double *link_free_at; /* indexed by rank: time from which the rank's link is free */
} Placing;

static double
get_time_to_send (const Placing *p, const CleaveResult *value)
{
  return (double) cleave_tensor_type_n_bytes (&value->type) / (p->network->bandwidth * p->speedup) *
         1e9;
}

static double *
find_arrival (const Placing *p, const CleaveResult *value, guint rank)
{
  guint64 key = (guint64) (p->first_result[value->node->id] + value->index) << 32 | rank;

  return g_hash_table_lookup (p->arrivals, &key);
}

/* Returns the time at which a value is on a rank. If `commit`, sends the value to the rank unless
 * it was sent before. */
static double
get_arrival (Placing *p, const CleaveResult *value, guint rank, gboolean commit)
{
  guint from = p->rank[value->node->id];
  double end = p->end[value->node->id], left;
  const double *known = from == rank ? &end : find_arrival (p, value, rank);
  guint64 key;

  if (known != NULL)
    return *known;
  left = MAX (end, p->link_free_at[from]) + get_time_to_send (p, value);
  end = left + p->network->latency / p->speedup * 1e9;
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
        begin = MAX (begin, get_arrival (p, value, rank, commit));
    }
  return begin;
}

/* Returns whether a node runs on the rank of its operand, as views and Reshapes do. */
static gboolean
follows_operand (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_ROW_MAJOR)) != 0 &&
         node->operands[0].result != NULL && !cleave_node_is_fixed (node->operands[0].result->node);
}

/* Returns the time to send the outputs of the graph that a node computes from `rank` to rank 0. */
static double
find_time_back (const Placing *p, const CleaveNode *node, guint rank)
{
  double time = 0;

  for (guint r = 0; rank != 0 && r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL)
        time = get_time_to_send (p, &node->results[r]) + p->network->latency / p->speedup * 1e9;
  return time;
}

/* Returns the time to send a node's operands to a rank. choose_rank() multiplies this time by
 * `min_gain`, and prefers the rank with the smaller time if two ranks would finish the node at the
 * same time. */
static double
find_time_to_bring (const Placing *p, const CleaveNode *node, guint rank)
{
  double time = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value != NULL && !cleave_node_is_fixed (value->node) &&
          p->rank[value->node->id] != rank && find_arrival (p, value, rank) == NULL)
        time += get_time_to_send (p, value) + CLEAVE_RANKS_COST_OF_MESSAGE / p->speedup;
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
      end = begin + cost + find_time_back (p, node, r) + p->min_gain * time;
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

/* Returns the rank of each node, indexed by node id. `order` must be topological. */
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
                .speedup = candidate->speedup,
                .min_gain = candidate->min_gain,
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
                      "seconds is not possible",
                      network->n_ranks, network->n_threads, network->bandwidth, network->latency);
}

/* Returns the memory of the rank that needs the most, plus the bytes of all messages. */
static gint64
count_bytes (const CleavePlacement *placement)
{
  gint64 n_bytes = cleave_ranks_find_memory (placement);

  for (guint i = 0; i < cleave_placement_get_n_messages (placement); i++)
    n_bytes += cleave_placement_get_message (placement, i)->n_bytes;
  return n_bytes;
}

/* Returns the placement with the fewest bytes (count_bytes()) among the placements that are about
 * as fast as the fastest placement. The first of `placements` uses only one rank. */
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
has_placement (const GPtrArray *placements, const CleaveGraph *graph, const guint *ranks)
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

      if (!has_placement (placements, graph, ranks))
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
 * @network: the number of ranks and threads, bandwidth and latency
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a rank for each node so that the estimated time of a run is least: the time of the nodes,
 * and the time to send values. Rank 0 has the inputs and gets the outputs. One candidate has all
 * nodes on rank 0. Among candidates within 5 % of the least time, the function chooses the one with
 * the fewest bytes of memory and messages. Nodes are not split: see [func@Cleave.split_for_ranks].
 *
 * A graph has the same placement on every machine. O(nodes × ranks).
 *
 * Fails with %CLEAVE_ERROR_OPTION if a number of the network is out of range, and with
 * %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: (transfer full) (nullable): the placement, or %NULL on error
 *
 * Since: 0.2
 */
CleavePlacement *
cleave_placement_new (CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  return cleave_placement_new_for_stream (graph, network, 1, error);
}

/**
 * cleave_placement_new_for_stream:
 * @graph: a graph, which must not change as long as the placement is there
 * @network: the number of ranks and threads, bandwidth and latency
 * @n_in_flight: number of runs in flight at the same time
 * @error: return location for a [struct@GLib.Error]
 *
 * Finds a placement like [ctor@Cleave.Placement.new], for a stream of runs. The placement minimizes
 * the time between two results: see [method@Cleave.Placement.simulate_stream]. Ranks may form a
 * pipeline: each rank computes one segment of the graph, and the ranks work on different runs at
 * the same time.
 *
 * Fails with %CLEAVE_ERROR_OPTION if a number of the network is out of range, and with
 * %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: (transfer full) (nullable): the placement, or %NULL on error
 *
 * Since: 0.2
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
