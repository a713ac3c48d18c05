/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the op Expand: values, slices and errors. */

#include "graphs.h"
#include "op-case.h"

START_TEST (broadcasts)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_steps (graph, CLEAVE_SHAPE (2, 1), 1, 1);
  CleaveInts three = CLEAVE_INTS (3), ones = CLEAVE_INTS (1, 1), more = CLEAVE_INTS (2, 1, 2),
             none = { 0 }, wrong = CLEAVE_INTS (3, 1);
  CleaveInts empty = CLEAVE_INTS (2, 0), negative = CLEAVE_INTS (-1), long_ = { 9, { 1 } };
  CleaveResult *y = cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                     &(CleaveReshapeAttrs){ .shape = three }, &error);

  cleave_assert_infers (y, &error, "float32 2x3");
  cleave_assert_values (y, "1 1 1 2 2 2");
  cleave_assert_chunk (y, "1:2,1:3", "1:2,0:1 shape=1,2");
  cleave_assert_infers (cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                         &(CleaveReshapeAttrs){ .shape = ones }, &error),
                        &error, "float32 2x1");
  cleave_assert_infers (cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                         &(CleaveReshapeAttrs){ .shape = none }, &error),
                        &error, "float32 2x1");
  cleave_assert_infers (cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                         &(CleaveReshapeAttrs){ .shape = empty }, &error),
                        &error, "float32 2x0");
  y = cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                       &(CleaveReshapeAttrs){ .shape = more }, &error);
  cleave_assert_infers (y, &error, "float32 2x2x2");
  cleave_assert_values (y, "1 1 2 2 1 1 2 2");
  cleave_assert_chunk (y, "0:1,0:2,0:2", "0:2,0:1 shape=1,2,2");
  cleave_assert_infers (cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                         &(CleaveReshapeAttrs){ .shape = wrong }, &error),
                        &error, "Expand 'e': input is 2x1, which cannot be expanded to 3x1");
  cleave_assert_infers (cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                         &(CleaveReshapeAttrs){ .shape = negative }, &error),
                        &error, "Expand 'e': shape must be at least 0, not -1");
  for (guint d = 0; d < 9; d++)
    long_.v[d] = 1;
  cleave_assert_infers (cleave_test_add (graph, "Expand", "e", (CleaveResult *[]){ x }, 1,
                                         &(CleaveReshapeAttrs){ .shape = long_ }, &error),
                        &error, "Expand 'e': shape has rank 9, more than 8");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "expand", broadcasts, NULL);
}

CLEAVE_TEST_SUITE ("expand", add_tests)
