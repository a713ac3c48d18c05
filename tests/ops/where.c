/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the op Where: values, slices of operands that are broadcast, and errors. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

START_TEST (all_three_broadcast)
{
  const double choice[] = { 1, 0 }, x[] = { 1, 2, 3 }, y = 9;

  for (CleaveElement e = CLEAVE_FLOAT32; e < CLEAVE_BOOL; e++)
    {
      g_autoptr (CleaveTensor) c = cleave_apply_tensor (CLEAVE_BOOL, CLEAVE_SHAPE (2, 1), choice);
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (e, CLEAVE_SHAPE (3), x);
      g_autoptr (CleaveTensor) b = cleave_apply_tensor (e, (CleaveShape){ 0 }, &y);
      g_autoptr (CleaveTensor) z = cleave_apply ("Where", (CleaveTensor *[]){ c, a, b }, 3, NULL);

      cleave_apply_check ("Where", z, (double[]){ 1, 2, 3, 9, 9, 9 }, 0);
    }
}
END_TEST

START_TEST (slices_follow_the_broadcast)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *c = cleave_graph_add_input (graph, "c", &CLEAVE_TYPE (CLEAVE_BOOL, 4, 1), NULL);
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (6)),
               *y = cleave_case_input (graph, "y", CLEAVE_SHAPE (1));
  CleaveResult *z =
      cleave_test_add (graph, "Where", NULL, (CleaveResult *[]){ c, x, y }, 3, NULL, NULL);
  GError *error = NULL;

  cleave_assert_infers (z, &error, "float32 4x6");
  cleave_assert_chunk (z, "1:3,2:5", "1:3,0:1 2:5 0:1");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType condition[] = { CLEAVE_TYPE (CLEAVE_FLOAT32, 2), CLEAVE_TYPE (CLEAVE_INT8, 2),
                                   CLEAVE_TYPE (CLEAVE_INT8, 2) };
  CleaveTensorType mixed[] = { CLEAVE_TYPE (CLEAVE_BOOL, 2), CLEAVE_TYPE (CLEAVE_INT8, 2),
                               CLEAVE_TYPE (CLEAVE_INT16, 2) };
  CleaveTensorType shapes[] = { CLEAVE_TYPE (CLEAVE_BOOL, 2), CLEAVE_TYPE (CLEAVE_INT8, 3),
                                CLEAVE_TYPE (CLEAVE_INT8, 1) };

  cleave_apply_fails ("Where", condition, 3, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "Where 'y': condition cannot be float32");
  cleave_apply_fails ("Where", mixed, 3, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "Where 'y': X is int8, but Y is int16");
  cleave_apply_fails ("Where", shapes, 3, 1, NULL, CLEAVE_ERROR_SHAPE,
                      "Where 'y': condition, X and Y do not broadcast to each other");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "where", all_three_broadcast, slices_follow_the_broadcast,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("where", add_tests)
