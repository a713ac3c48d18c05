/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prepares a graph for a run on several threads, as `cleave run` does. */

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"

#include <cleave/cleave-pass.h>
#include <cleave/cleave-split.h>

/* Records whether the split for threads changed the graph. Returns TRUE: the pipeline goes on. */
static gboolean
note_split (CleavePipelineEvent event,
            const char *pass,
            const CleaveGraph *graph,
            gpointer is_split)
{
  if (event == CLEAVE_PIPELINE_CHANGED && g_str_has_prefix (pass, "split-for-threads"))
    *(gboolean *) is_split = TRUE;
  return TRUE;
}

static gboolean
run_pipeline (CleaveGraph *graph, guint n_threads, gboolean *is_split, GError **error)
{
  g_autofree char *text =
      g_strdup_printf ("join-elementwise,split-for-threads{threads=%u},clean-up", n_threads);
  g_autoptr (CleavePipeline) pipeline = cleave_pipeline_parse (text, error);

  return pipeline != NULL &&
         cleave_pipeline_run (pipeline, graph, note_split, is_split, NULL, error);
}

/**
 * cleave_split_to_run:
 * @graph: the graph
 * @n_threads: (inout): number of threads that run the graph, at most 1024; 0 for one per core.  On
 * success, the number of threads that have work: 1 if nothing was split
 * @error: return location for a [struct@GLib.Error]
 *
 * Splits a graph as `cleave run --threads N` does before it makes a program, by the pipeline
 * `join-elementwise,split-for-threads,clean-up`.  [ctor@Cleave.Program.new] does not split.
 *
 * With one thread, the graph stays unchanged. A graph that was fitted into a budget may need more
 * memory after this split.
 *
 * Fails with %CLEAVE_ERROR_OPTION if @n_threads is more than 1024, and with %CLEAVE_ERROR_CYCLE.
 * After an error, the number of threads is unchanged.
 *
 * Returns: whether it worked
 *
 * Since: 0.2
 */
gboolean
cleave_split_to_run (CleaveGraph *graph, guint *n_threads, GError **error)
{
  gboolean is_split = FALSE;
  guint n;

  g_return_val_if_fail (graph != NULL && n_threads != NULL, FALSE);
  n = *n_threads > 0 ? *n_threads : MIN (g_get_num_processors (), CLEAVE_MAX_THREADS);
  if (n > CLEAVE_MAX_THREADS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "number of threads must be 0 to %d, not %u",
                        CLEAVE_MAX_THREADS, n);
  if (n > 1 && !run_pipeline (graph, n, &is_split, error))
    return FALSE;
  *n_threads = is_split ? n : 1;
  return TRUE;
}
