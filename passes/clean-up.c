/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the pass `clean-up` as a pipeline of other passes, which repeats until the graph no
 * longer changes. Runs this pipeline for cleave_clean_up(). */

#include "info.h"

const CleavePassInfo cleave_pass_info_clean_up = {
  .name = "clean-up",
  .summary = "Makes a graph smaller without undoing a split; repeats until nothing changes.",
  .pipeline =
      "repeat(remove-dead,fold-constants,forward-slices,fold-views,merge-equal,remove-dead)",
};

static gpointer
parse (gpointer data)
{
  return cleave_pipeline_parse (cleave_pass_info_clean_up.pipeline, NULL);
}

/**
 * cleave_clean_up:
 * @graph: a graph
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes a graph smaller without changing a bit of its outputs: folds constants, composes views,
 * lets Slices read parts of joins directly, merges equal nodes and removes nodes without users.
 * This function never undoes a split: nodes that compute different ranges are not merged.
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_clean_up (CleaveGraph *graph, gboolean *changed, GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);

  static GOnce once = G_ONCE_INIT;
  const CleavePipeline *pipeline = g_once (&once, parse, NULL);

  return cleave_pipeline_run (pipeline, graph, NULL, NULL, changed, error);
}
