/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the passes `split-for-threads` and `prepare`, and reads the option `threads` from its
 * text. */

#include "../info.h"

#include <cleave/cleave-split.h>
#include <cleave/cleave-text.h>

#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/max-threads.h"

static const CleavePassOption option_table[] = {
  { "threads", "T", "split for this many threads (default: one per core)", FALSE },
  { 0 },
};

static gboolean
parse_threads (GHashTable *texts, gint64 *n_threads, GError **error)
{
  const char *text = texts == NULL ? NULL : g_hash_table_lookup (texts, "threads");

  *n_threads = MIN (g_get_num_processors (), CLEAVE_MAX_THREADS);
  return text == NULL ||
         cleave_text_to_int ("threads", text, 1, CLEAVE_MAX_THREADS, n_threads, error);
}

static gboolean
check (GHashTable *texts, GError **error)
{
  gint64 n_threads;

  return parse_threads (texts, &n_threads, error);
}

/**
 * cleave_pass_split_for_threads:
 * @graph: a graph
 * @options: (nullable): texts by name: `threads`
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Runs [func@Cleave.split_for_threads] as a pass of a pipeline. A pipeline must not repeat this
 * pass, since a second run would split the pieces again.
 *
 * Returns: whether it worked
 *
 * Since: 0.1
 */
gboolean
cleave_pass_split_for_threads (CleaveGraph *graph,
                               gconstpointer options,
                               gboolean *changed,
                               GError **error)
{
  g_autoptr (CleaveSplitReport) report = NULL;
  gint64 n_threads;
  guint n_nodes;

  g_return_val_if_fail (graph != NULL, FALSE);
  n_nodes = graph->n_nodes;
  if (changed != NULL)
    *changed = FALSE;
  if (!parse_threads ((GHashTable *) options, &n_threads, error))
    return FALSE;
  report = cleave_split_for_threads (graph, (guint) n_threads, error);
  if (report == NULL)
    return FALSE;
  if (changed != NULL)
    *changed = cleave_split_report_get_n_split (report) > 0 || graph->n_nodes != n_nodes;
  return TRUE;
}

const CleavePassInfo cleave_pass_info_split_for_threads = {
  .name = "split-for-threads",
  .summary = "Splits nodes if that saves time or memory: threads get work, and large values are "
             "never whole.",
  .options = option_table,
  .run = cleave_pass_split_for_threads,
  .check = check,
  .is_for_once = TRUE,
};

const CleavePassInfo cleave_pass_info_prepare = {
  .name = "prepare",
  .summary = "Prepares a model to run with one thread per core, as the command does before a run.",
  .pipeline = "join-elementwise,split-for-threads,clean-up",
  .is_for_once = TRUE,
};
