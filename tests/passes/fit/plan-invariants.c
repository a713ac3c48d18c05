/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests properties of single plans, on random networks of every class. A search always finds the
 * same plan. The split graph needs at most the arena that the plan reports, and has the number of
 * MACs and nodes that the plan reports. */

#define _GNU_SOURCE /* declares CPU_SET and sched_setaffinity () */

#include "fit-properties.h"

#include <sched.h>

#include "fit-graphs.h"
#include "graphs.h"
#include "run-help.h"

/* The functions below check that a search always finds the same plan. */

static char *
print_names (const char *const *names, guint n)
{
  GString *text = g_string_new (NULL);

  for (guint i = 0; i < n; i++)
    g_string_append_printf (text, " %s", names[i]);
  return g_string_free (text, FALSE);
}

/* Returns a text of all properties of a plan and of the graph that it splits. */
static char *
print_plan (const CleaveGraph *graph, const CleaveFitOptions *options, gint64 budget, char **why)
{
  g_autoptr (CleaveFitPlan) plan = fit_find_plan (graph, options, budget, why);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (GString) text = g_string_new (NULL);
  g_autofree char *totals = NULL, *split = NULL;

  if (plan == NULL)
    return NULL;
  cleave_split_report_unref (cleave_fit_plan_apply (plan, copy, NULL));
  totals = fit_describe (cleave_fit_plan_get_totals (plan));
  split = cleave_graph_print (copy);
  g_string_append_printf (text, "%s, %s\n", totals, cleave_fit_plan_get_peak (plan));
  for (guint i = 0; i < cleave_fit_plan_get_n_segments (plan); i++)
    {
      const CleaveFitSegment *segment = cleave_fit_plan_get_segment (plan, i);
      g_autofree char *nodes = print_names (segment->nodes, segment->n_nodes);
      g_autofree char *ends = print_names (segment->ends, segment->n_ends);

      g_string_append_printf (
          text, "%s to%s: %ux%u %d %d, %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT " MACs\n",
          nodes, ends, segment->n_strips, segment->n_columns, (int) segment->halo,
          (int) segment->column_halo, segment->n_bytes, segment->added_macs);
    }
  g_string_append (text, split);
  return g_string_free (g_steal_pointer (&text), FALSE);
}

/* A progress function that delays the thread that calls it, so that the other threads of the search
 * are ahead of this thread. */
static void
wait_a_little (double part, gpointer data)
{
  g_usleep (200);
}

/* Checks that the search finds the same plan in all cases: on one processor, with a progress
 * function that delays the search, and after other searches. Returns NULL or a message. */
static char *
plans_are_the_same (const CleaveGraph *graph, const CleaveFitOptions *options)
{
  CleaveFitOptions slow = *options;
  g_autofree char *plain = NULL, *alone = NULL, *lagging = NULL, *later = NULL;
  cpu_set_t all, one;
  CleaveFitTotals totals;
  char *why = NULL;
  gint64 budget;

  if (!fit_find_totals (graph, options, 0, &totals, &why))
    return why;
  budget = MAX ((totals.arena_before + totals.arena_after) / 2, 1);
  plain = print_plan (graph, options, budget, &why);
  ck_assert_int_eq (sched_getaffinity (0, sizeof all, &all), 0);
  CPU_ZERO (&one);
  for (guint cpu = 0; CPU_COUNT (&one) == 0; cpu++)
    if (CPU_ISSET (cpu, &all))
      CPU_SET (cpu, &one);
  sched_setaffinity (0, sizeof one, &one);
  alone = print_plan (graph, options, budget, &why);
  sched_setaffinity (0, sizeof all, &all);
  slow.watch = wait_a_little;
  lagging = print_plan (graph, &slow, budget, &why);
  later = print_plan (graph, options, budget, &why);
  if (why != NULL)
    return why;
  return g_strcmp0 (plain, alone) != 0     ? g_strdup ("one thread finds another plan")
         : g_strcmp0 (plain, lagging) != 0 ? g_strdup ("a slow caller finds another plan")
         : g_strcmp0 (plain, later) != 0   ? g_strdup ("a later call finds another plan")
                                           : NULL;
}

/* The functions below compare split graphs with the totals (arena, MACs and nodes) that their plans
 * report. */

/* Checks that the split graph has the MACs and the number of nodes that the plan reports. Also
 * checks that two graphs need at most the reported arena: the split graph, and the same graph read
 * from a file. `from_file` NULL: there is no file. Returns NULL or a message. */
static char *
check_totals (const CleaveFitTotals *totals,
              const CleaveFitOptions *options,
              const CleaveGraph *split,
              const CleaveGraph *from_file)
{
  const guint n_threads = MAX (options->n_threads, 1);
  gint64 bytes = fit_measure (split, n_threads, options->exclude_inputs);
  gint64 file_bytes =
      from_file == NULL ? 0 : fit_measure (from_file, n_threads, options->exclude_inputs);

  if (bytes <= totals->arena_after && file_bytes <= totals->arena_after &&
      cleave_graph_get_macs (split) == totals->macs_after &&
      cleave_graph_count_operators (split) == totals->nodes_after)
    return NULL;
  return g_strdup_printf (
      "the plan has %" G_GINT64_FORMAT " bytes, %" G_GINT64_FORMAT
      " MACs, %u nodes, the graph %" G_GINT64_FORMAT " bytes, from a file %" G_GINT64_FORMAT
      ", %" G_GINT64_FORMAT " MACs, %u nodes",
      totals->arena_after, totals->macs_after, totals->nodes_after, bytes, file_bytes,
      cleave_graph_get_macs (split), cleave_graph_count_operators (split));
}

/* Checks that the peaks of the report are at most the arenas of the plan. The plan must be for one
 * thread. Returns NULL or a message. */
static char *
check_peaks (const CleaveFitTotals *totals, const CleaveSplitReport *report)
{
  const CleaveSplitTotals *peaks = cleave_split_report_get_totals (report);

  if (peaks->peak_bytes_before <= totals->arena_before &&
      peaks->peak_bytes_after <= totals->arena_after)
    return NULL;
  return g_strdup_printf ("the report has peaks of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                          " bytes, the plan arenas of %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT,
                          peaks->peak_bytes_before, peaks->peak_bytes_after, totals->arena_before,
                          totals->arena_after);
}

/* Checks that the split graph has the totals that the plan reports (check_totals()), and computes
 * the same bits as the unsplit graph. Writes the split graph to a file, and checks the arena and
 * the bits of the graph that is read from the file, too. Returns NULL or a message. */
static char *
check_split (const CleaveGraph *graph,
             const CleaveFitOptions *options,
             const CleaveFitPlan *plan,
             gboolean has_file)
{
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (CleaveGraph) split = cleave_graph_copy (graph), again = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, split, &error);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), whole = NULL;
  char *why;

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (split, &error));
  again = fit_through_file (split);
  why = check_totals (totals, options, split, has_file ? again : NULL);
  if (why == NULL && options->n_threads <= 1)
    why = check_peaks (totals, report);
  if (why != NULL)
    return why;
  whole = run_graph (graph, inputs, 1);
  for (guint n = 1; n <= 2; n++)
    {
      g_autoptr (GPtrArray) outputs = run_graph (n == 1 ? split : again, inputs, n);

      if (cleave_compare_outputs (whole, outputs) >= 0)
        return g_strdup_printf ("other bits with %u threads", n);
    }
  return NULL;
}

/* Finds two plans for a graph: the plan with the smallest arena, and a plan for a budget between
 * this arena and the arena of the unsplit graph. Splits the graph with each plan, and compares the
 * split graph with the totals that the plan reports (check_split()). Returns NULL or a message.
 *
 * The graph is read from a file to which this function exports `built`. If `built` has nodes of
 * layout NHWC, the file has additional Transposes, which change the memory. In this case, the
 * function finds the plans for `built` instead. */
static char *
plans_keep_their_promises (const CleaveGraph *built, const CleaveFitOptions *options)
{
  g_autoptr (CleaveGraph) read = fit_through_file (built);
  gboolean has_file = cleave_graph_count_operators (read) == cleave_graph_count_operators (built);
  const CleaveGraph *graph = has_file ? read : built;
  g_autoptr (CleaveFitPlan) least = NULL, plan = NULL;
  const CleaveFitTotals *totals;
  char *why = NULL;

  least = fit_find_plan (graph, options, 0, &why);
  if (least == NULL)
    return why;
  totals = cleave_fit_plan_get_totals (least);
  if (totals->arena_before !=
      fit_measure (graph, MAX (options->n_threads, 1), options->exclude_inputs))
    return g_strdup ("the plan has another arena before the split than the graph");
  why = check_split (graph, options, least, has_file);
  if (why != NULL)
    return why;
  plan = fit_find_plan (graph, options, MAX ((totals->arena_before + totals->arena_after) / 2, 1),
                        &why);
  return plan == NULL ? why : check_split (graph, options, plan, has_file);
}

FIT_PROPERTY_TEST (plans_depend_on_the_graph_alone, plans_are_the_same)
FIT_PROPERTY_TEST (programs_take_what_plans_say, plans_keep_their_promises)

static void
add_tests (Suite *suite)
{
  fit_add_property (suite, "same", plans_depend_on_the_graph_alone);
  fit_add_property (suite, "promises", programs_take_what_plans_say);
}

CLEAVE_TEST_SUITE ("plan-invariants", add_tests)
