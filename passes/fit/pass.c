/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Defines the pass `fit` for pipelines: reads the options of the pass from texts, makes a plan,
 * and applies the plan to the graph. */

#include "../info.h"

#include "../../lib/ir/error.h"
#include "../../lib/ir/max-threads.h"
#include "order.h"

#include <cleave/cleave-text.h>

static const CleavePassOption option_table[] = {
  { "max-memory", "SIZE", "limit the bytes of all activations (default: as few as possible)",
    FALSE },
  { "max-added-macs", "PERCENT", "limit the MACs that recomputed rows add to the model", FALSE },
  { "max-added-latency", "PERCENT", "limit the estimated time that the split adds", FALSE },
  { "threads", "T", "set the threads that run the model (default: 1)", FALSE },
  { "exclude-inputs", NULL, "do not count the inputs, which lie in memory of their own", FALSE },
  /* Old names of two options, supported for one version. */
  { "max-latency-added", "PERCENT", "old name of max-added-latency", FALSE },
  { "inputs-apart", NULL, "old name of exclude-inputs", FALSE },
  { 0 },
};

static const char *
find_text (GHashTable *texts, const char *name)
{
  return texts == NULL ? NULL : g_hash_table_lookup (texts, name);
}

/* Reads a limit in percent and sets `fraction`. Leaves `fraction` unchanged if the limit is not
 * given. Returns FALSE and sets the error if the text of the limit is not legal. */
static gboolean
parse_max_added (GHashTable *texts, const char *name, double *fraction, GError **error)
{
  const char *text = find_text (texts, name);

  return text == NULL || cleave_text_to_max_added (name, text, fraction, error);
}

static gboolean
parse (GHashTable *texts, CleaveFitOptions *options, GError **error)
{
  const char *memory = find_text (texts, "max-memory"), *threads = find_text (texts, "threads");
  gint64 n_threads = 1;

  *options = (CleaveFitOptions){ 0 };
  if ((memory != NULL &&
       !cleave_text_to_size ("max-memory", memory, &options->max_memory, error)) ||
      (threads != NULL &&
       !cleave_text_to_int ("threads", threads, 1, CLEAVE_MAX_THREADS, &n_threads, error)))
    return FALSE;
  options->n_threads = (guint) n_threads;
  options->exclude_inputs = texts != NULL && (g_hash_table_contains (texts, "exclude-inputs") ||
                                              g_hash_table_contains (texts, "inputs-apart"));
  return parse_max_added (texts, "max-added-macs", &options->max_added_macs, error) &&
         parse_max_added (texts, "max-latency-added", &options->max_added_latency, error) &&
         parse_max_added (texts, "max-added-latency", &options->max_added_latency, error);
}

static gboolean
check (GHashTable *texts, GError **error)
{
  CleaveFitOptions options;

  return parse (texts, &options, error);
}

static gboolean
run (CleaveGraph *graph, gconstpointer data, gboolean *changed, GError **error)
{
  g_autoptr (CleaveFitPlan) plan = NULL;
  g_autoptr (CleaveSplitReport) report = NULL;
  const guint n_nodes = graph->n_nodes;
  CleaveFitOptions options;

  if (changed != NULL)
    *changed = FALSE;
  if (!parse ((GHashTable *) data, &options, error))
    return FALSE;
  plan = cleave_fit_plan_new (graph, &options, error);
  if (plan == NULL)
    return FALSE;
  report = cleave_fit_plan_apply (plan, graph, error);
  if (report == NULL)
    return FALSE;
  if (changed != NULL)
    *changed = cleave_fit_plan_changes (plan) || graph->n_nodes != n_nodes;
  return TRUE;
}

const CleavePassInfo cleave_pass_info_fit = {
  .name = "fit",
  .summary =
      "Splits a whole model so that its activations fit into some memory, at the least cost.",
  .options = option_table,
  .run = run,
  .check = check,
  .is_for_once = TRUE,
};
