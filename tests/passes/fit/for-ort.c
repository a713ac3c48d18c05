/* SPDX-License-Identifier: GPL-2.0-or-later */

/* `fit` for ONNX Runtime: a fitted graph becomes an ONNX file. The strips in the file are
 * iterations of Loops, if the Loops save memory in ONNX Runtime. */

#include <cleave/cleave.h>

#include "fit-graphs.h"
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

/* The search finds no plan that saves memory in ONNX Runtime, and the result states the estimate of
 * the best split. */
START_TEST (a_refused_split_is_stated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new ("refused");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, 96, 96));
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = NULL;
  const CleaveFitLoops *loops;

  x = run_conv (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), 1, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, x);
  plan = find_plan (graph, 0, &error);
  cleave_assert_no_error (error);
  loops = cleave_fit_plan_get_loops (plan);
  ck_assert_uint_eq (cleave_fit_plan_get_n_segments (plan), 0);
  ck_assert_int_eq (loops->bytes_after, loops->bytes_before);
  ck_assert_int_gt (loops->bytes_refused, 0);
  ck_assert_int_lt (loops->bytes_refused, loops->bytes_before);
}
END_TEST

/* Makes a random chain of convolutions, activations, sums and poolings over an image. The largest
 * values have 1 to 4 MiB. */
static CleaveGraph *
make_random (guint32 seed)
{
  CleaveGraph *graph = cleave_graph_new ("random");
  g_autoptr (GRand) random = g_rand_new_with_seed (seed);
  const gint64 extent = 128 + 16 * g_rand_int_range (random, 0, 4);
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 3, extent, extent));

  x = run_conv (graph, x, 16 + 8 * g_rand_int_range (random, 0, 3), 3, CLEAVE_LAYOUT_NCHW);
  for (guint i = 0; i < 6; i++)
    {
      const gint64 n = cleave_result_get_type (x)->shape.dim[1];

      switch (g_rand_int_range (random, 0, 4))
        {
        case 0:
          x = run_unary (graph, "Relu", x);
          break;
        case 1:
          x = run_binary (graph, "Add", x, run_conv (graph, x, n, 3, CLEAVE_LAYOUT_NCHW));
          break;
        case 2:
          x = i > 2 ? run_halve (graph, x) : x;
          break;
        default:
          x = run_conv (graph, x, 8 + 8 * g_rand_int_range (random, 0, 3), 3, CLEAVE_LAYOUT_NCHW);
        }
    }
  run_output (graph, run_conv (graph, x, 1, 3, CLEAVE_LAYOUT_NCHW));
  return graph;
}

/* A plan meets the arena of each plan of the frontier, and takes no more time. A plan needs the
 * arena and the memory that the frontier states, also after the split. No plan meets less than the
 * last arena. */
START_TEST (budgets_of_the_frontier_are_met)
{
  g_autoptr (CleaveGraph) graph = make_random ((guint32) _i);
  const CleaveFitOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier_for_ort (graph, &options, &error);
  g_autoptr (CleaveFitPlan) least = find_plan (graph, 0, NULL);
  gint64 fewest = G_MAXINT64, smallest = 0;

  cleave_assert_no_error (error);
  ck_assert_uint_gt (plans->len, 1);
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]), *found;
      const CleaveFitLoops *loops = cleave_fit_plan_get_loops (plans->pdata[i]);
      g_autoptr (CleaveGraph) split = cleave_graph_copy (graph);
      g_autoptr (CleaveFitPlan) plan = find_plan (graph, totals->arena_after, &error);

      cleave_assert_no_error (error);
      found = cleave_fit_plan_get_totals (plan);
      ck_assert_int_le (found->arena_after, totals->arena_after);
      ck_assert_double_le (found->latency_after, totals->latency_after);
      cleave_split_report_unref (cleave_fit_plan_apply (plans->pdata[i], split, NULL));
      ck_assert_int_eq (fit_measure (split, 1, FALSE), totals->arena_after);
      ck_assert_int_eq (cleave_onnx_estimate_bytes (split, NULL), loops->bytes_after);
      fewest = MIN (fewest, loops->bytes_after);
      smallest = totals->arena_after;
    }
  ck_assert_int_eq (cleave_fit_plan_get_loops (least)->bytes_after, fewest);
  ck_assert_ptr_null (find_plan (graph, smallest - 1, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
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
  TCase *random = tcase_create ("random");

  cleave_add_case (suite, "ort", a_fitted_graph_is_written_with_loops,
                   a_plan_for_cleave_has_no_loops, a_budget_below_the_smallest_fails,
                   a_small_graph_stays_whole, a_refused_split_is_stated, a_search_is_cancelled,
                   NULL);
  tcase_set_timeout (random, 120);
  tcase_add_loop_test (random, budgets_of_the_frontier_are_met, 0, 6);
  suite_add_tcase (suite, random);
}

CLEAVE_TEST_SUITE ("fit-ort", add_tests)
