/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops QLinearConv and ConvInteger: convolutions of bytes with zero points. */

#include "op-case.h"
#include "run-help.h"

#define INTS(...)                                                                                  \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }

static CleaveResult *
add_typed (CleaveGraph *graph, CleaveElement element, CleaveShape shape)
{
  CleaveTensorType type = { element, shape };
  g_autofree char *name = g_strdup_printf ("i%u", cleave_graph_get_n_inputs (graph));

  return cleave_graph_add_input (graph, name, &type, NULL);
}

/* Adds a QLinearConv with operands in the order of ONNX. `many` is the shape of the scales and zero
 * points of W. */
static CleaveResult *
add_linear (CleaveGraph *graph,
            CleaveShape x,
            CleaveShape w,
            CleaveShape many,
            const CleaveConvAttrs *attrs,
            GError **error)
{
  CleaveShape one = { 0 };
  CleaveResult *operands[] = { add_typed (graph, CLEAVE_UINT8, x),
                               add_typed (graph, CLEAVE_FLOAT32, one),
                               add_typed (graph, CLEAVE_UINT8, one),
                               add_typed (graph, CLEAVE_INT8, w),
                               add_typed (graph, CLEAVE_FLOAT32, many),
                               add_typed (graph, CLEAVE_INT8, many),
                               add_typed (graph, CLEAVE_FLOAT32, one),
                               add_typed (graph, CLEAVE_INT8, one),
                               add_typed (graph, CLEAVE_INT32, CLEAVE_SHAPE (w.dim[0])) };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "q", operands, 9, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (the_result_has_the_type_of_its_zero_point)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  GError *error = NULL;

  cleave_assert_infers (add_linear (graph, CLEAVE_SHAPE (1, 2, 5), CLEAVE_SHAPE (4, 2, 3),
                                    CLEAVE_SHAPE (4), NULL, &error),
                        &error, "int8 1x4x3");
  cleave_assert_infers (add_linear (graph, CLEAVE_SHAPE (1, 2, 5), CLEAVE_SHAPE (4, 2, 3),
                                    CLEAVE_SHAPE (3), NULL, &error),
                        &error,
                        "QLinearConv 'q': w_zero_point has 3 elements, but must have 1 or 4");
  cleave_assert_infers (add_linear (graph, CLEAVE_SHAPE (1, 3, 5), CLEAVE_SHAPE (4, 2, 3),
                                    CLEAVE_SHAPE (1), NULL, &error),
                        &error,
                        "QLinearConv 'q': W expects 2 channels in each of 1 groups, X has 3");
}
END_TEST

/* With stride 2, no window reads the last row or the last column of X. So the slices of the last
 * chunks end before this row and this column. */
START_TEST (a_grid_of_chunks_reads_windows_inside_the_operand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveConvAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC,
                            .strides = INTS (2, 2),
                            .pads = INTS (1, 1, 0, 0) };
  CleaveResult *y = add_linear (graph, CLEAVE_SHAPE (1, 16, 18, 1), CLEAVE_SHAPE (2, 1, 2, 2),
                                CLEAVE_SHAPE (2), &attrs, NULL);

  cleave_assert_infers (y, NULL, "int8 1x8x9x2");
  cleave_assert_chunk (y, "0:1,0:3,0:3,0:2",
                       "0:1,0:5,0:5,0:1   0:2,0:1,0:2,0:2 0:2 0:2   0:2 layout=NHWC strides=2,2 "
                       "pads=1,1,0,0");
  cleave_assert_chunk (
      y, "0:1,6:8,6:9,1:2",
      "0:1,11:15,11:17,0:1   1:2,0:1,0:2,0:2 1:2 1:2   1:2 layout=NHWC strides=2,2");
}
END_TEST

static CleaveResult *
add_bytes (CleaveGraph *graph, CleaveElement element, CleaveShape shape, const char *bytes)
{
  CleaveTensorType type = { element, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, bytes, NULL);

  return cleave_graph_add_constant (graph, "c", tensor);
}

/* x minus its zero point 1 is 1 2 -1, and w minus its zero point 1 is 2 -3. There is one pad at the
 * beginning. */
START_TEST (zero_points_are_subtracted_before_summing)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveConvAttrs padded = { .pads = INTS (1, 0) };
  CleaveResult *operands[] = { add_bytes (graph, CLEAVE_UINT8, CLEAVE_SHAPE (1, 1, 3), "\2\3\0"),
                               add_bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (1, 1, 2), "\3\376"),
                               add_bytes (graph, CLEAVE_UINT8, CLEAVE_SHAPE (1), "\1"),
                               add_bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (1), "\1") };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("ConvInteger"), "i", operands, 4, 1,
                                       &padded, NULL);

  cleave_assert_values (cleave_node_get_result (node, 0), "-3 -4 7");
}
END_TEST

/* The sums of zero_points_are_subtracted_before_summing plus a bias of 1 are -2 -3 8. Times 0.5
 * they are -1 -1.5 4, rounded to even -1 -2 4. Then the zero point 3 is added. */
START_TEST (results_are_scaled_rounded_and_saturated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveConvAttrs padded = { .pads = INTS (1, 0) };
  CleaveShape one = CLEAVE_SHAPE (1);
  CleaveResult *scale = cleave_case_steps (graph, one, 1, 0),
               *half = cleave_case_steps (graph, one, 0.5f, 0);
  CleaveResult *big = cleave_case_steps (graph, one, 100, 0);
  CleaveResult *operands[] = { add_bytes (graph, CLEAVE_UINT8, CLEAVE_SHAPE (1, 1, 3), "\2\3\0"),
                               scale,
                               add_bytes (graph, CLEAVE_UINT8, one, "\1"),
                               add_bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (1, 1, 2), "\3\376"),
                               half,
                               add_bytes (graph, CLEAVE_INT8, one, "\1"),
                               scale,
                               add_bytes (graph, CLEAVE_UINT8, one, "\3"),
                               add_bytes (graph, CLEAVE_INT32, one, "\1\0\0\0") };
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "q", operands, 9, 1,
                                       &padded, NULL);

  cleave_assert_values (cleave_node_get_result (node, 0), "2 1 7");
  operands[4] = big;
  node = cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "q", operands, 9, 1, &padded,
                           NULL);
  cleave_assert_values (cleave_node_get_result (node, 0), "0 0 255");
}
END_TEST

/* The peak counts the bytes of each type. The convolution computes 3 x 8 x 8 bytes from 2 x 8 x 8
 * bytes. A DequantizeLinear converts these bytes to 3 x 8 x 8 numbers of 4 bytes. */
START_TEST (memory_counts_the_bytes_of_each_type)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveShape one = { 0 };
  CleaveResult *operands[] = { add_typed (graph, CLEAVE_UINT8, CLEAVE_SHAPE (1, 2, 8, 8)),
                               cleave_case_steps (graph, one, 1, 0),
                               add_bytes (graph, CLEAVE_UINT8, one, "\1"),
                               add_bytes (graph, CLEAVE_INT8, CLEAVE_SHAPE (3, 2, 1, 1), "123456"),
                               cleave_case_steps (graph, one, 1, 0),
                               add_bytes (graph, CLEAVE_INT8, one, "\2"),
                               cleave_case_steps (graph, one, 9, 0),
                               add_bytes (graph, CLEAVE_INT8, one, "\3") };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("QLinearConv"), "q", operands, 8, 1, NULL, NULL);
  CleaveResult *scaled[] = { cleave_node_get_result (node, 0), operands[1] };
  CleaveProgramStats stats;

  ck_assert_int_eq (cleave_node_get_macs (node), 3 * 2 * 8 * 8);
  node = cleave_graph_add (graph, cleave_op_lookup ("DequantizeLinear"), "d", scaled, 2, 1, NULL,
                           NULL);
  cleave_graph_add_output (graph, "y", cleave_node_get_result (node, 0), NULL);
  stats = run_get_stats (graph, 1);
  ck_assert_int_eq (stats.peak_activation_bytes, 3 * 8 * 8 + 3 * 8 * 8 * 4);
  /* at least, since a kernel may also keep packed weights */
  ck_assert_int_ge (stats.weight_bytes, 6 + 3 * 4 + 3);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (
      suite, "quantized-conv", the_result_has_the_type_of_its_zero_point,
      a_grid_of_chunks_reads_windows_inside_the_operand, zero_points_are_subtracted_before_summing,
      results_are_scaled_rounded_and_saturated, memory_counts_the_bytes_of_each_type, NULL);
}

CLEAVE_TEST_SUITE ("quantized-conv", add_tests)
