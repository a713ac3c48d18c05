/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the op Transpose: values, slices and errors. */

#include "op-case.h"

START_TEST (permutes_dimensions)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (2, 3, 4));
  CleaveInts perm = CLEAVE_INTS (1, 2, 0), twice = CLEAVE_INTS (0, 2, 2),
             high = CLEAVE_INTS (0, 1, 3), few = CLEAVE_INTS (1, 0);
  CleaveResult *y = cleave_graph_add_transpose (graph, "t", x, &perm, &error);

  cleave_assert_infers (y, &error, "float32 3x4x2");
  cleave_assert_chunk (y, "1:3,0:4,1:2", "1:2,1:3,0:4 perm=1,2,0");
  y = cleave_graph_add_transpose (graph, "t", x, NULL, &error);
  cleave_assert_infers (y, &error, "float32 4x3x2");
  cleave_assert_chunk (y, "3:4,0:3,0:2", "0:2,0:3,3:4 perm=2,1,0");
  cleave_assert_infers (cleave_graph_add_transpose (graph, "t", x, &twice, &error), &error,
                        "Transpose 't': entry 2 of perm is 2: each of 0 to 2 must come once");
  cleave_assert_infers (cleave_graph_add_transpose (graph, "t", x, &high, &error), &error,
                        "Transpose 't': entry 2 of perm is 3: each of 0 to 2 must come once");
  cleave_assert_infers (cleave_graph_add_transpose (graph, "t", x, &few, &error), &error,
                        "Transpose 't': perm has 2 entries for rank 3");
}
END_TEST

START_TEST (computes)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 3), 1, 1);

  cleave_assert_values (cleave_graph_add_transpose (graph, NULL, x, NULL, NULL), "1 4 2 5 3 6");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "transpose", permutes_dimensions, computes, NULL);
}

CLEAVE_TEST_SUITE ("transpose", add_tests)
