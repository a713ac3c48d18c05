/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops QLinearMatMul and MatMulInteger: products of bytes with zero points. */

#include "op-case.h"

static CleaveResult *
add_bytes (CleaveGraph *graph, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autofree char *name = g_strdup_printf ("x%u", cleave_graph_get_n_inputs (graph));

  return cleave_graph_add_input (graph, name, &type, NULL);
}

static CleaveResult *
add_values (CleaveGraph *graph, CleaveElement element, CleaveShape shape, gconstpointer values)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, values, NULL);

  return cleave_graph_add_constant (graph, "c", tensor);
}

static CleaveResult *
first_result (CleaveNode *node)
{
  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

/* Adds a MatMulInteger. Its operands are an int8 matrix of shape `a`, a uint8 matrix of shape `b`,
 * and zero points of the shapes `a_zero` and `b_zero`. */
static CleaveResult *
add_integer (CleaveGraph *graph,
             CleaveShape a,
             CleaveShape b,
             CleaveShape a_zero,
             CleaveShape b_zero,
             GError **error)
{
  CleaveResult *operands[] = { add_bytes (graph, CLEAVE_INT8, a),
                               add_bytes (graph, CLEAVE_UINT8, b),
                               add_bytes (graph, CLEAVE_INT8, a_zero),
                               add_bytes (graph, CLEAVE_UINT8, b_zero) };

  return first_result (cleave_graph_add (graph, cleave_op_lookup ("MatMulInteger"), "m", operands,
                                         4, 1, NULL, error));
}

START_TEST (zero_points_apply_to_rows_of_a_and_columns_of_b)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveShape scalar = { 0 };

  cleave_assert_infers (add_integer (graph, CLEAVE_SHAPE (2, 3, 4), CLEAVE_SHAPE (4, 5),
                                     CLEAVE_SHAPE (3), CLEAVE_SHAPE (5), &error),
                        &error, "int32 2x3x5");
  cleave_assert_infers (add_integer (graph, CLEAVE_SHAPE (2, 3, 4), CLEAVE_SHAPE (2, 4, 5),
                                     CLEAVE_SHAPE (2, 3, 1), CLEAVE_SHAPE (2, 1, 5), &error),
                        &error, "int32 2x3x5");
  cleave_assert_infers (
      add_integer (graph, CLEAVE_SHAPE (4), CLEAVE_SHAPE (4), scalar, scalar, &error), &error,
      "int32 scalar");
  cleave_assert_infers (add_integer (graph, CLEAVE_SHAPE (3, 4), CLEAVE_SHAPE (4, 5),
                                     CLEAVE_SHAPE (4), scalar, &error),
                        &error,
                        "MatMulInteger 'm': a_zero_point has 4 elements, but must have 1 or 3");
  cleave_assert_infers (add_integer (graph, CLEAVE_SHAPE (3, 4), CLEAVE_SHAPE (4, 5),
                                     CLEAVE_SHAPE (1, 3), scalar, &error),
                        &error,
                        "MatMulInteger 'm': a_zero_point is 1x3, which cannot be broadcast to 3x1");
  cleave_assert_infers (
      add_integer (graph, CLEAVE_SHAPE (3, 4), CLEAVE_SHAPE (3, 5), scalar, scalar, &error), &error,
      "MatMulInteger 'm': A has 4 columns, B has 3 rows");
}
END_TEST

START_TEST (a_chunk_reads_its_own_zero_points)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = add_integer (graph, CLEAVE_SHAPE (2, 3, 4), CLEAVE_SHAPE (4, 5),
                                 CLEAVE_SHAPE (2, 3, 1), CLEAVE_SHAPE (5), NULL);

  cleave_assert_chunk (y, "1:2,0:2,3:5", "1:2,0:2,0:4 0:4,3:5 1:2,0:2,0:1 3:5");
  y = add_integer (graph, CLEAVE_SHAPE (2, 3, 4), CLEAVE_SHAPE (4), CLEAVE_SHAPE (3),
                   CLEAVE_SHAPE (1), NULL);
  cleave_assert_chunk (y, "0:2,1:3", "0:2,1:3,0:4 0:4 1:3 0:1");
}
END_TEST

/* Adds two matrices. After subtraction of the zero points 1 and -2, a has the rows 1 2 and -1 0.
 * After subtraction of the zero points 3 and 0, b has the rows -2 1 and -1 -2. */
static void
add_matrices (CleaveGraph *graph, CleaveResult **operands, guint a_zero, guint b, guint b_zero)
{
  operands[0] = add_values (graph, CLEAVE_INT8, CLEAVE_SHAPE (2, 2), "\2\3\375\376");
  operands[b] = add_values (graph, CLEAVE_INT8, CLEAVE_SHAPE (2, 2), "\1\1\2\376");
  operands[a_zero] = add_values (graph, CLEAVE_INT8, CLEAVE_SHAPE (2), "\1\376");
  operands[b_zero] = add_values (graph, CLEAVE_INT8, CLEAVE_SHAPE (2), "\3\0");
}

START_TEST (zero_points_are_subtracted_before_summing)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *operands[4];

  add_matrices (graph, operands, 2, 1, 3);
  cleave_assert_values (first_result (cleave_graph_add (graph, cleave_op_lookup ("MatMulInteger"),
                                                        "m", operands, 4, 1, NULL, NULL)),
                        "-4 -3 2 -1");
}
END_TEST

/* Row 0 of the sums is multiplied by 0.5 and row 1 by 1, column 0 by 1 and column 1 by 100. The
 * products are -2, -150, 2 and -100. Then the zero point 100 is added. */
START_TEST (results_are_scaled_rounded_and_saturated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *operands[8];

  add_matrices (graph, operands, 2, 3, 5);
  operands[1] = cleave_case_steps (graph, CLEAVE_SHAPE (2), 0.5f, 0.5f);
  operands[4] = cleave_case_steps (graph, CLEAVE_SHAPE (2), 1, 99);
  operands[6] = cleave_case_steps (graph, CLEAVE_SHAPE (1), 1, 0);
  operands[7] = add_values (graph, CLEAVE_UINT8, CLEAVE_SHAPE (1), "\144");
  cleave_assert_values (first_result (cleave_graph_add (graph, cleave_op_lookup ("QLinearMatMul"),
                                                        "m", operands, 8, 1, NULL, NULL)),
                        "98 0 102 0");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "quantized-matmul", zero_points_apply_to_rows_of_a_and_columns_of_b,
                   a_chunk_reads_its_own_zero_points, zero_points_are_subtracted_before_summing,
                   results_are_scaled_rounded_and_saturated, NULL);
}

CLEAVE_TEST_SUITE ("quantized-matmul", add_tests)
