/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests plans of a node: the bytes, MACs and ranges of their chunks, and the reason for a refusal.
 */

#include "../../../passes/split/plan.h"
#include "graphs.h"
#include "test.h"

static CleaveNode *
conv_node (CleaveGraph *graph)
{
  CleaveConvAttrs attrs = { .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 2, 8, 8));
  CleaveResult *w = cleave_test_weights (graph, "w", CLEAVE_SHAPE (4, 2, 3, 3));
  CleaveResult *b = cleave_test_weights (graph, "b", CLEAVE_SHAPE (4));
  CleaveResult *y = cleave_graph_add_conv (graph, "conv", x, w, b, &attrs, NULL);

  cleave_graph_add_output (graph, "y", y, NULL);
  return cleave_result_get_node (y);
}

START_TEST (bytes_count_operands_and_used_results)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = conv_node (graph);
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 0, 4, 0, 4, 0, 8),
                                 CLEAVE_RANGE (0, 1, 0, 4, 4, 8, 0, 8) };
  g_autoptr (CleavePlan) plan = cleave_plan_new (node, ranges, 2, NULL);

  ck_assert_ptr_eq (cleave_plan_get_node (plan), node);
  ck_assert_uint_eq (cleave_plan_get_n_chunks (plan), 2);
  ck_assert (cleave_range_equal (cleave_plan_get_range (plan, 1), &ranges[1]));
  /* chunk 0 reads 2 x 5 x 8 elements of x and all of w and b, and computes 4 x 4 x 8 elements of y
   */
  ck_assert_int_eq (cleave_plan_get_n_bytes (plan, 0), 4 * (80 + 72 + 4 + 128));
  ck_assert_int_eq (cleave_plan_get_macs (plan, 0), 128 * 18);
}
END_TEST

START_TEST (macs_of_the_chunks_add_up)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = conv_node (graph);
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 0, 1, 0, 8, 0, 8),
                                 CLEAVE_RANGE (0, 1, 1, 4, 0, 8, 0, 8) };
  g_autoptr (CleavePlan) plan = cleave_plan_new (node, ranges, 2, NULL);

  ck_assert_int_eq (cleave_plan_get_macs (plan, 0) + cleave_plan_get_macs (plan, 1),
                    cleave_node_get_macs (node));
}
END_TEST

START_TEST (a_refusal_names_the_chunk)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2, 4));
  CleaveResult *y = cleave_graph_add_softmax (graph, "softmax", x, 1, NULL);
  const CleaveRange ranges[] = { CLEAVE_RANGE (0, 1, 0, 4), CLEAVE_RANGE (1, 2, 0, 2) };
  g_autoptr (GString) why = g_string_new (NULL);

  ck_assert_ptr_null (cleave_plan_new (cleave_result_get_node (y), ranges, 2, why));
  ck_assert_msg (g_str_has_prefix (why->str, "chunk 1:2,0:2: "), "%s", why->str);
  ck_assert_ptr_null (cleave_plan_new (cleave_result_get_node (y), ranges, 2, NULL));
}
END_TEST

START_TEST (unused_results_are_left_out)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (2, 2) };
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 1, 4, 4));
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), NULL, &x, 1, 2, &attrs, NULL);
  const CleaveRange half = CLEAVE_RANGE (0, 1, 0, 1, 0, 2, 0, 3);
  g_autoptr (CleavePlan) plan = NULL, both = NULL;

  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  plan = cleave_plan_new (node, &half, 1, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert_uint_eq (cleave_plan_get_chunk (plan, 0)->n_results, 1);
  cleave_graph_add_output (graph, "i", cleave_node_get_result (node, 1), NULL);
  both = cleave_plan_new (node, &half, 1, NULL);
  ck_assert_ptr_nonnull (both);
  ck_assert_uint_eq (cleave_plan_get_chunk (both, 0)->n_results, 2);
}
END_TEST

/* A Split must have as many results as sizes, so its results without readers are kept. */
START_TEST (results_that_the_op_requires_are_kept)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (4, 4));
  const gint64 sizes[] = { 2, 2 };
  CleaveNode *node = cleave_graph_add_split (graph, NULL, x, 0, sizes, 2, NULL);
  const CleaveRange half = CLEAVE_RANGE (0, 2, 0, 2);
  g_autoptr (CleavePlan) plan = NULL;

  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  plan = cleave_plan_new (node, &half, 1, NULL);
  ck_assert_ptr_nonnull (plan);
  ck_assert_uint_eq (cleave_plan_get_chunk (plan, 0)->n_results, 2);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "plan", bytes_count_operands_and_used_results, macs_of_the_chunks_add_up,
                   a_refusal_names_the_chunk, unused_results_are_left_out,
                   results_that_the_op_requires_are_kept, NULL);
}

CLEAVE_TEST_SUITE ("split-plan", add_tests)
