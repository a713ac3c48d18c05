/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op MatMul, with broadcast batches as in NumPy. */

#include "op-case.h"

#define INTS(...)                                                                                  \
  {                                                                                                \
    CLEAVE_COUNT_ (gint64, __VA_ARGS__), { __VA_ARGS__ }                                           \
  }

START_TEST (shapes_are_those_of_numpy)
{
  static const struct
  {
    CleaveShape a, b;
    const char *expected;
  } cases[] = {
    { INTS (2, 3), INTS (3, 4), "float32 2x4" },
    { INTS (3), INTS (3, 4), "float32 4" },
    { INTS (2, 3), INTS (3), "float32 2" },
    { INTS (3), INTS (3), "float32 scalar" },
    { INTS (3), INTS (5, 3, 4), "float32 5x4" },
    { INTS (5, 2, 3), INTS (3), "float32 5x2" },
    { INTS (7, 1, 2, 3), INTS (5, 3, 4), "float32 7x5x2x4" },
    { INTS (2, 3), INTS (4, 3), "MatMul 'y': A has 3 columns, B has 4 rows" },
    { INTS (2, 2, 3), INTS (3, 3, 4),
      "MatMul 'y': A is 2x2x3 and B is 3x3x4: they cannot be broadcast" },
    { { 0, { 0 } }, INTS (3, 4), "MatMul 'y': A must have rank 1 to 8, not 0" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      GError *error = NULL;
      CleaveResult *a = cleave_case_input (graph, "a", cases[i].a);
      CleaveResult *b = cleave_case_input (graph, "b", cases[i].b);

      cleave_assert_infers (cleave_graph_add_matmul (graph, "y", a, b, &error), &error,
                            cases[i].expected);
    }
}
END_TEST

START_TEST (a_chunk_reads_rows_and_columns_and_all_of_k)
{
  static const struct
  {
    CleaveShape a, b;
    const char *chunk, *expected;
  } cases[] = {
    { INTS (4, 3), INTS (3, 6), "1:2,2:5", "1:2,0:3 0:3,2:5" },
    { INTS (3), INTS (5, 3, 6), "1:3,2:5", "0:3 1:3,0:3,2:5" },
    { INTS (5, 4, 3), INTS (3), "1:3,2:4", "1:3,2:4,0:3 0:3" },
    { INTS (7, 1, 4, 3), INTS (5, 3, 6), "2:4,1:2,0:4,3:6", "2:4,0:1,0:4,0:3 1:2,0:3,3:6" },
  };

  for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
    {
      g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
      CleaveResult *a = cleave_case_input (graph, "a", cases[i].a);
      CleaveResult *b = cleave_case_input (graph, "b", cases[i].b);

      cleave_assert_chunk (cleave_graph_add_matmul (graph, "y", a, b, NULL), cases[i].chunk,
                           cases[i].expected);
    }
}
END_TEST

START_TEST (values_are_those_computed_by_hand)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2), 1,
                                       1); /* a: one matrix with the rows 1 2 and 3 4 */
  CleaveResult *b = cleave_case_steps (graph, CLEAVE_SHAPE (2, 2, 1), 1,
                                       1); /* b: two matrices of one column each: 1 2 and 3 4 */
  CleaveResult *v = cleave_case_steps (graph, CLEAVE_SHAPE (2), 10, 1); /* v: the vector 10 11 */

  cleave_assert_values (cleave_graph_add_matmul (graph, "n", a, b, NULL), "5 11 11 25");
  cleave_assert_values (cleave_graph_add_matmul (graph, "n", v, a, NULL), "43 64");
  cleave_assert_values (cleave_graph_add_matmul (graph, "n", a, v, NULL), "32 74");
  cleave_assert_values (cleave_graph_add_matmul (graph, "n", v, v, NULL), "221");
}
END_TEST

START_TEST (integers_wrap_around)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, 2);
  const gint32 big[] = { G_MAXINT32, 1 }, small[] = { 2, 1 };
  g_autoptr (CleaveTensor) a = cleave_tensor_new_copy (&type, big, NULL);
  g_autoptr (CleaveTensor) b = cleave_tensor_new_copy (&type, small, NULL);

  cleave_assert_values (cleave_graph_add_matmul (graph, "n",
                                                 cleave_graph_add_constant (graph, "a", a),
                                                 cleave_graph_add_constant (graph, "b", b), NULL),
                        "-1");
}
END_TEST

START_TEST (every_multiplication_counts)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *a = cleave_case_input (graph, "a", CLEAVE_SHAPE (7, 4, 3));
  CleaveResult *b = cleave_case_input (graph, "b", CLEAVE_SHAPE (3, 5));
  CleaveResult *y = cleave_graph_add_matmul (graph, "y", a, b, NULL);

  ck_assert_int_eq (cleave_node_get_macs (cleave_result_get_node (y)), 7 * 4 * 3 * 5);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "matmul", shapes_are_those_of_numpy,
                   a_chunk_reads_rows_and_columns_and_all_of_k, values_are_those_computed_by_hand,
                   integers_wrap_around, every_multiplication_counts, NULL);
}

CLEAVE_TEST_SUITE ("matmul", add_tests)
