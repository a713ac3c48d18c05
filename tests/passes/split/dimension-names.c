/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the letters N, C, D, H and W of dimensions. An op with a layout, such as Conv, gives
 * letters to the dimensions of its values. Nodes without a layout take the letters from neighboring
 * nodes. */

#include "test.h"

#include "../../../passes/split/dimension-names.h"
#include "graphs.h"

static CleaveGraph *graph;
static CleaveResult *x, *y; /* the input of the graph, 1x3x6x5, and the result of a Conv of the
                             * input, 1x4x6x5 */

static void
setup (void)
{
  graph = cleave_graph_new (NULL);
  x = cleave_test_input (graph, "x", CLEAVE_SHAPE (1, 3, 6, 5));
  y = cleave_graph_add_conv (graph, "conv", x,
                             cleave_test_weights (graph, "w", CLEAVE_SHAPE (4, 3, 1, 1)), NULL,
                             NULL, NULL);
}

static void
teardown (void)
{
  cleave_graph_unref (graph);
}

static void
assert_letters (const CleaveResult *result, const char *letters)
{
  ck_assert_pstr_eq (cleave_node_get_letters (cleave_result_get_node (result)), letters);
}

START_TEST (an_op_with_a_layout_has_its_letters) { assert_letters (y, "NCHW"); }
END_TEST

START_TEST (element_wise_ops_take_the_names_of_an_operand)
{
  CleaveResult *bias = cleave_test_weights (graph, "b", CLEAVE_SHAPE (1, 4, 6, 5));
  CleaveResult *sum = cleave_graph_add_binary (graph, "Add", "sum", bias, y, NULL);

  assert_letters (cleave_graph_add_unary (graph, "Relu", "relu", sum, NULL, NULL), "NCHW");
}
END_TEST

START_TEST (a_transpose_permutes_names)
{
  CleaveInts to_last = CLEAVE_INTS (0, 2, 3, 1), back = CLEAVE_INTS (0, 3, 1, 2);
  CleaveResult *last = cleave_graph_add_transpose (graph, "last", y, &to_last, NULL);
  CleaveResult *relu = cleave_graph_add_unary (graph, "Relu", "relu", last, NULL, NULL);

  assert_letters (relu, "NHWC");
  assert_letters (cleave_graph_add_transpose (graph, "back", relu, &back, NULL), "NCHW");
}
END_TEST

START_TEST (views_joins_and_kept_dimensions_keep_names)
{
  CleaveRange half = CLEAVE_RANGE (0, 1, 0, 4, 0, 3, 0, 5);
  CleaveResult *slice = cleave_graph_add_slice_range (graph, "slice", y, &half, NULL);
  CleaveResult *parts[] = { slice, y };
  CleaveReduceAttrs mean = { .axes = CLEAVE_INTS (2, 3), .keepdims = TRUE };

  assert_letters (cleave_graph_add_concat (graph, "join", parts, 2, 2, NULL), "NCHW");
  assert_letters (cleave_graph_add_softmax (graph, "softmax", slice, 1, NULL), "NCHW");
  assert_letters (
      cleave_test_add (graph, "ReduceMean", "mean", (CleaveResult *[]){ y }, 1, &mean, NULL),
      "NCHW");
}
END_TEST

static CleaveResult *
quantize (CleaveResult *value, const char *op, const char *name)
{
  CleaveTensorType type = CLEAVE_SCALAR (CLEAVE_FLOAT32);
  const float one = 1;
  g_autoptr (CleaveTensor) scale = cleave_tensor_new_copy (&type, &one, NULL);
  CleaveResult *operands[] = { value, cleave_graph_add_constant (graph, "scale", scale) };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), name, operands, 2, 1, NULL, NULL);

  return cleave_node_get_result (node, 0);
}

START_TEST (operands_of_a_convolution_have_its_letters)
{
  CleaveInts to_first = CLEAVE_INTS (0, 3, 1, 2);
  CleaveResult *last = cleave_test_input (graph, "last", CLEAVE_SHAPE (1, 6, 5, 7));
  CleaveResult *coded = quantize (last, "QuantizeLinear", "q");
  CleaveResult *decoded = quantize (coded, "DequantizeLinear", "dq");
  CleaveResult *first = cleave_graph_add_transpose (graph, "first", decoded, &to_first, NULL);
  CleaveResult *w = cleave_test_weights (graph, "v", CLEAVE_SHAPE (4, 7, 1, 1));
  CleaveResult *filter = quantize (quantize (w, "QuantizeLinear", "qw"), "DequantizeLinear", "dw");

  cleave_graph_add_conv (graph, "reader", first, filter, NULL, NULL, NULL);
  assert_letters (first, "NCHW");
  assert_letters (decoded, "NHWC");
  assert_letters (coded, "NHWC");
  assert_letters (filter, NULL);
  assert_letters (quantize (quantize (y, "QuantizeLinear", "a"), "DequantizeLinear", "b"), "NCHW");
}
END_TEST

/* A pooling sums over H and W, so it gives no letters. Another reader of the same value gives the
 * letters, whether the pooling is the first reader or the second one. */
START_TEST (a_global_pooling_leaves_the_letters_to_other_readers)
{
  for (guint i = 0; i < 2; i++)
    {
      CleaveResult *z = cleave_graph_add_unary (graph, "Abs", NULL, x, NULL, NULL), *relu;
      CleaveResult *w =
          cleave_test_weights (graph, i == 0 ? "w0" : "w1", CLEAVE_SHAPE (4, 3, 1, 1));

      if (i == 0)
        cleave_graph_add_global_pool (graph, "GlobalAveragePool", NULL, z, NULL, NULL);
      relu = cleave_graph_add_unary (graph, "Relu", NULL, z, NULL, NULL);
      if (i == 1)
        cleave_graph_add_global_pool (graph, "GlobalAveragePool", NULL, z, NULL, NULL);
      cleave_graph_add_conv (graph, NULL, relu, w, NULL, NULL, NULL);
      assert_letters (z, "NCHW");
    }
}
END_TEST

START_TEST (dimensions_that_do_not_correspond_have_no_names)
{
  assert_letters (cleave_graph_add_flatten (graph, "flat", y, 1, NULL), NULL);
  assert_letters (cleave_graph_add_unary (graph, "Relu", "relu", x, NULL, NULL), NULL);
  assert_letters (x, NULL);
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tcase = tcase_create ("letters");

  tcase_add_checked_fixture (tcase, setup, teardown);
  tcase_add_test (tcase, an_op_with_a_layout_has_its_letters);
  tcase_add_test (tcase, element_wise_ops_take_the_names_of_an_operand);
  tcase_add_test (tcase, a_transpose_permutes_names);
  tcase_add_test (tcase, views_joins_and_kept_dimensions_keep_names);
  tcase_add_test (tcase, operands_of_a_convolution_have_its_letters);
  tcase_add_test (tcase, a_global_pooling_leaves_the_letters_to_other_readers);
  tcase_add_test (tcase, dimensions_that_do_not_correspond_have_no_names);
  suite_add_tcase (suite, tcase);
}

CLEAVE_TEST_SUITE ("split-letters", add_tests)
