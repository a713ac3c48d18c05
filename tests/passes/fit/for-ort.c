/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `fit` for ONNX Runtime: a fitted graph becomes an ONNX file. The strips in the file are
 * iterations of Loops, if the Loops save memory in ONNX Runtime. */

#include <cleave/cleave.h>

#include "graphs.h"
#include "run-help.h"

/* Makes a chain of convolutions over an image of 128 x 128: values of 1 MiB each. */
static CleaveGraph *
make_chain (void)
{
  CleaveGraph *graph = cleave_graph_new ("chain");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 128, 128));

  for (guint i = 0; i < 4; i++)
    x = run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 1, 3, CLEAVE_LAYOUT_NCHW));
  return graph;
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory, GError **error)
{
  const CleaveFitOptions options = { .max_memory = max_memory };

  return cleave_fit_plan_new_for_ort (graph, &options, error);
}

/* Returns the number of the graph's nodes that become iterations of a Loop in a file. */
static guint
count_iterations (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_auto (GStrv) names = cleave_onnx_list_iterations (graph, &error);

  cleave_assert_no_error (error);
  return g_strv_length (names);
}

START_TEST (a_fitted_graph_is_written_with_loops)
{
  g_autoptr (CleaveGraph) graph = make_chain ();
  g_autoptr (CleaveGraph) whole = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), before = NULL, after = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, &error);
  const CleaveFitLoops *loops;

  cleave_assert_no_error (error);
  loops = cleave_fit_plan_get_loops (plan);
  ck_assert_uint_gt (loops->n_loops, 0);
  ck_assert_int_gt (loops->bytes_before, loops->bytes_after + (1 << 20));
  cleave_split_report_unref (cleave_fit_plan_apply (plan, graph, &error));
  cleave_assert_no_error (error);
  ck_assert_uint_gt (count_iterations (graph), 0);
  ck_assert_int_eq (cleave_onnx_estimate_bytes (graph, NULL), loops->bytes_after);
  before = run_graph (whole, inputs, 1);
  after = run_graph (graph, inputs, 1);
  ck_assert_int_lt (cleave_compare_outputs (before, after), 0);
}
END_TEST

START_TEST (a_plan_for_cleave_has_no_loops)
{
  g_autoptr (CleaveGraph) graph = make_chain ();
  const CleaveFitOptions options = { .even_strips = TRUE };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);

  cleave_assert_no_error (error);
  ck_assert_ptr_null (cleave_fit_plan_get_loops (plan));
  cleave_split_report_unref (cleave_fit_plan_apply (plan, graph, &error));
  cleave_assert_no_error (error);
  ck_assert_uint_eq (count_iterations (graph), 0);
}
END_TEST

/* A plan meets the smallest budget that the error message names, and the plan's arena has exactly
 * this size. No plan meets a budget of one byte less. */
START_TEST (a_budget_below_the_smallest_fails)
{
  g_autoptr (CleaveGraph) graph = make_chain ();
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL, least = NULL;
  gint64 smallest;

  ck_assert_ptr_null (find_plan (graph, 1, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  smallest =
      g_ascii_strtoll (strstr (error->message, "meets is ") + strlen ("meets is "), NULL, 10);
  g_clear_error (&error);
  least = find_plan (graph, smallest, &error);
  cleave_assert_no_error (error);
  ck_assert_int_eq (cleave_fit_plan_get_totals (least)->arena_after, smallest);
  ck_assert_ptr_null (find_plan (graph, smallest - 1, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
}
END_TEST

/* Segments of small values stay whole: a Loop in the file would take more memory than it saves. */
START_TEST (a_small_graph_stays_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("small");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 32, 32));
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;

  x = run_conv (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), 1, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  plan = find_plan (graph, 0, &error);
  cleave_assert_no_error (error);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (plan), 0);
  ck_assert_uint_eq (cleave_fit_plan_get_loops (plan)->n_loops, 0);
}
END_TEST

static void
cancel (double part, gpointer data)
{
  (void) part;
  g_cancellable_cancel (data);
}

START_TEST (a_search_is_cancelled)
{
  g_autoptr (CleaveGraph) graph = make_chain ();
  g_autoptr (GCancellable) cancellable = g_cancellable_new ();
  const CleaveFitOptions options = { 0 };
  g_autoptr (GError) error = NULL;

  ck_assert_ptr_null (cleave_fit_plan_new_for_ort_watched (graph, &options, cancellable, cancel,
                                                           cancellable, &error));
  ck_assert (g_error_matches (error, G_IO_ERROR, G_IO_ERROR_CANCELLED));
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "ort", a_fitted_graph_is_written_with_loops,
                   a_plan_for_cleave_has_no_loops, a_budget_below_the_smallest_fails,
                   a_small_graph_stays_whole, a_search_is_cancelled, NULL);
}

CLEAVE_TEST_SUITE ("fit-ort", add_tests)
