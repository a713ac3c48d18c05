/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the op Det: values, slices, and matrices that are errors. */

#include "apply.h"
#include "op-case.h"

START_TEST (determinants)
{
  static const double x[] = { 0, 2, 3, 4, 1, 2, 2, 4, 0, -1, 1, 0 }, y[] = { -6, 0, 1 };
  static const double cube[] = { 2, 0, 1, 1, 3, 2, 1, 1, 1 }, three = 0,
                      six[] = { 1, 2, 3, 4, 5, 6, 7, 8, 10 };
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16,
                                            CLEAVE_BFLOAT16 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (3, 2, 2), x);
      g_autoptr (CleaveTensor) b = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (3, 3), cube);
      g_autoptr (CleaveTensor) c = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (3, 3), six);
      g_autoptr (CleaveTensor) d = cleave_apply ("Det", &a, 1, NULL);
      g_autoptr (CleaveTensor) f = cleave_apply ("Det", &b, 1, NULL);
      g_autoptr (CleaveTensor) g = cleave_apply ("Det", &c, 1, NULL);
      const double minus_three = -3;

      cleave_apply_check ("2x2", d, y, 0);
      cleave_apply_check ("3x3", f, &three, 1e-12);
      cleave_apply_check ("3x3", g, &minus_three, 1e-12);
    }
}
END_TEST

START_TEST (matrices_are_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;
  CleaveResult *x = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 3, 2, 2));
  CleaveResult *wide = cleave_case_input (graph, "w", CLEAVE_SHAPE (2, 3));
  CleaveResult *large = cleave_case_input (graph, "l", CLEAVE_SHAPE (129, 129));
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("Det"), "d", &x, 1, 1, NULL, NULL);

  cleave_assert_chunk (cleave_node_get_result (node, 0), "1:2,0:2", "1:2,0:2,0:2,0:2");
  ck_assert_ptr_null (
      cleave_graph_add (graph, cleave_op_lookup ("Det"), "d", &wide, 1, 1, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_SHAPE,
                       "Det 'd': X must have square matrices of at most 128 rows, not 2x3");
  ck_assert_ptr_null (
      cleave_graph_add (graph, cleave_op_lookup ("Det"), "d", &large, 1, 1, NULL, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_SHAPE,
                       "Det 'd': X must have square matrices of at most 128 rows, not 129x129");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "det", determinants, matrices_are_not_split, NULL);
}

CLEAVE_TEST_SUITE ("det", add_tests)
