/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the ops Identity and Dropout, which return their operand unchanged. */

#include "op-case.h"

START_TEST (passes_data)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 1, 1);
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("Identity"), "i", &x, 1, 1, NULL, &error);

  cleave_assert_no_error (error);
  cleave_assert_values (cleave_node_get_result (node, 0), "1 2 3 4");
  cleave_assert_chunk (cleave_node_get_result (node, 0), "1:2,0:1", "1:2,0:1");
}
END_TEST

START_TEST (dropout_drops_nothing)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveDropoutAttrs training = { .ratio = 0.5, .training_mode = TRUE };
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 1, 1);
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("Dropout"), "d", &x, 1, 2, NULL, &error);

  cleave_assert_no_error (error);
  cleave_assert_values (cleave_node_get_result (node, 0), "1 2 3 4");
  cleave_assert_infers (cleave_node_get_result (node, 1), &error, "bool 2x2");
  cleave_assert_values (cleave_node_get_result (node, 1), "1 1 1 1");
  ck_assert_ptr_null (
      cleave_graph_add (graph, cleave_op_lookup ("Dropout"), "d", &x, 1, 1, &training, &error));
  cleave_assert_error (
      &error, CLEAVE_ERROR_ATTRIBUTE,
      "Dropout 'd': training_mode drops at random, which is not supported but for a ratio of 0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "identity", passes_data, dropout_drops_nothing, NULL);
}

CLEAVE_TEST_SUITE ("identity", add_tests)
