/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op MaxUnpool, which puts elements at the positions that a MaxPool found. */

#include "op-case.h"

static CleaveResult *
add (CleaveGraph *graph, CleaveResult *x, CleaveResult *i, gconstpointer attrs, GError **error)
{
  CleaveResult *operands[] = { x, i };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("MaxUnpool"), "u", operands, 2, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

static CleaveResult *
add_indices (CleaveGraph *graph, CleaveShape shape, const gint64 *numbers)
{
  CleaveTensorType type = { CLEAVE_INT64, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, numbers, NULL);

  return cleave_graph_add_constant (graph, "i", tensor);
}

/* Each of the two channels was pooled from 2x4, so the indices of the second channel begin at 8. */
START_TEST (elements_are_put_at_their_indices)
{
  static const gint64 numbers[] = { 5, 2, 8, 15 };
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveShape shape = CLEAVE_SHAPE (1, 2, 1, 2);
  CleaveResult *x = cleave_case_steps (graph, shape, 1, 1);
  CleaveResult *i = add_indices (graph, shape, numbers);
  CleaveMaxUnpoolAttrs a = { .kernel_shape = CLEAVE_INTS (2, 2), .strides = CLEAVE_INTS (2, 2) };

  cleave_assert_values (add (graph, x, i, &a, &error), "0 0 2 0 0 1 0 0 3 0 0 0 0 0 0 4");
  cleave_assert_chunk (add (graph, x, i, &a, &error), "0:1,1:2,0:2,0:4",
                       "0:1,1:2,0:1,0:2 0:1,1:2,0:1,0:2 kernel_shape=2,2 strides=2,2");
  cleave_assert_chunk (
      add (graph, x, i, &a, &error), "0:1,0:2,0:1,0:4",
      "refused: dimension H cannot be cut there: a piece of 1 of output would have 2");
  a.output_shape =
      CLEAVE_INTS (1, 2, 2, 5); /* the result has one column more than the operand of the MaxPool */
  cleave_assert_values (add (graph, x, i, &a, &error), "0 0 2 0 0 0 1 0 0 0 3 0 0 0 0 0 0 0 4 0");
  a.output_shape = CLEAVE_INTS (1, 2, 1, 5);
  cleave_assert_infers (add (graph, x, i, &a, &error), &error,
                        "MaxUnpool 'u': dimension 2 of output_shape is 1, but must be at least 2");
  a.output_shape = CLEAVE_INTS (1, 3, 2, 4);
  cleave_assert_infers (add (graph, x, i, &a, &error), &error,
                        "MaxUnpool 'u': dimension 1 of output_shape is 3, but must be 2");
  a = (CleaveMaxUnpoolAttrs){ .kernel_shape = CLEAVE_INTS (2) };
  cleave_assert_infers (add (graph, x, i, &a, &error), &error,
                        "MaxUnpool 'u': kernel_shape has 1 entries, not 2");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "max-unpool", elements_are_put_at_their_indices, NULL);
}

CLEAVE_TEST_SUITE ("max-unpool", add_tests)
