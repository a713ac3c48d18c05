/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-pass.h>
#include <cleave/cleave-placement.h>
#include <cleave/cleave-split.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"
#include "../auto-split/for-threads.h"

/* More ranks must save so much of the time of fewer: pieces take time that is not in the cost
 * model. */
#define MAX_TIME 0.95

/* How long a run takes if the graph is split for some of the ranks; -1 on error. */
static double
try_ranks (const CleaveGraph *graph, const CleaveNetwork *network, guint n_ranks, GError **error)
{
  const CleaveThreads threads = { .n = n_ranks * network->n_threads, .are_apart = TRUE };
  CleaveNetwork some = *network;
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (CleaveSplitReport) report = cleave_split_for (copy, &threads, error);
  g_autoptr (CleavePlacement) placement = NULL;

  some.n_ranks = n_ranks;
  if (report != NULL && cleave_clean_up (copy, NULL, error))
    placement = cleave_placement_new (copy, &some, error);
  return placement == NULL ? -1 : cleave_placement_simulate (placement, &some);
}

/* 0 on error. */
static guint
choose_n_ranks (const CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  double least = G_MAXDOUBLE;
  guint best = 1;

  for (guint n = 1;; n = MIN (2 * n, network->n_ranks))
    {
      double time = try_ranks (graph, network, n, error);

      if (time < 0)
        return 0;
      if (time < MAX_TIME * least)
        {
          least = time;
          best = n;
        }
      if (n == network->n_ranks)
        return best;
    }
}

/**
 * cleave_split_for_ranks:
 * @graph: the graph
 * @network: the ranks, and what lies between them
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a graph as [func@Cleave.split_for_threads] does, but that values which are too large for
 * the caches become bands of strips, one for each thread, or no strips, since threads of other
 * ranks cannot work at the same strips.  It does so for as many threads as those of so many ranks
 * that a run takes least time: all of them, or a half, a quarter and so on, where more would wait
 * for values longer than they compute.  What is computed stays the same, bit for bit.  To be
 * followed by [func@Cleave.clean_up], and then by [ctor@Cleave.Placement.new], which finds the
 * ranks of the nodes.
 *
 * Fails with %CLEAVE_ERROR_OPTION if there can be no such network and with %CLEAVE_ERROR_CYCLE; the
 * graph is then unchanged.
 *
 * Returns: (transfer full) (nullable): what became of the nodes; none split if nothing is worth it
 */
CleaveSplitReport *
cleave_split_for_ranks (CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  CleaveThreads threads = { .are_apart = TRUE };

  g_return_val_if_fail (graph != NULL && network != NULL, NULL);
  if (network->n_ranks == 0 || network->n_threads == 0 ||
      network->n_ranks > CLEAVE_MAX_THREADS / network->n_threads)
    {
      cleave_fail (error, CLEAVE_ERROR_OPTION,
                   "ranks times threads must be 1 to %d, not %u times %u", CLEAVE_MAX_THREADS,
                   network->n_ranks, network->n_threads);
      return NULL;
    }
  threads.n = choose_n_ranks (graph, network, error) * network->n_threads;
  return threads.n == 0 ? NULL : cleave_split_for (graph, &threads, error);
}
