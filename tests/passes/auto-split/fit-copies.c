/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "../../../passes/auto-split/fit-copies.h"

#include <cleave/cleave-fit.h>

#include "graphs.h"
#include "run-help.h"

/* Which rows go where is read by each of three layers, and is much larger than all else. */
static CleaveGraph *
make_layers (void)
{
  CleaveGraph *graph = cleave_graph_new ("layers");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (200, 1));
  const CleaveReshapeAttrs wide = { .shape = CLEAVE_INTS (200, 64) };
  const CleaveReduceAttrs rows = { .axes = CLEAVE_INTS (0), .keepdims = TRUE };
  CleaveResult *all = run_add (graph, "Expand", &x, 1, &wide);
  CleaveResult *y = run_input (graph, &CLEAVE_SHAPE (1, 64));

  for (guint i = 0; i < 3; i++)
    {
      y = run_binary (graph, "Mul", all, y);
      y = run_add (graph, "ReduceMean", &y, 1, &rows);
    }
  run_output (graph, y);
  return graph;
}

/* A block with squeeze and excitation: the pooling needs all rows of what is scaled by it. */
static CleaveGraph *
make_squeeze (void)
{
  CleaveGraph *graph = cleave_graph_new ("squeeze");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 4, 32, 32)), *wide, *scale;
  const CleaveGlobalPoolAttrs pool = { .layout = CLEAVE_LAYOUT_NCHW };
  g_autoptr (GError) error = NULL;

  wide = run_unary (graph, "Relu", run_conv (graph, x, 64, 1, CLEAVE_LAYOUT_NCHW));
  wide = run_unary (graph, "Relu", run_depthwise (graph, wide));
  scale = cleave_graph_add_global_pool (graph, "GlobalAveragePool", NULL, wide, &pool, &error);
  cleave_assert_no_error (error);
  scale = run_unary (graph, "Sigmoid", run_conv (graph, scale, 64, 1, CLEAVE_LAYOUT_NCHW));
  wide = run_conv (graph, run_binary (graph, "Mul", wide, scale), 4, 1, CLEAVE_LAYOUT_NCHW);
  run_output (graph, wide);
  return graph;
}

static void
assert_print (const CleaveGraph *graph, const char *print)
{
  g_autofree char *now = cleave_graph_print (graph);

  ck_assert_str_eq (now, print);
}

static CleaveFitPlan *
find_plan (const CleaveGraph *graph, gint64 max_memory, double max_macs)
{
  const CleaveFitOptions options = { .max_memory = max_memory, .max_added_macs = max_macs };
  g_autoptr (GError) error = NULL;
  CleaveFitPlan *plan = cleave_fit_plan_new (graph, &options, &error);

  if (plan == NULL)
    ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_LIMIT));
  return plan;
}

/* What the plan says is so, with the same bits; and the graph is found again for as many bytes, but
 * not for one less. */
static double
check (const CleaveGraph *graph, double max_macs)
{
  g_autoptr (CleaveFitPlan) plan = find_plan (graph, 0, max_macs), same = NULL;
  const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plan);
  g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
  g_autoptr (GPtrArray) inputs = run_random_inputs (graph, 1), whole = NULL, split = NULL;
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plan, copy, &error);

  cleave_assert_no_error (error);
  ck_assert (cleave_graph_validate (copy, &error));
  whole = run_graph (graph, inputs, 1);
  split = run_graph (copy, inputs, 2);
  ck_assert_int_lt (cleave_compare_outputs (whole, split), 0);
  ck_assert_int_eq (run_get_stats (graph, 1).arena_bytes, totals->arena_before);
  ck_assert_int_eq (run_get_stats (copy, 1).arena_bytes, totals->arena_after);
  ck_assert_int_eq (cleave_graph_get_macs (graph), totals->macs_before);
  ck_assert_int_eq (cleave_graph_get_macs (copy), totals->macs_after);
  ck_assert_int_le (totals->macs_after,
                    (gint64) ((1 + MAX (max_macs, 0)) * (double) totals->macs_before));
  same = find_plan (graph, totals->arena_after, max_macs);
  ck_assert_ptr_nonnull (same);
  ck_assert_int_eq (cleave_fit_plan_get_totals (same)->arena_after, totals->arena_after);
  ck_assert_ptr_null (find_plan (graph, totals->arena_after - 1, max_macs));
  return (double) totals->arena_after / (double) totals->arena_before;
}

START_TEST (what_is_made_of_little_is_made_for_each_reader)
{
  g_autoptr (CleaveGraph) graph = make_layers ();

  ck_assert_double_lt (check (graph, -1), 0.2);
}
END_TEST

START_TEST (what_a_pooling_needs_whole_is_made_for_it)
{
  g_autoptr (CleaveGraph) graph = make_squeeze ();
  double none = check (graph, -1), some = check (graph, 1);

  ck_assert_double_gt (none, 0.5);
  ck_assert_double_lt (some, 0.6 * none);
}
END_TEST

/* A frontier has both kinds of plans, each of which does what it says. */
START_TEST (frontiers_have_plans_with_copies)
{
  g_autoptr (CleaveGraph) graph = make_squeeze ();
  const CleaveFitOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (GPtrArray) plans = cleave_fit_plan_new_frontier (graph, &options, &error);
  gboolean with = FALSE, without = FALSE;

  cleave_assert_no_error (error);
  for (guint i = 0; i < plans->len; i++)
    {
      const CleaveFitTotals *totals = cleave_fit_plan_get_totals (plans->pdata[i]);
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plans->pdata[i], copy, &error);

      cleave_assert_no_error (error);
      ck_assert_int_eq (run_get_stats (copy, 1).arena_bytes, totals->arena_after);
      with |= totals->macs_after > totals->macs_before;
      without |= totals->macs_after == totals->macs_before;
    }
  ck_assert (with && without);
}
END_TEST

/* Copies of a graph are made, and taken back; of another, none. */
START_TEST (copies_can_be_taken_back)
{
  g_autoptr (CleaveGraph) graph = make_squeeze (), made = cleave_graph_copy (graph);
  g_autoptr (CleaveGraph) other = make_layers ();
  g_autoptr (GPtrArray) copies = cleave_fit_copies_make (made, 1024, 1e9), order = NULL;
  g_autofree char *before = cleave_graph_print (graph), *of_other = cleave_graph_print (other);
  g_autofree char *of_made = cleave_graph_print (made);
  g_autoptr (GError) error = NULL;

  ck_assert_uint_eq (copies->len, 4);
  order = cleave_fit_copies_apply (copies, graph, &error);
  cleave_assert_no_error (error);
  assert_print (graph, of_made);
  cleave_fit_copies_undo (copies, graph, order);
  assert_print (graph, before);
  ck_assert_ptr_null (cleave_fit_copies_apply (copies, other, &error));
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  assert_print (other, of_other);
  g_clear_error (&error);
  ck_assert_ptr_null (cleave_fit_copies_apply (copies, made, &error)); /* it has them */
  ck_assert (g_error_matches (error, CLEAVE_ERROR, CLEAVE_ERROR_OPTION));
  assert_print (made, of_made);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "copies", what_is_made_of_little_is_made_for_each_reader,
                   what_a_pooling_needs_whole_is_made_for_it, frontiers_have_plans_with_copies,
                   copies_can_be_taken_back, NULL);
}

CLEAVE_TEST_SUITE ("fit-copies", add_tests)
