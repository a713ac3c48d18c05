/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops whose results depend on shapes alone: ConstantOfShape, Range, Shape and Size. */

#include "op-case.h"

static CleaveResult *
add_node (CleaveGraph *graph, const char *op, CleaveResult *x, gconstpointer attrs, GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), "f", &x, x == NULL ? 0 : 1, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (constant_of_shape)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveTensorType one = CLEAVE_TYPE (CLEAVE_FLOAT32, 1), two = CLEAVE_TYPE (CLEAVE_INT8, 2);
  g_autoptr (CleaveTensor) value = cleave_tensor_new_copy (&one, &(float){ 2.5f }, NULL);
  g_autoptr (CleaveTensor) values = cleave_tensor_new (&two, NULL);
  CleaveFillAttrs a = { CLEAVE_INTS (2, 3), value };
  CleaveResult *y = add_node (graph, "ConstantOfShape", NULL, &a, &error);

  cleave_assert_infers (y, &error, "float32 2x3");
  cleave_assert_values (y, "2.5 2.5 2.5 2.5 2.5 2.5");
  cleave_assert_chunk (y, "0:1,1:3", " shape=1,2 value=[float32 1=2.5]");
  a.value = NULL;
  a.shape = (CleaveInts){ 0 };
  cleave_assert_values (add_node (graph, "ConstantOfShape", NULL, &a, &error), "0");
  a.shape = CLEAVE_INTS (-1);
  cleave_assert_infers (add_node (graph, "ConstantOfShape", NULL, &a, &error), &error,
                        "ConstantOfShape 'f': shape must be at least 0, not -1");
  a = (CleaveFillAttrs){ CLEAVE_INTS (2), values };
  cleave_assert_infers (add_node (graph, "ConstantOfShape", NULL, &a, &error), &error,
                        "ConstantOfShape 'f': value must have one element, not 2");
}
END_TEST

#define TENSOR(type, element, value)                                                               \
  cleave_tensor_new_copy (&CLEAVE_SCALAR (element), &(type){ value }, NULL)

static void
check_range (CleaveElement element, gconstpointer numbers, const char *result, const char *values)
{
  gsize size = cleave_element_size (element);
  CleaveTensorType type = CLEAVE_SCALAR (element);
  g_autoptr (CleaveTensor) start = cleave_tensor_new_copy (&type, numbers, NULL);
  g_autoptr (CleaveTensor) limit =
      cleave_tensor_new_copy (&type, (const char *) numbers + size, NULL);
  g_autoptr (CleaveTensor) delta =
      cleave_tensor_new_copy (&type, (const char *) numbers + 2 * size, NULL);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveRangeAttrs a = { start, limit, delta };
  CleaveResult *y = add_node (graph, "Range", NULL, &a, &error);

  cleave_assert_infers (y, &error, result);
  if (values != NULL)
    cleave_assert_values (y, values);
}

START_TEST (range)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveRangeAttrs none = { NULL, NULL, NULL };

  check_range (CLEAVE_FLOAT32, (float[]){ 1, 5, 2 }, "float32 2", "1 3");
  check_range (CLEAVE_FLOAT32, (float[]){ 1, 2, 0.25f }, "float32 4", "1 1.25 1.5 1.75");
  check_range (CLEAVE_FLOAT64, (double[]){ 0, -1, -0.4 }, "float64 3", NULL);
  check_range (CLEAVE_INT32, (gint32[]){ 10, 6, -3 }, "int32 2", "10 7");
  check_range (CLEAVE_INT16, (gint16[]){ 3, 3, 1 }, "int16 0", "");
  check_range (CLEAVE_INT64, (gint64[]){ 5, 3, 1 }, "int64 0", "");
  check_range (CLEAVE_INT64, (gint64[]){ 0, 5, 0 }, "Range 'f': delta is 0", NULL);
  check_range (CLEAVE_FLOAT64, (double[]){ 0, 1e300, 1e-300 },
               "Range 'f': start, limit and delta do not give a finite range", NULL);
  check_range (CLEAVE_INT8, (gint8[]){ 0, 1, 1 }, "Range 'f': start cannot be int8", NULL);
  cleave_assert_infers (add_node (graph, "Range", NULL, &none, &error), &error,
                        "Range 'f': start is missing");
}
END_TEST

START_TEST (shape)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 3, 1), 0, 1);
  CleaveShapeAttrs inner = { 1, -1 }, back = { -2, CLEAVE_SHAPE_END }, cross = { 2, 1 };

  cleave_assert_values (add_node (graph, "Shape", x, NULL, &error), "2 3 1");
  cleave_assert_values (add_node (graph, "Shape", x, &inner, &error), "3");
  cleave_assert_values (add_node (graph, "Shape", x, &back, &error), "3 1");
  cleave_assert_infers (add_node (graph, "Shape", x, &cross, &error), &error, "int64 0");
  cleave_assert_chunk (add_node (graph, "Shape", x, NULL, &error), "0:1",
                       "refused: Shape cannot be split");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "fill", constant_of_shape, range, shape, NULL);
}

CLEAVE_TEST_SUITE ("fill", add_tests)
