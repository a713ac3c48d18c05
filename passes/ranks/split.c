/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Splits a graph for ranks. Tries splits of copies of the graph for 1, 2, 4 … ranks, and then
 * variants of the fastest split that need less memory. A trial is one of these splits with its
 * placement. */

#include <cleave/cleave-pass.h>
#include <cleave/cleave-placement.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"
#include "../threads/for-threads.h"
#include "simulate.h"

/* A split for more ranks must take at most this fraction of the estimated time with fewer ranks,
 * since pieces take some time that the cost model leaves out. */
#define MAX_TIME 0.95

/* Variants that reduce the memory of the rank that needs the most memory. Each variant sets one
 * field of CleaveThreads:
 *
 * - `weights_to_cut` is one of `ratios`: the weights of a node are cut if the weights are this many
 *   times as large as the node's other operands.
 * - `strictness` is one of `strictnesses`: the limit on the memory of strips is divided by this
 *   number, so that there are more strips.
 *
 * Estimated memory of the larger of two ranks, as a fraction of the memory of one process: VGG-16's
 * convolutions take 0.51 with the ratios 2, 0.5 and 0.2, 0.55 with ratio 2 alone, and 0.92 without
 * ratios. A text detector at 640 x 640 takes 0.65 with the strictnesses 1.3 and 2, and 0.75 without
 * strictnesses. */
static const double ratios[] = { 2, 0.5, 0.2 };
static const double strictnesses[] = { 1.3, 2 };

/* The split uses the variant with the smallest product of time and memory. The time of this variant
 * must be at most this many times the shortest time. */
#define MAX_TIME_FOR_MEMORY 1.15

/* A candidate: the parameters of a split for ranks, and the placement of the split graph. */
typedef struct
{
  CleaveThreads threads;
  CleavePlacement *placement;
  double time;   /* estimated time of a run in seconds */
  gint64 memory; /* bytes of the rank that needs the most; 0: not known */
} Trial;

/* The shared state of all trials of one graph. */
typedef struct
{
  const CleaveGraph *graph;
  const CleaveNetwork *network;
  CleaveStripsCache *strips;
  GHashTable *texts; /* set of texts: the printed split graphs that were tried, with their numbers
                        of threads */
} Trials;

static void
trial_clear (Trial *trial)
{
  g_clear_pointer (&trial->placement, cleave_placement_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Trial, trial_clear)

static CleaveNetwork
find_network (const CleaveThreads *threads, const CleaveNetwork *network)
{
  CleaveNetwork some = *network;

  some.n_ranks = threads->n / network->n_threads;
  return some;
}

/* Splits a copy of the graph and places it. Leaves `trial->placement` NULL if an earlier trial with
 * the same number of threads gave the same graph. Returns FALSE and sets the error on failure. */
static gboolean
try_threads (const Trials *trials, const CleaveThreads *threads, Trial *trial, GError **error)
{
  CleaveNetwork some = find_network (threads, trials->network);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (trials->graph);
  g_autofree char *text = NULL;

  *trial = (Trial){ .threads = *threads };
  if (!cleave_split_to_try (copy, threads, error) || !cleave_clean_up (copy, NULL, error))
    return FALSE;
  text = cleave_graph_print (copy);
  if (!g_hash_table_add (trials->texts, g_strdup_printf ("%u %s", threads->n, text)))
    return TRUE;
  trial->placement = cleave_ranks_place (copy, &some, error);
  if (trial->placement == NULL)
    return FALSE;
  trial->time = cleave_placement_simulate (trial->placement, &some);
  return TRUE;
}

static void
find_memory (Trial *trial, const CleaveNetwork *network)
{
  const CleaveNetwork some = find_network (&trial->threads, network);

  trial->memory = cleave_ranks_predict_memory (trial->placement, &some, &trial->time);
}

static double
find_price (const Trial *trial)
{
  return trial->time * (double) trial->memory;
}

static void
replace (Trial *best, Trial *trial)
{
  Trial old = *best;

  *best = *trial;
  *trial = old;
}

/* Sets `best` to the trial with the number of ranks that gives the shortest run. Tries 1, 2, 4
 * and so on, and all ranks. A trial with more ranks must take less than MAX_TIME times the time
 * of the best trial with fewer ranks. Returns FALSE and sets the error on failure. */
static gboolean
choose_n_ranks (const Trials *trials, Trial *best, GError **error)
{
  for (guint n = 1;; n = MIN (2 * n, trials->network->n_ranks))
    {
      const CleaveThreads threads = { .n = n * trials->network->n_threads,
                                      .have_own_memory = TRUE,
                                      .strips = trials->strips };
      g_auto (Trial) trial = { 0 };

      if (!try_threads (trials, &threads, &trial, error))
        return FALSE;
      if (n == 1 || trial.time < MAX_TIME * best->time)
        replace (best, &trial);
      if (n == trials->network->n_ranks)
        return TRUE;
    }
}

/* Splits and places a copy of the graph with the parameters `threads`. If this trial has a smaller
 * product of time and memory than `*best`, and its time is at most `most` seconds, replaces `*best`
 * by the trial. Returns FALSE and sets the error on failure. */
static gboolean
replace_if_better (
    const Trials *trials, const CleaveThreads *threads, double most, Trial *best, GError **error)
{
  g_auto (Trial) trial = { 0 };

  if (!try_threads (trials, threads, &trial, error))
    return FALSE;
  if (trial.placement == NULL || trial.time > most ||
      cleave_placement_is_alike (trial.placement, best->placement))
    return TRUE;
  find_memory (&trial, trials->network);
  if (trial.time <= most && find_price (&trial) < find_price (best))
    replace (best, &trial);
  return TRUE;
}

static gboolean
choose_memory (const Trials *trials, Trial *best, GError **error)
{
  double most;

  find_memory (best, trials->network);
  most = MAX_TIME_FOR_MEMORY * best->time;
  for (guint i = 0; i < G_N_ELEMENTS (ratios); i++)
    {
      CleaveThreads threads = best->threads;

      threads.weights_to_cut = ratios[i];
      if (!replace_if_better (trials, &threads, most, best, error))
        return FALSE;
    }
  for (guint i = 0; i < G_N_ELEMENTS (strictnesses); i++)
    {
      CleaveThreads threads = best->threads;

      threads.strictness = strictnesses[i];
      if (!replace_if_better (trials, &threads, most, best, error))
        return FALSE;
    }
  return TRUE;
}

/**
 * cleave_split_for_ranks:
 * @graph: the graph
 * @network: the number of ranks and threads, bandwidth and latency
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a graph like [func@Cleave.split_for_threads], with these differences:
 *
 * - Values that are too large for the caches become strips only if each thread has a band of
 * strips. Threads of different ranks cannot work on the same band.
 * - There are more strips if more strips save memory on the rank with the most memory and take
 *   hardly more time. On the same condition, nodes with large weights are cut along the channels or
 *   columns that the weights compute.
 * - The split is for the number of ranks with the least time: 1, 2, 4 and so on, or all ranks. With
 *   more ranks, a rank may wait for values longer than the rank computes.
 *
 * The results stay the same, bit for bit. Run [func@Cleave.clean_up] afterwards, and then
 * [ctor@Cleave.Placement.new], which finds the ranks of the nodes.
 *
 * Fails with %CLEAVE_ERROR_OPTION if a number of the network is out of range, and with
 * %CLEAVE_ERROR_CYCLE if the graph has a cycle. The graph is then unchanged.
 *
 * Returns: (transfer full) (nullable): the report; it lists no split node if no split saves time
 *
 * Since: 0.2
 */
CleaveSplitReport *
cleave_split_for_ranks (CleaveGraph *graph, const CleaveNetwork *network, GError **error)
{
  g_autoptr (GHashTable) strips = cleave_strips_cache_new ();
  g_autoptr (GHashTable) texts = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  const Trials trials = { graph, network, strips, texts };
  g_auto (Trial) best = { 0 };

  g_return_val_if_fail (graph != NULL && network != NULL, NULL);
  if (network->n_ranks == 0 || network->n_threads == 0 ||
      network->n_ranks > CLEAVE_MAX_THREADS / network->n_threads)
    {
      cleave_fail (error, CLEAVE_ERROR_OPTION,
                   "ranks times threads must be 1 to %d, not %u times %u", CLEAVE_MAX_THREADS,
                   network->n_ranks, network->n_threads);
      return NULL;
    }
  if (!choose_n_ranks (&trials, &best, error) ||
      (best.threads.n > network->n_threads && !choose_memory (&trials, &best, error)))
    return NULL;
  return cleave_split_for (graph, &best.threads, error);
}
