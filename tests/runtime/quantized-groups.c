/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Quantized groups: the nodes between quantized values that run as one step. */

#include "quantized.h"

static gint64
peak_of (CleaveGraph *graph, CleaveResult *y)
{
  run_output (graph, quantize (graph, y));
  run_assert_same (graph, 2);
  return cleave_graph_get_peak_bytes (graph, NULL);
}

#define N (16 * ROWS * ROWS)

/* The step of a residual Add is element-wise, so it overwrites an operand. */
START_TEST (a_residual_overwrites_its_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS));
  CleaveResult *y = add_float_conv (graph, x, CLEAVE_SHAPE (16, 16, 3, 3), TRUE);
  CleaveResult *sum = run_binary (graph, "Add", dequantize (graph, y), dequantize (graph, x));

  ck_assert_int_eq (peak_of (graph, run_unary (graph, "Relu", sum)), 2 * N);
}
END_TEST

/* The value is dequantized with a scale for each channel. So no table of 256 bytes can replace the
 * dequantization, the Sigmoid and the quantization. */
START_TEST (a_value_may_be_dequantized_for_several_readers)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS)));
  CleaveResult *sigmoid = quantize (graph, run_unary (graph, "Sigmoid", x));
  CleaveResult *y = convert (graph, "QuantizeLinear", run_unary (graph, "Relu", x), 0, TRUE);

  y = convert (graph, "DequantizeLinear", y, 0, TRUE);
  ck_assert_int_eq (peak_of (graph, run_binary (graph, "Mul", dequantize (graph, sigmoid), y)),
                    2 * N);
}
END_TEST

/* A function from one byte to one byte is one step, which overwrites its operand. */
START_TEST (a_function_of_a_byte_is_one_step)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS)));
  CleaveResult *sigmoid = dequantize (graph, quantize (graph, run_unary (graph, "Sigmoid", x)));

  ck_assert_int_eq (peak_of (graph, run_binary (graph, "Mul", x, sigmoid)), N);
}
END_TEST

/* A mean reads a Slice of half of the channels, as in a split graph. The Slice moves bytes, not
 * floats. */
START_TEST (operands_of_means_are_moved_as_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (CleaveGraph) lowered = NULL;
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS)));
  CleaveRange half = cleave_range_whole (&CLEAVE_SHAPE (1, 16, ROWS, ROWS));
  guint n_slices = 0;

  half.dim[1].end = 8;
  x = run_slice (graph, x, half);
  run_output (graph, quantize (graph, run_add (graph, "GlobalAveragePool", &x, 1, NULL)));
  run_assert_same (graph, 2);
  lowered = cleave_group_quantized (graph);
  for (const CleaveNode *node = lowered->first; node != NULL; node = node->next)
    n_slices += strcmp (node->op->name, "Slice") == 0;
  ck_assert_uint_eq (n_slices, 1);
}
END_TEST

static guint
count_lowered (const CleaveGraph *graph, const char *op)
{
  g_autoptr (CleaveGraph) lowered = cleave_group_quantized (graph);
  guint n = 0;

  for (const CleaveNode *node = lowered->first; node != NULL; node = node->next)
    n += strcmp (node->op->name, op) == 0;
  return n;
}

/* A QuantizeLinear reads the Transpose of a dequantized value. The lowering moves the Transpose
 * before the DequantizeLinear, so that the Transpose moves bytes. A table from byte to byte
 * replaces both conversions. If a Concat comes before the Transpose, the Concat also joins bytes. A
 * Concat without a Transpose is part of one step with the conversions. */
START_TEST (requantized_values_are_moved_as_bytes)
{
  for (guint i = 0; i < 4; i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      guint joins = i % 2, turns = i / 2;
      CleaveResult *x =
          dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS)));
      CleaveResult *parts[] = { x, x };
      CleaveTransposeAttrs attrs = { .perm = CLEAVE_INTS (0, 2, 1, 3) };

      x = joins ? run_concat (graph, parts, 2, 1) : x;
      x = turns ? run_add (graph, "Transpose", &x, 1, &attrs) : x;
      run_output (graph, quantize (graph, x));
      run_assert_same (graph, i);
      ck_assert_uint_eq (count_lowered (graph, "Transpose"), turns);
      ck_assert_uint_eq (count_lowered (graph, "Concat"), joins && turns);
    }
}
END_TEST

/* A mean reads a Concat, so the operands of the Concat are joined as bytes. Another op also reads
 * the Concat. */
START_TEST (joined_operands_of_sums_are_moved_as_bytes)
{
  for (guint also = 0; also < 2; also++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *parts[] = {
        dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS))),
        dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS))),
      };
      CleaveResult *x = run_concat (graph, parts, 2, 1);

      run_output (graph, quantize (graph, run_add (graph, "GlobalAveragePool", &x, 1, NULL)));
      if (also)
        run_output (graph, quantize (graph, run_unary (graph, "Sigmoid", x)));
      run_assert_same (graph, also);
      ck_assert_uint_eq (count_lowered (graph, "Concat"), 1);
    }
}
END_TEST

START_TEST (groups_may_contain_moves)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS)));
  CleaveResult *parts[] = { x, x };
  CleaveResult *joined = quantize (graph, run_concat (graph, parts, 2, 1));
  CleavePoolAttrs attrs = { .kernel_shape = CLEAVE_INTS (3, 3), .pads = CLEAVE_INTS (1, 1, 1, 1) };
  CleaveResult *pooled =
      quantize (graph, cleave_graph_add_pool (graph, "MaxPool", NULL, dequantize (graph, joined),
                                              &attrs, NULL));
  CleaveResult *flat = cleave_graph_add_reshape (graph, NULL, dequantize (graph, pooled),
                                                 &CLEAVE_INTS (32, ROWS * ROWS), NULL);

  ck_assert_int_le (peak_of (graph, flat), 4 * N);
}
END_TEST

/* A value of a group that is an output, or that a node outside the group reads, is whole in memory.
 */
START_TEST (values_with_other_readers_stay_whole)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = dequantize (graph, quantized_input (graph, CLEAVE_SHAPE (1, 16, ROWS, ROWS)));
  CleaveResult *y = run_unary (graph, "Relu", x);

  run_output (graph, y);
  ck_assert_int_ge (peak_of (graph, run_unary (graph, "Sigmoid", y)), 4 * N + N);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "groups", a_residual_overwrites_its_operand,
                   a_value_may_be_dequantized_for_several_readers, a_function_of_a_byte_is_one_step,
                   operands_of_means_are_moved_as_bytes, requantized_values_are_moved_as_bytes,
                   joined_operands_of_sums_are_moved_as_bytes, groups_may_contain_moves,
                   values_with_other_readers_stay_whole, NULL);
}

CLEAVE_TEST_SUITE ("quantized-groups", add_tests)
