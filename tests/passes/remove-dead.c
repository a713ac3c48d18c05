/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graphs.h"
#include "test.h"

static CleaveResult *
relu (CleaveGraph *graph, CleaveResult *x)
{
  return cleave_graph_add_unary (graph, "Relu", NULL, x, NULL, NULL);
}

START_TEST (what_no_output_needs_goes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2));
  CleaveResult *y = cleave_test_weights (graph, "w", CLEAVE_SHAPE (2));
  gboolean changed = FALSE;

  cleave_test_input (graph, "unused", CLEAVE_SHAPE (3));
  relu (graph, relu (graph, y));
  cleave_graph_add_output (graph, "y", relu (graph, x), NULL);
  ck_assert (cleave_pass_remove_dead (graph, NULL, &changed, NULL));
  ck_assert (changed);
  cleave_assert_dump (graph, "%0 = Input : float32 2  # x\n"
                             "%1 = Input : float32 3  # unused\n"
                             "%2 = Relu %0 : float32 2  # relu_2\n"
                             "output %2  # y\n");
  changed = FALSE;
  ck_assert (cleave_pass_remove_dead (graph, NULL, &changed, NULL));
  ck_assert (!changed);
}
END_TEST

START_TEST (one_used_result_is_enough)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_test_input (graph, "x", CLEAVE_SHAPE (2));
  const gint64 sizes[] = { 1, 1 };
  CleaveNode *split = cleave_graph_add_split (graph, "split", x, 0, sizes, 2, NULL);

  cleave_graph_add_output (graph, "y", cleave_node_get_result (split, 1), NULL);
  ck_assert (cleave_pass_remove_dead (graph, NULL, NULL, NULL));
  ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), 2);
}
END_TEST

START_TEST (a_long_chain_costs_no_stack)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_test_input (graph, "x", CLEAVE_SHAPE (2));

  for (guint i = 0; i < 100000; i++)
    y = relu (graph, y);
  ck_assert (cleave_pass_remove_dead (graph, NULL, NULL, NULL));
  ck_assert_uint_eq (cleave_graph_get_n_nodes (graph), 1);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "remove-dead", what_no_output_needs_goes, one_used_result_is_enough,
                   a_long_chain_costs_no_stack, NULL);
}

CLEAVE_TEST_MAIN ("remove-dead", add_tests)
