/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops Softmax, LogSoftmax and Hardmax. */

#include "apply.h"
#include "op-case.h"

static const double x[] = { 1, 2, 3, -1, 5, 0 };

START_TEST (rows_sum_up_to_one)
{
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (2, 3), x);
  g_autoptr (CleaveTensor) y = cleave_apply ("Softmax", &a, 1, NULL);
  double expected[6];

  for (int r = 0; r < 6; r += 3)
    {
      double sum = exp (x[r]) + exp (x[r + 1]) + exp (x[r + 2]);

      for (int i = r; i < r + 3; i++)
        expected[i] = exp (x[i]) / sum;
    }
  cleave_apply_check ("Softmax", y, expected, 2e-7);
}
END_TEST

START_TEST (any_axis_and_type_is_supported)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT64, CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  static const double tolerance[] = { 1e-15, 1e-3, 1e-2 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, 3), x);
      g_autoptr (CleaveTensor) y = cleave_apply ("LogSoftmax", &a, 1, &(CleaveAxisAttrs){ 0 });
      double expected[6];

      for (int i = 0; i < 6; i++)
        expected[i] = x[i] - log (exp (x[i % 3]) + exp (x[i % 3 + 3]));
      cleave_apply_check ("LogSoftmax", y, expected, tolerance[e]);
    }
}
END_TEST

START_TEST (large_and_infinite_elements_do_not_overflow)
{
  const double big[] = { 1000, 1001, -INFINITY, 1, NAN, 2 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (2, 3), big);
  g_autoptr (CleaveTensor) y = cleave_apply ("Softmax", &a, 1, NULL);

  cleave_apply_check ("Softmax", y, (double[]){ 1 / (1 + M_E), M_E / (1 + M_E), 0, NAN, NAN, NAN },
                      2e-7);
}
END_TEST

/* A row has more elements than the kernel processes at once. All elements have the same
 * probability. */
START_TEST (long_rows_are_right)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1001);
  g_autoptr (CleaveTensor) a = cleave_tensor_new (&type, NULL);
  g_autoptr (CleaveTensor) y = cleave_apply ("Softmax", &a, 1, NULL);
  double expected[1001];

  for (int i = 0; i < 1001; i++)
    expected[i] = (double) (float) (1.0 / 1001);
  cleave_apply_check ("Softmax", y, expected, 0);
}
END_TEST

START_TEST (hardmax_takes_the_first_of_the_largest)
{
  const double v[] = { 1, 3, 3, -1, -2, -1 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (2, 3), v);
  g_autoptr (CleaveTensor) y = cleave_apply ("Hardmax", &a, 1, NULL);

  cleave_apply_check ("Hardmax", y, (double[]){ 0, 1, 0, 1, 0, 0 }, 0);
}
END_TEST

/* The row is longer than a block of elements that the kernel processes at once. The maximum is not
 * in the first block, and occurs twice. */
START_TEST (hardmax_of_a_long_line)
{
  double v[1000] = { 0 }, expected[1000] = { 0 };
  g_autoptr (CleaveTensor) a = NULL, y = NULL;

  v[300] = v[310] = v[900] = 2;
  expected[300] = 1;
  a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (1, 1000), v);
  y = cleave_apply ("Hardmax", &a, 1, NULL);
  cleave_apply_check ("Hardmax", y, expected, 0);
}
END_TEST

/* The op record allows the result to overwrite the operand. */
START_TEST (the_result_may_overwrite_the_operand)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 3, 300);
  g_autoptr (CleaveTensor) a = cleave_random_tensor (&type, 1, FALSE);
  g_autoptr (CleaveTensor) y = cleave_apply ("Softmax", &a, 1, NULL);
  CleaveView view = cleave_view_tensor (a);
  CleaveAxisAttrs attrs = { 1 };
  CleaveCall call = { .op = cleave_op_lookup ("Softmax"),
                      .attrs = &attrs,
                      .n_operands = 1,
                      .n_results = 1,
                      .operands = &type,
                      .results = &type };

  call.op->compute (&call, &view, &view);
  ck_assert (cleave_tensor_equal (a, y));
}
END_TEST

START_TEST (the_axis_is_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *y = cleave_graph_add_softmax (
      graph, NULL, cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5, 6)), 1, NULL);

  cleave_assert_chunk (y, "1:3,0:5,2:4", "1:3,0:5,2:4 axis=1");
  cleave_assert_chunk (
      y, "0:4,0:2,0:6",
      "refused: dimension 1 cannot be cut there: a piece of 2 of output would have 5");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType scalar = CLEAVE_SCALAR (CLEAVE_FLOAT32), ints = CLEAVE_TYPE (CLEAVE_INT32, 3);

  cleave_apply_fails ("Softmax", &scalar, 1, 1, NULL, CLEAVE_ERROR_SHAPE,
                      "Softmax 'y': input must have rank 1 to 8, not 0");
  cleave_apply_fails ("Softmax", &ints, 1, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "Softmax 'y': input cannot be int32");
  cleave_apply_fails ("Hardmax", &ints, 1, 1, &(CleaveAxisAttrs){ 1 }, CLEAVE_ERROR_ATTRIBUTE,
                      "Hardmax 'y': axis must be between -1 and 0 for rank 1, not 1");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", rows_sum_up_to_one, any_axis_and_type_is_supported,
                   large_and_infinite_elements_do_not_overflow, long_rows_are_right,
                   hardmax_takes_the_first_of_the_largest, hardmax_of_a_long_line,
                   the_result_may_overwrite_the_operand, NULL);
  cleave_add_case (suite, "node", the_axis_is_not_split, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("softmax", add_tests)
