/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops DepthToSpace and SpaceToDepth. */

#include "graphs.h"
#include "op-case.h"

#include "../../lib/ir/op.h"
#include "../../lib/ir/view.h"

static CleaveResult *
add_space_to_depth (CleaveGraph *graph, CleaveResult *x, gint64 blocksize, GError **error)
{
  CleaveDepthAttrs attrs = { .blocksize = blocksize };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("SpaceToDepth"), "s", &x, 1, 1, &attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (depth_to_space)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 8, 1, 1), 0, 1);
  CleaveResult *flat = cleave_case_input (graph, "f", CLEAVE_SHAPE (8, 1));
  CleaveDepthAttrs dcr = { 2, CLEAVE_DEPTH_DCR }, crd = { 2, CLEAVE_DEPTH_CRD },
                   three = { 3, CLEAVE_DEPTH_DCR }, none = { 0, CLEAVE_DEPTH_DCR };
  CleaveResult *y =
      cleave_test_add (graph, "DepthToSpace", "d", (CleaveResult *[]){ x }, 1, &dcr, &error);

  cleave_assert_infers (y, &error, "float32 1x2x2x2");
  cleave_assert_values (y, "0 2 4 6 1 3 5 7");
  cleave_assert_chunk (y, "0:1,0:2,0:2,0:2", "0:1,0:8,0:1,0:1 blocksize=2");
  cleave_assert_chunk (
      y, "0:1,0:1,0:2,0:2",
      "refused: dimension C cannot be cut there: a piece of 1 of output would have 2");
  y = cleave_test_add (graph, "DepthToSpace", "d", (CleaveResult *[]){ x }, 1, &crd, &error);
  cleave_assert_values (y, "0 1 2 3 4 5 6 7");
  cleave_assert_chunk (y, "0:1,1:2,0:2,0:2", "0:1,4:8,0:1,0:1 blocksize=2 mode=CRD");
  cleave_assert_chunk (
      y, "0:1,1:2,0:1,0:2",
      "refused: dimension H cannot be cut there: a piece of 1 of output would have 2");
  cleave_assert_infers (
      cleave_test_add (graph, "DepthToSpace", "d", (CleaveResult *[]){ x }, 1, &three, &error),
      &error, "DepthToSpace 'd': 8 channels do not divide by the square of blocksize 3");
  cleave_assert_infers (
      cleave_test_add (graph, "DepthToSpace", "d", (CleaveResult *[]){ x }, 1, &none, &error),
      &error, "DepthToSpace 'd': blocksize must be at least 1, not 0");
  cleave_assert_infers (
      cleave_test_add (graph, "DepthToSpace", "d", (CleaveResult *[]){ flat }, 1, &dcr, &error),
      &error, "DepthToSpace 'd': input must have rank 4, not 2");
}
END_TEST

START_TEST (space_to_depth_is_its_inverse)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (1, 2, 2, 2), 0, 1);
  CleaveResult *big = cleave_case_input (graph, "b", CLEAVE_SHAPE (1, 2, 6, 4));
  CleaveResult *y = add_space_to_depth (graph, x, 2, &error);

  cleave_assert_infers (y, &error, "float32 1x8x1x1");
  cleave_assert_values (y, "0 4 1 5 2 6 3 7");
  y = add_space_to_depth (graph, big, 2, &error);
  cleave_assert_chunk (y, "0:1,0:8,1:3,1:2", "0:1,0:2,2:6,2:4 blocksize=2");
  cleave_assert_chunk (
      y, "0:1,0:4,0:3,0:2",
      "refused: dimension C cannot be cut there: a piece of 4 of output would have 8");
  cleave_assert_infers (
      add_space_to_depth (graph, big, 4, &error), &error,
      "SpaceToDepth 's': dimension 2 has 6, which does not divide by blocksize 4");
}
END_TEST

/* Sets strides with channels innermost. */
static void
set_innermost (CleaveView *view)
{
  const gint64 *n = view->type.shape.dim;

  view->stride[1] = 1;
  view->stride[3] = n[1];
  view->stride[2] = n[3] * n[1];
  view->stride[0] = n[2] * n[3] * n[1];
}

/* The result is the same whether the channels are dimension 1 or the innermost dimension in
 * memory. */
START_TEST (channels_may_be_innermost)
{
  static const CleaveElement elements[] = { CLEAVE_INT8, CLEAVE_INT16, CLEAVE_INT32, CLEAVE_INT64 };

  for (guint i = 0; i < 4 * 40; i++)
    {
      const CleaveDepthAttrs attrs = { 2, i / 4 % 2 == 0 ? CLEAVE_DEPTH_CRD : CLEAVE_DEPTH_DCR };
      CleaveTensorType types[] = { { elements[i % 4], CLEAVE_SHAPE (2, 4 * (1 + i / 4), 3, 2) },
                                   { elements[i % 4], CLEAVE_SHAPE (2, 1 + i / 4, 6, 4) } };
      CleaveCall call = { .op = cleave_op_lookup ("DepthToSpace"),
                          .attrs = &attrs,
                          .n_operands = 1,
                          .n_results = 1,
                          .operands = &types[0],
                          .results = &types[1] };
      gsize n_bytes = (gsize) cleave_tensor_type_n_bytes (&types[0]);
      guint8 *bytes[5];
      CleaveView x[2], y[2], back;

      for (guint k = 0; k < G_N_ELEMENTS (bytes); k++)
        bytes[k] = g_malloc0 (n_bytes);
      for (gsize k = 0; k < n_bytes; k++)
        bytes[0][k] = (guint8) (k * 37 + k / 251);
      for (guint k = 0; k < 2; k++)
        {
          x[k] = cleave_view_dense (&types[0], bytes[2 * k]);
          y[k] = cleave_view_dense (&types[1], bytes[2 * k + 1]);
        }
      set_innermost (&x[1]);
      set_innermost (&y[1]);
      cleave_view_copy (&x[1], &x[0]);
      call.op->compute (&call, &x[0], &y[0]);
      call.op->compute (&call, &x[1], &y[1]);
      back = cleave_view_dense (&types[1], bytes[4]);
      cleave_view_copy (&back, &y[1]);
      ck_assert_mem_eq (bytes[4], bytes[1], n_bytes);
      for (guint k = 0; k < G_N_ELEMENTS (bytes); k++)
        g_free (bytes[k]);
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "depth-space", depth_to_space, space_to_depth_is_its_inverse,
                   channels_may_be_innermost, NULL);
}

CLEAVE_TEST_SUITE ("depth-space", add_tests)
