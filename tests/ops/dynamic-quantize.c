/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op DynamicQuantizeLinear, which computes a scale and a zero point from its operand. */

#include "op-case.h"

static CleaveNode *
add (CleaveGraph *graph, CleaveResult *x, guint n_results, GError **error)
{
  return cleave_graph_add (graph, cleave_op_lookup ("DynamicQuantizeLinear"), "q", &x, 1, n_results,
                           NULL, error);
}

START_TEST (two_of_the_three_results_are_scalars)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3));
  CleaveNode *node = add (graph, x, 3, NULL);

  cleave_assert_infers (cleave_node_get_result (node, 0), NULL, "uint8 2x3");
  cleave_assert_infers (cleave_node_get_result (node, 1), NULL, "float32 scalar");
  cleave_assert_infers (cleave_node_get_result (node, 2), NULL, "uint8 scalar");
  ck_assert_ptr_null (add (graph, x, 1, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_OPTION,
                       "DynamicQuantizeLinear 'q': has 3 results, not 1");
}
END_TEST

/* No chunk is legal, since the scale depends on all elements of x. */
START_TEST (it_cannot_be_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = add (graph, cleave_case_input (graph, "x", CLEAVE_SHAPE (4)), 3, NULL);

  cleave_assert_chunk (cleave_node_get_result (node, 0), "0:2",
                       "refused: DynamicQuantizeLinear cannot be split");
}
END_TEST

/* Values from -1 to 4 have the scale 5 / 255 and the zero point 51. */
START_TEST (the_range_and_0_fill_a_byte)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = add (graph, cleave_case_steps (graph, CLEAVE_SHAPE (6), -1, 1), 3, NULL);

  cleave_assert_values (cleave_node_get_result (node, 0), "0 51 102 153 204 255");
  cleave_assert_values (cleave_node_get_result (node, 1), "0.0196078");
  cleave_assert_values (cleave_node_get_result (node, 2), "51");
  node = add (graph, cleave_case_steps (graph, CLEAVE_SHAPE (2), 255, 255), 3, NULL);
  cleave_assert_values (cleave_node_get_result (node, 0), "128 255");
  cleave_assert_values (cleave_node_get_result (node, 2), "0");
  node = add (graph, cleave_case_steps (graph, CLEAVE_SHAPE (2), -510, 255), 3, NULL);
  cleave_assert_values (cleave_node_get_result (node, 0), "0 127");
  cleave_assert_values (cleave_node_get_result (node, 2), "255");
}
END_TEST

START_TEST (a_value_of_zeros_has_scale_1)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveNode *node = add (graph, cleave_case_steps (graph, CLEAVE_SHAPE (2, 300), 0, 0), 3, NULL);

  cleave_assert_values (cleave_node_get_result (node, 1), "1");
  cleave_assert_values (cleave_node_get_result (node, 2), "0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "dynamic-quantize", two_of_the_three_results_are_scalars,
                   it_cannot_be_split, the_range_and_0_fill_a_byte, a_value_of_zeros_has_scale_1,
                   NULL);
}

CLEAVE_TEST_SUITE ("dynamic-quantize", add_tests)
