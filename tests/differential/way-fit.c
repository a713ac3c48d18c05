/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Fits a random graph to a fraction of its memory. The limits on MACs and time, the number of
 * threads, and the option to exclude inputs from the arena are random. Also checks that the split
 * graph has the MACs and at most the arena that the plan reports. */

#include "way.h"

#include <string.h>

#define pick(way, n) tape_draw ((way)->tape, (guint) (n))
#define chance(way, percent) tape_chance ((way)->tape, (percent))

/* Graphs with more nodes are not fitted. A search takes about 10 ms in a graph with MAX_NODES
 * nodes. */
#define MAX_NODES 24

static gboolean
fail (GString *failure, const char *what, double found, double promised)
{
  g_string_append_printf (failure, "fit: %s %.15g, promised %.15g", what, found, promised);
  return FALSE;
}

/* Picks a limit on added work: none, zero, or a fraction. */
static double
pick_limit (Way *way)
{
  guint what = pick (way, 8);

  return what < 4 ? 0 : what == 4 ? -1 : 0.02 * (1 << (what - 4));
}

static CleaveFitOptions
pick_options (Way *way)
{
  CleaveFitOptions options = { .n_threads = chance (way, 25) ? 2 + pick (way, 3) : 1 };
  gint64 n_bytes = cleave_graph_get_peak_bytes_with_threads (way->graph, options.n_threads, NULL);

  /* The budget is between two fifths of the memory of the unsplit graph and nearly all of it. In
   * one of five cases, there is no budget: the search finds the plan with the least memory. */
  if (!chance (way, 20))
    options.max_memory = MAX (n_bytes * (19 - (gint64) pick (way, 12)) / 20, 1);
  options.max_added_macs = pick_limit (way);
  options.max_added_latency = pick_limit (way);
  options.exclude_inputs = chance (way, 25);
  options.even_strips = chance (way, 15);
  g_string_append_printf (
      way->text, " %u threads, %" G_GINT64_FORMAT " bytes, macs %g, time %g%s%s", options.n_threads,
      options.max_memory, options.max_added_macs, options.max_added_latency,
      options.exclude_inputs ? ", no inputs" : "", options.even_strips ? ", even" : "");
  return options;
}

/* Returns whether `after` exceeds `before` by at most the fraction `limit`, apart from rounding
 * errors. `limit` 0: any excess is allowed; negative: none is allowed. */
static gboolean
is_within (double before, double after, double limit)
{
  return limit == 0 || after <= (1 + MAX (limit, 0)) * before * (1 + 1e-9);
}

static gboolean
check_plan (const CleaveFitPlan *plan, const CleaveFitOptions *options, GString *failure)
{
  const CleaveFitTotals *t = cleave_fit_plan_get_totals (plan);

  if (options->max_memory > 0 && t->arena_after > options->max_memory)
    return fail (failure, "bytes of the plan", (double) t->arena_after,
                 (double) options->max_memory);
  if (!is_within ((double) t->macs_before, (double) t->macs_after, options->max_added_macs))
    return fail (failure, "MACs of the plan", (double) t->macs_after,
                 options->max_added_macs * (double) t->macs_before);
  if (!is_within (t->latency_before, t->latency_after, options->max_added_latency))
    return fail (failure, "time of the plan", t->latency_after,
                 options->max_added_latency * t->latency_before);
  return TRUE;
}

/* Checks that the split graph has the MACs that the plan reports, and needs at most the reported
 * bytes. Skips the bytes of plans with excluded inputs, which no public function measures. */
static gboolean
check_split (const Way *way,
             const CleaveFitPlan *plan,
             const CleaveFitOptions *options,
             GString *failure)
{
  const CleaveFitTotals *t = cleave_fit_plan_get_totals (plan);
  gint64 macs = cleave_graph_get_macs (way->graph);
  CleaveEstimate estimate;

  if (macs != t->macs_after)
    return fail (failure, "MACs", (double) macs, (double) t->macs_after);
  if (options->exclude_inputs)
    return TRUE;
  return (cleave_graph_estimate (way->graph, options->n_threads, &estimate, NULL) &&
          estimate.arena_bytes <= t->arena_after) ||
         fail (failure, "bytes", (double) estimate.arena_bytes, (double) t->arena_after);
}

/* Returns a plan for random options. Returns NULL without an error if there is nothing to fit. */
static CleaveFitPlan *
find_plan (Way *way, CleaveFitOptions *options, GError **error)
{
  g_autoptr (GPtrArray) plans = NULL;

  if (!chance (way, 20))
    return cleave_fit_plan_new (way->graph, options, error);
  options->max_memory = 0;
  counts_way (way->counts, "fit-frontier", FALSE);
  g_string_append (way->text, ", of the frontier");
  plans = cleave_fit_plan_new_frontier (way->graph, options, error);
  return plans == NULL ? NULL : cleave_fit_plan_ref (plans->pdata[pick (way, plans->len)]);
}

/* Returns the plan, or a copy without some of its segments. For a copy, removes the limits from
 * `options`, since the copy need not meet them. */
static CleaveFitPlan *
leave_out (Way *way, CleaveFitPlan *plan, CleaveFitOptions *options, GError **error)
{
  guint n = cleave_fit_plan_get_n_segments (plan), n_out = 0;
  g_autofree guint *out = g_new (guint, n + 1);

  if (n == 0 || !chance (way, 15))
    return cleave_fit_plan_ref (plan);
  for (guint i = 0; i < n; i++)
    if (chance (way, 50))
      out[n_out++] = i;
  counts_way (way->counts, "fit-without", FALSE);
  g_string_append_printf (way->text, ", without %u segments", n_out);
  options->max_memory = 0;
  options->max_added_macs = options->max_added_latency = 0;
  return cleave_fit_plan_new_without (plan, way->graph, n_out, out, error);
}

static gboolean
apply (Way *way, CleaveFitPlan *found, CleaveFitOptions *options, GString *failure)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = leave_out (way, found, options, &error);
  g_autoptr (CleaveSplitReport) report =
      plan == NULL ? NULL : cleave_fit_plan_apply (plan, way->graph, &error);

  if (report == NULL)
    {
      g_string_append_printf (failure, "fit: a plan cannot be applied: %s", error->message);
      return FALSE;
    }
  counts_way (way->counts, "fit", cleave_fit_plan_get_n_segments (plan) == 0);
  g_string_append_printf (way->text, " → %u segments", cleave_fit_plan_get_n_segments (plan));
  return check_split (way, plan, options, failure);
}

/* Returns the smallest budget named in an error message. */
static gint64
read_smallest (const GError *error)
{
  const char *at = strstr (error->message, "smallest");

  at = at == NULL ? "" : at;
  return g_ascii_strtoll (at + strcspn (at, "0123456789"), NULL, 10);
}

/* Checks the error of a budget that no plan meets. The error names a smallest budget, `smallest`.
 * Finds the plan with the least memory, and splits the graph by this plan. Returns TRUE if this
 * plan needs `smallest` bytes, and if the split graph has the MACs and the bytes that this plan
 * reports. */
static gboolean
check_refused (Way *way, const CleaveFitOptions *options, gint64 smallest, GString *failure)
{
  CleaveFitOptions least = *options;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  gint64 n_bytes;

  least.max_memory = 0;
  g_string_append (way->text, ", the least");
  plan = cleave_fit_plan_new (way->graph, &least, &error);
  if (plan == NULL)
    {
      g_string_append_printf (failure, "fit: %s", error->message);
      return FALSE;
    }
  n_bytes = cleave_fit_plan_get_totals (plan)->arena_after;
  if (n_bytes != smallest || n_bytes <= options->max_memory)
    return fail (failure, "bytes of the least", (double) n_bytes, (double) smallest);
  return check_plan (plan, &least, failure) && apply (way, plan, &least, failure);
}

gboolean
way_fit (Way *way, GString *failure)
{
  CleaveFitOptions options;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;

  if (cleave_graph_count_operators (way->graph) > MAX_NODES)
    return TRUE;
  g_string_append (way->text, "; fit");
  options = pick_options (way);
  plan = find_plan (way, &options, &error);
  if (plan != NULL)
    return check_plan (plan, &options, failure) && apply (way, plan, &options, failure);
  g_string_append_printf (way->text, " refused (%s)", error->message);
  counts_way (way->counts, "fit", TRUE);
  if (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT))
    return !chance (way, 30) || check_refused (way, &options, read_smallest (error), failure);
  g_string_append_printf (failure, "fit: %s", error->message);
  return FALSE;
}
