/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops QuantizeLinear and DequantizeLinear. */

#include "op-case.h"

#include <math.h>

static CleaveResult *
add (CleaveGraph *graph,
     const char *op,
     CleaveResult *x,
     CleaveResult *scale,
     CleaveResult *zero,
     gint64 axis,
     GError **error)
{
  CleaveAxisAttrs attrs = { axis };
  CleaveResult *operands[] = { x, scale, zero };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), "q", operands, 3, 1, &attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (scales_are_one_or_one_per_index_of_the_axis)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType zeros = CLEAVE_TYPE (CLEAVE_INT8, 3);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4));
  CleaveResult *vector = cleave_case_input (graph, "vector", CLEAVE_SHAPE (4));
  CleaveResult *one = cleave_case_input (graph, "one", CLEAVE_SHAPE (1));
  CleaveResult *three = cleave_case_input (graph, "three", CLEAVE_SHAPE (3));
  CleaveResult *zero = cleave_graph_add_input (graph, "zero", &zeros, NULL);
  GError *error = NULL;

  cleave_assert_infers (add (graph, "QuantizeLinear", x, three, zero, -2, &error), &error,
                        "int8 2x3x4");
  cleave_assert_infers (add (graph, "QuantizeLinear", vector, one, NULL, 1, &error), &error,
                        "uint8 4");
  cleave_assert_infers (add (graph, "QuantizeLinear", x, three, NULL, 2, &error), &error,
                        "QuantizeLinear 'q': y_scale has 3 elements, but must have 1 or 4");
  cleave_assert_infers (add (graph, "QuantizeLinear", x, three, NULL, 3, &error), &error,
                        "QuantizeLinear 'q': axis must be between -3 and 2, not 3");
  cleave_assert_infers (add (graph, "DequantizeLinear", x, one, NULL, 0, &error), &error,
                        "DequantizeLinear 'q': x cannot be float32");
}
END_TEST

START_TEST (a_chunk_reads_the_scales_of_its_axis)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4));
  CleaveResult *one = cleave_case_input (graph, "one", CLEAVE_SHAPE (1));
  CleaveResult *three = cleave_case_input (graph, "three", CLEAVE_SHAPE (3));

  cleave_assert_chunk (add (graph, "QuantizeLinear", x, three, NULL, -2, NULL), "0:1,1:3,2:4",
                       "0:1,1:3,2:4 1:3");
  cleave_assert_chunk (add (graph, "QuantizeLinear", x, one, NULL, -2, NULL), "0:1,1:3,2:4",
                       "0:1,1:3,2:4 0:1 axis=-2");
}
END_TEST

START_TEST (values_are_rounded_to_even_and_saturated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 7), byte = CLEAVE_TYPE (CLEAVE_INT8, 1);
  const float values[] = { 1, 3, -1, 1000, -1000, INFINITY, NAN };
  g_autoptr (CleaveTensor) x = cleave_tensor_new_copy (&type, values, NULL);
  g_autoptr (CleaveTensor) ten = cleave_tensor_new_copy (&byte, "\12", NULL);
  CleaveResult *two = cleave_case_steps (graph, CLEAVE_SHAPE (1), 2, 0);
  CleaveResult *q = add (graph, "QuantizeLinear", cleave_graph_add_constant (graph, "x", x), two,
                         cleave_graph_add_constant (graph, "z", ten), 0, NULL);

  cleave_assert_values (q, "10 12 10 127 -128 127 10");
}
END_TEST

START_TEST (dequantizing_restores_the_values)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_UINT8, 2, 2), zeros = CLEAVE_TYPE (CLEAVE_UINT8, 2);
  g_autoptr (CleaveTensor) x = cleave_tensor_new_copy (&type, "\0\1\2\3", NULL);
  g_autoptr (CleaveTensor) zero = cleave_tensor_new_copy (&zeros, "\1\2", NULL);
  CleaveResult *scales = cleave_case_steps (graph, CLEAVE_SHAPE (2), 0.5f, 1.5f); /* 0.5 2 */

  cleave_assert_values (add (graph, "DequantizeLinear", cleave_graph_add_constant (graph, "x", x),
                             scales, cleave_graph_add_constant (graph, "z", zero), 1, NULL),
                        "-0.5 -2 0.5 2");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "quantize", scales_are_one_or_one_per_index_of_the_axis,
                   a_chunk_reads_the_scales_of_its_axis, values_are_rounded_to_even_and_saturated,
                   dequantizing_restores_the_values, NULL);
}

CLEAVE_TEST_SUITE ("quantize", add_tests)
