/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the memory and the time of one rank of a placement. Also finds the memory of the rank
 * that needs the most memory. sort.c and place.c choose placements by this memory. */

#include <cleave/cleave-program.h>

#include "../../lib/memory/ordering.h"
#include "simulate.h"

/* Returns the bytes of the constants and constant expressions that are outputs, or that nodes
 * outside of constant expressions read. Counts each result once. */
static gint64
count_weight_bytes (const CleaveGraph *graph)
{
  gint64 n_bytes = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint r = 0; cleave_node_is_fixed (node) && r < node->n_results; r++)
      for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
        if (use->node == NULL || !cleave_node_is_fixed (use->node))
          {
            n_bytes += cleave_tensor_type_n_bytes (&node->results[r].type);
            break;
          }
  return n_bytes;
}

/* Returns the bytes of weights of each rank, indexed by rank. The weights of a rank are the
 * constants and constant expressions that its nodes read. A node that is itself part of a constant
 * expression does not count as a reader. Rank 0 counts as the reader of each output. Free the array
 * with g_free(). */
static gint64 *
count_weights (const CleavePlacement *p)
{
  gint64 *n_bytes = g_new0 (gint64, p->n_ranks);
  g_autofree const CleaveResult **last = g_new0 (const CleaveResult *, p->n_ranks);

  for (const CleaveNode *node = p->graph->first; node != NULL; node = node->next)
    for (guint r = 0; cleave_node_is_fixed (node) && r < node->n_results; r++)
      for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
        {
          guint rank = use->node == NULL ? 0 : p->rank[use->node->id];

          if ((use->node != NULL && cleave_node_is_fixed (use->node)) ||
              last[rank] == &node->results[r])
            continue;
          last[rank] = &node->results[r];
          n_bytes[rank] += cleave_tensor_type_n_bytes (&node->results[r].type);
        }
  return n_bytes;
}

gint64
cleave_ranks_find_memory (const CleavePlacement *p)
{
  const CleaveTransport none = { 0 };
  g_autofree gint64 *weights = count_weights (p);
  gint64 most = 0;

  for (guint r = 0; r < p->n_ranks; r++)
    {
      g_autoptr (CleaveGraph) own = cleave_ranks_build (p, r, &none);
      g_autoptr (CleaveStorage) storage = NULL;
      g_autoptr (GPtrArray) order = cleave_order_with_storage (own, &storage, NULL);

      most = MAX (most, weights[r] + cleave_storage_get_peak (storage));
    }
  return most;
}

static void
count_messages (const CleavePlacement *p, guint rank, CleaveRankEstimate *estimate)
{
  for (guint i = 0; i < p->messages->len; i++)
    {
      const CleaveMessage *message = cleave_placement_get_message (p, i);

      estimate->sent_bytes += message->from == rank ? message->n_bytes : 0;
      estimate->received_bytes += message->to == rank ? message->n_bytes : 0;
    }
}

static gboolean
check_network (const CleaveNetwork *network, GError **error)
{
  if (network->n_threads == 0 || network->n_threads > CLEAVE_MAX_RANK_THREADS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "expected 1 to %d threads of each rank, not %u",
                        CLEAVE_MAX_RANK_THREADS, network->n_threads);
  if (!(network->bandwidth >= CLEAVE_MIN_BANDWIDTH))
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "expected a bandwidth of at least %g byte a second, not %g",
                        CLEAVE_MIN_BANDWIDTH, network->bandwidth);
  return cleave_network_is_possible (network) ||
         cleave_fail (error, CLEAVE_ERROR_OPTION, "expected a latency of 0 to %g seconds, not %g",
                      CLEAVE_MAX_LATENCY, network->latency);
}

/**
 * cleave_placement_estimate:
 * @placement: a placement
 * @network: the number of threads of each rank, bandwidth and latency; `n_ranks` is ignored
 * @rank: one of the ranks
 * @estimate: (out caller-allocates): the memory and time of the rank
 * @error: return location for a [struct@GLib.Error]
 *
 * Estimates the memory and time that a run takes on one rank. The bytes are the memory of the
 * rank's program. The times are from the simulation of [method@Cleave.Placement.simulate].
 *
 * Fails with %CLEAVE_ERROR_OPTION if the number of threads, the bandwidth or the latency is out of
 * range.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.2
 */
gboolean
cleave_placement_estimate (const CleavePlacement *placement,
                           const CleaveNetwork *network,
                           guint rank,
                           CleaveRankEstimate *estimate,
                           GError **error)
{
  g_return_val_if_fail (placement != NULL && network != NULL && estimate != NULL, FALSE);
  g_return_val_if_fail (rank < placement->n_ranks, FALSE);
  const CleaveTransport none = { 0 };
  g_autoptr (CleaveGraph) graph = NULL;
  g_auto (CleaveRankTimes) times = { 0 };
  CleaveEstimate program;

  *estimate = (CleaveRankEstimate){ 0 };
  if (!check_network (network, error))
    return FALSE;
  graph = cleave_ranks_build (placement, rank, &none);
  if (!cleave_graph_estimate (graph, network->n_threads, &program, error))
    return FALSE;
  cleave_rank_times_init (&times, placement, network);
  estimate->busy = times.busy[rank] / 1e9;
  estimate->sending = times.sending[rank] / 1e9;
  estimate->arena_bytes = program.arena_bytes;
  estimate->weight_bytes = count_weight_bytes (graph);
  for (guint i = 0; i < placement->order->len; i++)
    {
      const CleaveNode *node = placement->order->pdata[i];

      estimate->n_nodes += placement->rank[node->id] == rank && !cleave_node_is_input (node);
    }
  count_messages (placement, rank, estimate);
  return TRUE;
}
