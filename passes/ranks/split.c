/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-pass.h>
#include <cleave/cleave-placement.h>
#include <cleave/cleave-split.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"
#include "../auto-split/for-threads.h"
#include "simulate.h"

/* More ranks must save so much of the time of fewer: pieces take time that is not in the cost
 * model. */
#define MAX_TIME 0.95

/* Weights are cut where they are so many times as large as what else a node reads, if that makes a
 * run take no longer than MAX_TIME allows.  By the estimate, the larger of two ranks takes 0.51 in
 * place of 0.92 of one process for VGG-16's convolutions (0.55 with 2 alone), and for a detector at
 * 1280 x 1280 0.64 in place of 0.68 with 0.5 and more. */
static const double ratios[] = { 2, 0.5, 0.2 };

/* What became of one way to split; in nanoseconds and bytes. */
typedef struct
{
  double time;
  gint64 weights; /* of the rank that has most */
} Outcome;

static gboolean
try_threads (const CleaveGraph *graph,
             const CleaveNetwork *network,
             const CleaveThreads *threads,
             Outcome *outcome,
             GError **error)
{
  CleaveNetwork some = *network;
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report = cleave_split_for (copy, threads, error);
  g_autoptr (CleavePlacement) placement = NULL;

  some.n_ranks = threads->n / network->n_threads;
  if (report != NULL && cleave_clean_up (copy, NULL, error))
    placement = cleave_ranks_place (copy, &some, error);
  if (placement == NULL)
    return FALSE;
  outcome->time = cleave_placement_simulate (placement, &some);
  outcome->weights = cleave_ranks_count_weights (placement);
  return TRUE;
}

/* As many ranks as a run takes least time with. */
static gboolean
choose_n_ranks (const CleaveGraph *graph,
                const CleaveNetwork *network,
                CleaveThreads *best,
                Outcome *least,
                GError **error)
{
  for (guint n = 1;; n = MIN (2 * n, network->n_ranks))
    {
      const CleaveThreads threads = { .n = n * network->n_threads, .are_apart = TRUE };
      Outcome outcome;

      if (!try_threads (graph, network, &threads, &outcome, error))
        return FALSE;
      if (n == 1 || outcome.time < MAX_TIME * least->time)
        {
          *least = outcome;
          *best = threads;
        }
      if (n == network->n_ranks)
        return TRUE;
    }
}

static gboolean
choose_weights_to_cut (const CleaveGraph *graph,
                       const CleaveNetwork *network,
                       CleaveThreads *best,
                       const Outcome *uncut,
                       GError **error)
{
  gint64 fewest = uncut->weights;

  for (guint i = 0; i < G_N_ELEMENTS (ratios) && best->n > network->n_threads; i++)
    {
      CleaveThreads threads = *best;
      Outcome outcome;

      threads.weights_to_cut = ratios[i];
      if (!try_threads (graph, network, &threads, &outcome, error))
        return FALSE;
      if (MAX_TIME * outcome.time > uncut->time || outcome.weights >= fewest)
        continue;
      fewest = outcome.weights;
      *best = threads;
    }
  return TRUE;
}

/**
 * cleave_split_for_ranks:
 * @graph: the graph
 * @network: the ranks, and what lies between them
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a graph as [func@Cleave.split_for_threads] does, but that values which are too large for
 * the caches become bands of strips, one for each thread, or no strips, since threads of other
 * ranks cannot work at the same strips; and that weights which are larger than what a node reads
 * are cut, with the channels or columns that they make, if that takes less memory of the rank that
 * has most, and hardly more time.  It does so for as many threads as those of so many ranks that a
 * run takes least time: all of them, or a half, a quarter and so on, where more would wait for
 * values longer than they compute.  What is computed stays the same, bit for bit.  To be followed
 * by [func@Cleave.clean_up], and then by [ctor@Cleave.Placement.new], which finds the ranks of the
 * nodes.
 *
 * Fails with %CLEAVE_ERROR_OPTION if there can be no such network and with %CLEAVE_ERROR_CYCLE; the
 * graph is then unchanged.
 *
 * Returns: (transfer full) (nullable): what became of the nodes; none split if nothing is worth it
 */
CleaveSplitReport *
cleave_split_for_ranks (CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  CleaveThreads threads;
  Outcome outcome;

  g_return_val_if_fail (graph != NULL && network != NULL, NULL);
  if (network->n_ranks == 0 || network->n_threads == 0 ||
      network->n_ranks > CLEAVE_MAX_THREADS / network->n_threads)
    {
      cleave_fail (error, CLEAVE_ERROR_OPTION,
                   "ranks times threads must be 1 to %d, not %u times %u", CLEAVE_MAX_THREADS,
                   network->n_ranks, network->n_threads);
      return NULL;
    }
  if (!choose_n_ranks (graph, network, &threads, &outcome, error) ||
      !choose_weights_to_cut (graph, network, &threads, &outcome, error))
    return NULL;
  return cleave_split_for (graph, &threads, error);
}
