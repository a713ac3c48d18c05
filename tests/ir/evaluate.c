/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The evaluation of nodes that read only constants, and the estimated work of the evaluation. */

#include "test.h"

#include "../../lib/ir/evaluate.h"
#include "../../lib/ir/graph-private.h"

static CleaveResult *
add_constant (CleaveGraph *graph, const CleaveShape *shape)
{
  CleaveTensorType type = { CLEAVE_FLOAT32, *shape };
  g_autoptr (CleaveTensor) tensor = cleave_random_tensor (&type, 1, TRUE);

  return cleave_graph_add_constant (graph, NULL, tensor);
}

static CleaveTensor *
tensor_of (const CleaveResult *constant)
{
  return cleave_node_get_constant (cleave_result_get_node (constant));
}

START_TEST (only_nodes_of_constants_can_be_evaluated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveResult *c = add_constant (graph, &type.shape);
  CleaveResult *both = cleave_graph_add_binary (graph, "Add", NULL, c, c, NULL);
  CleaveResult *one = cleave_graph_add_binary (graph, "Add", NULL, c, x, NULL);
  CleaveNode *shape =
      cleave_graph_add (graph, cleave_op_lookup ("Shape"), NULL, &x, 1, 1, NULL, NULL);

  ck_assert (!cleave_evaluate_can (cleave_result_get_node (x)));
  ck_assert (!cleave_evaluate_can (cleave_result_get_node (c)));
  ck_assert (!cleave_evaluate_can (cleave_result_get_node (one)));
  ck_assert (cleave_evaluate_can (cleave_result_get_node (both)));
  ck_assert (cleave_evaluate_can (shape));
}
END_TEST

START_TEST (the_kernel_computes_the_value)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2);
  float data[] = { 1, 2 }, want[] = { 2, 4 };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, data, NULL);
  CleaveResult *c = cleave_graph_add_constant (graph, NULL, tensor);
  CleaveResult *sum = cleave_graph_add_binary (graph, "Add", NULL, c, c, NULL);
  g_autoptr (GPtrArray) values = cleave_evaluate (cleave_result_get_node (sum), NULL);

  ck_assert_uint_eq (values->len, 1);
  ck_assert_mem_eq (cleave_tensor_get_data (values->pdata[0]), want, sizeof want);
}
END_TEST

START_TEST (the_shape_of_anything_is_known)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3);
  CleaveResult *x = cleave_graph_add_input (graph, "x", &type, NULL);
  CleaveNode *shape =
      cleave_graph_add (graph, cleave_op_lookup ("Shape"), NULL, &x, 1, 1, NULL, NULL);
  g_autoptr (GPtrArray) values = cleave_evaluate (shape, NULL);

  ck_assert_mem_eq (cleave_tensor_get_data (values->pdata[0]), type.shape.dim, 16);
}
END_TEST

START_TEST (a_slice_shares_the_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *c = add_constant (graph, &CLEAVE_SHAPE (6, 4));
  CleaveRange range = CLEAVE_RANGE (2, 5, 1, 3), got;
  CleaveResult *slice = cleave_graph_add_slice_range (graph, NULL, c, &range, NULL);
  g_autoptr (GPtrArray) values = cleave_evaluate (cleave_result_get_node (slice), NULL);

  ck_assert_ptr_eq (cleave_tensor_get_base (values->pdata[0], &got), tensor_of (c));
  ck_assert (cleave_range_equal (&got, &range));
}
END_TEST

START_TEST (a_split_shares_the_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  gint64 sizes[] = { 2, 4 };
  CleaveResult *c = add_constant (graph, &CLEAVE_SHAPE (6));
  CleaveNode *split = cleave_graph_add_split (graph, NULL, c, 0, sizes, 2, NULL);
  g_autoptr (GPtrArray) values = cleave_evaluate (split, NULL);

  ck_assert_uint_eq (values->len, 2);
  ck_assert_ptr_eq (cleave_tensor_get_data (values->pdata[1]),
                    (const float *) cleave_tensor_get_data (tensor_of (c)) + 2);
}
END_TEST

START_TEST (a_reshape_shares_the_bytes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveInts shape = CLEAVE_INTS (4, 6);
  CleaveResult *c = add_constant (graph, &CLEAVE_SHAPE (6, 4));
  CleaveResult *reshape = cleave_graph_add_reshape (graph, NULL, c, &shape, NULL);
  g_autoptr (GPtrArray) values = cleave_evaluate (cleave_result_get_node (reshape), NULL);

  ck_assert_ptr_eq (cleave_tensor_get_data (values->pdata[0]),
                    cleave_tensor_get_data (tensor_of (c)));
  ck_assert_int_eq (cleave_tensor_get_type (values->pdata[0])->shape.dim[1], 6);
}
END_TEST

/* Views of constants that cannot share bytes: the operand is a slice that is not dense, or the view
 * permutes dimensions, has a step, or reverses a dimension. */
START_TEST (views_that_cannot_share_bytes_are_computed)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *c = add_constant (graph, &CLEAVE_SHAPE (4, 4));
  CleaveRange left = CLEAVE_RANGE (0, 4, 0, 2);
  g_autoptr (CleaveTensor) part = cleave_tensor_new_slice (tensor_of (c), &left);
  CleaveInts shape = CLEAVE_INTS (8), perm = CLEAVE_INTS (1, 0);
  CleaveSliceAttrs back = { CLEAVE_INTS (3), CLEAVE_INTS (-5), CLEAVE_INTS (0), CLEAVE_INTS (-1) };
  CleaveSliceAttrs step = { CLEAVE_INTS (0), CLEAVE_INTS (4), CLEAVE_INTS (1), CLEAVE_INTS (2) };
  const float *x = cleave_tensor_get_data (tensor_of (c));
  const struct
  {
    CleaveResult *result;
    float second; /* element 1 of the expected result */
  } cases[] = {
    { cleave_graph_add_reshape (graph, NULL, cleave_graph_add_constant (graph, NULL, part), &shape,
                                NULL),
      x[1] },
    { cleave_graph_add_transpose (graph, NULL, c, &perm, NULL), x[4] },
    { cleave_graph_add_slice (graph, NULL, c, &back, NULL), x[13] },
    { cleave_graph_add_slice (graph, NULL, c, &step, NULL), x[2] },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (GPtrArray) values =
          cleave_evaluate (cleave_result_get_node (cases[i].result), NULL);

      ck_assert_mem_eq ((const float *) cleave_tensor_get_data (values->pdata[0]) + 1,
                        &cases[i].second, 4);
      ck_assert (cleave_tensor_is_dense (values->pdata[0]));
    }
}
END_TEST

/* The estimated work counts the elements of result and operands, and the elements that windows,
 * sums and sorts read. */
START_TEST (work_is_estimated)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = add_constant (graph, &CLEAVE_SHAPE (1, 8, 6)),
               *m = add_constant (graph, &CLEAVE_SHAPE (6, 4));
  CleaveLrnAttrs lrn = { .size = 3, .alpha = 1, .beta = 1, .bias = 1 };
  CleavePoolAttrs pool = { .kernel_shape = CLEAVE_INTS (5), .pads = CLEAVE_INTS (4, 4) };
  CleaveResult *operands[] = { x, m };
  CleaveInts shape = CLEAVE_INTS (48);
  const struct
  {
    CleaveNode *node;
    double work;
  } cases[] = {
    { cleave_graph_add (graph, cleave_op_lookup ("LRN"), NULL, &x, 1, 1, &lrn, NULL), 96 + 3 * 48 },
    { cleave_graph_add (graph, cleave_op_lookup ("MaxPool"), NULL, &x, 1, 1, &pool, NULL),
      48 + 80 + 5 * 80 },
    { cleave_graph_add (graph, cleave_op_lookup ("MatMul"), NULL, operands, 2, 1, NULL, NULL),
      48 + 24 + 32 + 6 * 32 },
    { cleave_graph_add (graph, cleave_op_lookup ("Softmax"), NULL, &x, 1, 1, NULL, NULL), 96 },
    { cleave_graph_add (graph, cleave_op_lookup ("ReduceMax"), NULL, &x, 1, 1, NULL, NULL),
      48 + 1 + 48 },
    { cleave_graph_add (graph, cleave_op_lookup ("Abs"), NULL, &x, 1, 1, NULL, NULL), 48 + 2 * 48 },
    { cleave_result_get_node (cleave_graph_add_reshape (graph, NULL, x, &shape, NULL)), 0 },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    ck_assert_msg (cleave_evaluate_work (cases[i].node) == cases[i].work, "%s: %g, not %g",
                   cases[i].node->op->name, cleave_evaluate_work (cases[i].node), cases[i].work);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "evaluate", only_nodes_of_constants_can_be_evaluated,
                   the_kernel_computes_the_value, the_shape_of_anything_is_known, work_is_estimated,
                   NULL);
  cleave_add_case (suite, "share", a_slice_shares_the_bytes, a_split_shares_the_bytes,
                   a_reshape_shares_the_bytes, views_that_cannot_share_bytes_are_computed, NULL);
}

CLEAVE_TEST_SUITE ("evaluate", add_tests)
