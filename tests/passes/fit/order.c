/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests that programs run a fitted graph in the order of its plan, and that a file keeps this
 * order. */

#include "../../../lib/ir/graph-private.h"

#include <cleave/cleave-fit.h>
#include <cleave/cleave-onnx.h>

#include "run-help.h"

static CleaveGraph *
make_image (void)
{
  CleaveGraph *graph = cleave_graph_new ("image");
  CleaveResult *x = run_input (graph, &CLEAVE_SHAPE (1, 2, 32, 32));

  x = run_conv (graph, run_conv (graph, x, 16, 3, CLEAVE_LAYOUT_NCHW), 24, 3, CLEAVE_LAYOUT_NCHW);
  run_output (graph, run_conv (graph, x, 2, 3, CLEAVE_LAYOUT_NCHW));
  return graph;
}

static void
fit (CleaveGraph *graph)
{
  const CleaveFitOptions options = { 0 };
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveFitPlan) plan = cleave_fit_plan_new (graph, &options, &error);
  g_autoptr (CleaveSplitReport) report = NULL;

  cleave_assert_no_error (error);
  ck_assert_uint_gt (cleave_fit_plan_get_n_segments (plan), 0);
  report = cleave_fit_plan_apply (plan, graph, &error);
  cleave_assert_no_error (error);
}

static CleaveGraph *
read_again (const CleaveGraph *graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (GBytes) bytes = cleave_onnx_serialize (graph, &error);
  CleaveGraph *again = bytes == NULL ? NULL : cleave_onnx_parse (bytes, NULL, NULL, &error);

  cleave_assert_no_error (error);
  return again;
}

/* A copy of a fitted graph and a file of it keep the order. */
START_TEST (fitted_graphs_keep_their_order)
{
  g_autoptr (CleaveGraph) graph = make_image (), copy = NULL, again = NULL;

  ck_assert (!graph->keeps_order);
  fit (graph);
  copy = cleave_graph_copy (graph);
  again = read_again (graph);
  ck_assert (graph->keeps_order && copy->keeps_order && again->keeps_order);
}
END_TEST

/* A node that is added after the fit has no place in the order of the plan. So Cleave treats a
 * fitted graph with an added node, and the file of this graph, as an unfitted graph. */
START_TEST (added_nodes_reset_the_order)
{
  g_autoptr (CleaveGraph) graph = make_image (), fitted = NULL, again = NULL;
  CleaveResult *y;

  fit (graph);
  fitted = read_again (graph);
  y = cleave_operand_get_result (cleave_graph_get_output (fitted, 0));
  run_output (fitted, run_conv (fitted, y, 2, 1, CLEAVE_LAYOUT_NCHW));
  ck_assert (!fitted->keeps_order);
  again = read_again (fitted);
  ck_assert (!again->keeps_order);
}
END_TEST

/* A graph as text. The search of `fit` lists the nodes in another order than the text. The order of
 * the search needs 64 bytes less than the order of the text. */
#define JOINED                                                                                     \
  "graph joined\n%a = Input : float32 1x2x32\n%b = Input : float32 1x2x32\n"                       \
  "%c = Input : float32 4x2x32\n%d = Input : bool 1\n%e = Input : bool 1\n%f = Add %a, %a\n"       \
  "%g = Concat %b, %b, %b, %f axis=0\n%h = MaxPool %g kernel_shape=1\n%i = Add %h, %h\n"           \
  "%j = Add %i, %c\n%k = Relu %j\n%l = And %d, %e\noutput %k\noutput %l\n"

/* A plan without segments and rewrites leaves the graph unchanged, so the arena of the plan is the
 * arena of the graph. */
START_TEST (plans_that_change_nothing_promise_the_arena_of_the_graph)
{
  g_autoptr (GError) error = NULL;
  g_autoptr (CleaveGraph) graph = cleave_graph_parse (JOINED, NULL, &error);
  const CleaveFitOptions options = { .max_added_macs = CLEAVE_NOTHING_ADDED };
  g_autoptr (GPtrArray) plans = NULL;

  cleave_assert_no_error (error);
  plans = cleave_fit_plan_new_frontier (graph, &options, &error);
  cleave_assert_no_error (error);
  for (guint i = 0; i < plans->len; i++)
    {
      g_autoptr (CleaveGraph) copy = cleave_graph_copy (graph);
      g_autoptr (CleaveSplitReport) report = cleave_fit_plan_apply (plans->pdata[i], copy, &error);

      cleave_assert_no_error (error);
      ck_assert_int_eq (run_get_stats (copy, 1).arena_bytes,
                        cleave_fit_plan_get_totals (plans->pdata[i])->arena_after);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "order", fitted_graphs_keep_their_order, added_nodes_reset_the_order,
                   plans_that_change_nothing_promise_the_arena_of_the_graph, NULL);
}

CLEAVE_TEST_SUITE ("fit-order", add_tests)
