/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops Gather, GatherElements and GatherND. */

#include "graphs.h"
#include "op-case.h"

static CleaveResult *
indices (CleaveGraph *graph, CleaveShape shape, const gint64 *numbers)
{
  CleaveTensorType type = { CLEAVE_INT64, shape };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, numbers, NULL);

  return cleave_graph_add_constant (graph, NULL, tensor);
}

#define INDICES(shape, ...) indices (graph, shape, (const gint64[]){ __VA_ARGS__ })

static CleaveResult *
add_node (CleaveGraph *graph,
          const char *op,
          CleaveResult *data,
          CleaveResult *where,
          gconstpointer attrs,
          GError **error)
{
  CleaveResult *operands[] = { data, where };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), "g", operands, 2, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (gather)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (3, 2), 1, 1);
  CleaveResult *i = INDICES (CLEAVE_SHAPE (2, 1), 2, -3), *one = INDICES (((CleaveShape){ 0 }), -1);
  CleaveResult *far = INDICES (CLEAVE_SHAPE (2), 3, -4), *none = INDICES (CLEAVE_SHAPE (0), 0);
  CleaveResult *empty = cleave_case_input (graph, "e", CLEAVE_SHAPE (0, 2));
  CleaveResult *y = cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, i }, 2,
                                     &(CleaveAxisAttrs){ 0 }, &error);

  cleave_assert_infers (y, &error, "float32 2x1x2");
  cleave_assert_values (y, "5 6 1 2");
  cleave_assert_chunk (y, "1:2,0:1,0:1", "0:3,0:1 1:2,0:1");
  y = cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, one }, 2,
                       &(CleaveAxisAttrs){ -1 }, &error);
  cleave_assert_infers (y, &error, "float32 3");
  cleave_assert_values (y, "2 4 6");
  cleave_assert_chunk (y, "1:3", "1:3,0:2  axis=1");
  cleave_assert_values (cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, far }, 2,
                                         &(CleaveAxisAttrs){ 0 }, &error),
                        "5 6 1 2");
  cleave_assert_infers (cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ empty, none }, 2,
                                         &(CleaveAxisAttrs){ 0 }, &error),
                        &error, "float32 0x2");
  cleave_assert_infers (
      cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ empty, one }, 2,
                       &(CleaveAxisAttrs){ 0 }, &error),
      &error, "Gather 'g': dimension 0 of data is empty: there is nothing for the indices to read");
  cleave_assert_infers (cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, x }, 2,
                                         &(CleaveAxisAttrs){ 0 }, &error),
                        &error, "Gather 'g': indices cannot be float32");
  cleave_assert_infers (cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, i }, 2,
                                         &(CleaveAxisAttrs){ 2 }, &error),
                        &error, "Gather 'g': axis must be between -2 and 1 for rank 2, not 2");
}
END_TEST

/* With few indices and many rows of a few elements, the kernel copies elements index by index. This
 * test gathers one column, and two columns, of 32 rows. */
START_TEST (gather_along_the_last_axis)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (32, 3), 1, 1);
  CleaveResult *i = INDICES (CLEAVE_SHAPE (2), -1, 5), *zero = INDICES (((CleaveShape){ 0 }), 0);
  CleaveResult *y = cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, zero }, 2,
                                     &(CleaveAxisAttrs){ 1 }, &error);

  cleave_assert_infers (y, &error, "float32 32");
  cleave_assert_values (y, "1 4 7 10 13 16 19 22 25 28 31 34 37 40 43 46 49 52 55 58 61 64 67 70 "
                           "73 76 79 82 85 88 91 94");
  y = cleave_test_add (graph, "Gather", "g", (CleaveResult *[]){ x, i }, 2, &(CleaveAxisAttrs){ 1 },
                       &error);
  cleave_assert_values (y, "3 3 6 6 9 9 12 12 15 15 18 18 21 21 24 24 27 27 30 30 33 33 36 36 39 "
                           "39 42 42 45 45 48 48 51 51 54 54 57 57 60 60 63 63 66 66 69 69 72 72 "
                           "75 75 78 78 81 81 84 84 87 87 90 90 93 93 96 96");
}
END_TEST

START_TEST (gather_elements)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (3, 3), 1, 1);
  CleaveResult *i = INDICES (CLEAVE_SHAPE (2, 3), 1, 2, 0, 2, 0, -3),
               *wide = INDICES (CLEAVE_SHAPE (1, 4), 0, 0, 0, 0);
  CleaveAxisAttrs a = { 0 };
  CleaveResult *y = add_node (graph, "GatherElements", x, i, &a, &error);

  cleave_assert_infers (y, &error, "float32 2x3");
  cleave_assert_values (y, "4 8 3 7 2 3");
  cleave_assert_chunk (y, "0:1,1:3", "0:3,1:3 0:1,1:3");
  cleave_assert_infers (add_node (graph, "GatherElements", x, wide, &a, &error), &error,
                        "GatherElements 'g': indices have 4 in dimension 1, data has 3");
  cleave_assert_infers (
      add_node (graph, "GatherElements", x, INDICES (CLEAVE_SHAPE (1), 0), &a, &error), &error,
      "GatherElements 'g': indices must have rank 2, not 1");
}
END_TEST

START_TEST (gather_nd)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2, 2), 0, 1);
  CleaveResult *pairs = INDICES (CLEAVE_SHAPE (2, 2), 0, 1, 1, 0),
               *batch = INDICES (CLEAVE_SHAPE (2, 1), 1, 0);
  CleaveGatherNdAttrs none = { 0 }, one = { 1 }, many = { 2 };
  CleaveResult *y = add_node (graph, "GatherND", x, pairs, &none, &error);

  cleave_assert_infers (y, &error, "float32 2x2");
  cleave_assert_values (y, "2 3 4 5");
  cleave_assert_chunk (y, "1:2,0:1", "0:2,0:2,0:1 1:2,0:2");
  y = add_node (graph, "GatherND", x, batch, &one, &error);
  cleave_assert_infers (y, &error, "float32 2x2");
  cleave_assert_values (y, "2 3 4 5");
  cleave_assert_chunk (y, "1:2,0:2", "1:2,0:2,0:2 1:2,0:1 batch_dims=1");
  cleave_assert_infers (add_node (graph, "GatherND", x, batch, &many, &error), &error,
                        "GatherND 'g': batch_dims is 2 for data of rank 3 and indices of rank 2");
  cleave_assert_infers (
      add_node (graph, "GatherND", x, INDICES (CLEAVE_SHAPE (1, 4), 0, 0, 0, 0), &none, &error),
      &error, "GatherND 'g': the last dimension of indices must be between 1 and 3, not 4");
  cleave_assert_infers (
      add_node (graph, "GatherND", x, INDICES (CLEAVE_SHAPE (3, 1), 0, 0, 0), &one, &error), &error,
      "GatherND 'g': batch dimension 0 has 2 in data and 3 in indices");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "gather", gather, gather_along_the_last_axis, gather_elements, gather_nd,
                   NULL);
}

CLEAVE_TEST_SUITE ("gather", add_tests)
