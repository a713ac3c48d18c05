/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The ops Trilu and EyeLike. The attribute `k` is the number of the diagonal. */

#include "apply.h"
#include "op-case.h"

static const double x[] = { 1, 2, 3, 4, 5, 6 };

static const struct
{
  CleaveTriluAttrs attrs;
  double y[6];
} cases[] = {
  { { 0, TRUE }, { 1, 2, 3, 0, 5, 6 } },   { { 1, TRUE }, { 0, 2, 3, 0, 0, 6 } },
  { { -1, TRUE }, { 1, 2, 3, 4, 5, 6 } },  { { 3, TRUE }, { 0, 0, 0, 0, 0, 0 } },
  { { 0, FALSE }, { 1, 0, 0, 4, 5, 0 } },  { { 1, FALSE }, { 1, 2, 0, 4, 5, 6 } },
  { { -1, FALSE }, { 0, 0, 0, 4, 0, 0 } }, { { 9, FALSE }, { 1, 2, 3, 4, 5, 6 } },
  { { -9, FALSE }, { 0, 0, 0, 0, 0, 0 } }, { { G_MININT64, TRUE }, { 1, 2, 3, 4, 5, 6 } },
};

START_TEST (a_triangle_is_kept)
{
  for (CleaveElement element = CLEAVE_FLOAT32; element < CLEAVE_BOOL; element++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (element, CLEAVE_SHAPE (2, 3), x);
      g_autoptr (CleaveTensor) y = cleave_apply ("Trilu", &a, 1, &cases[_i].attrs);

      cleave_apply_check ("Trilu", y, cases[_i].y, 0);
    }
}
END_TEST

static CleaveResult *
add (CleaveGraph *graph, const char *op, CleaveShape shape, gconstpointer attrs, GError **error)
{
  g_autofree char *name = g_strdup_printf ("x%u", cleave_graph_get_n_inputs (graph));
  CleaveResult *in = cleave_case_input (graph, name, shape);
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup (op), "n", &in, 1, 1, attrs, error);

  return node == NULL ? NULL : cleave_node_get_result (node, 0);
}

START_TEST (a_chunk_keeps_its_diagonal)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveTriluAttrs upper = { 1, TRUE };
  CleaveEyeAttrs eye = { CLEAVE_INT8, -1 };
  CleaveResult *y = add (graph, "Trilu", CLEAVE_SHAPE (2, 8, 9), &upper, NULL);

  cleave_assert_chunk (y, "0:2,4:8,0:9", "0:2,4:8,0:9 k=5");
  cleave_assert_chunk (y, "1:2,0:8,3:4", "1:2,0:8,3:4 k=-2");
  cleave_assert_chunk (y, "0:1,7:8,0:2",
                       "0:1,7:8,0:2 k=2"); /* the diagonal is outside of the chunk */
  y = add (graph, "EyeLike", CLEAVE_SHAPE (8, 9), &eye, NULL);
  cleave_assert_chunk (y, "3:6,2:9", "3:6,2:9 dtype=int8");
}
END_TEST

START_TEST (an_eye_has_ones_on_its_diagonal)
{
  static const struct
  {
    CleaveEyeAttrs attrs;
    double y[6];
  } eyes[] = {
    { { CLEAVE_NONE, 0 }, { 1, 0, 0, 0, 1, 0 } },
    { { CLEAVE_BFLOAT16, 2 }, { 0, 0, 1, 0, 0, 0 } },
    { { CLEAVE_BOOL, -1 }, { 0, 0, 0, 1, 0, 0 } },
    { { CLEAVE_UINT64, 3 }, { 0, 0, 0, 0, 0, 0 } },
    { { CLEAVE_INT16, G_MININT64 }, { 0, 0, 0, 0, 0, 0 } },
  };

  for (guint i = 0; i < G_N_ELEMENTS (eyes); i++)
    {
      CleaveElement dtype = eyes[i].attrs.dtype;
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_INT32, CLEAVE_SHAPE (2, 3), x);
      g_autoptr (CleaveTensor) y = cleave_apply ("EyeLike", &a, 1, &eyes[i].attrs);

      cleave_apply_check ("EyeLike", y, eyes[i].y, 0);
      ck_assert_int_eq (cleave_tensor_get_type (y)->element,
                        dtype == CLEAVE_NONE ? CLEAVE_INT32 : dtype);
    }
}
END_TEST

START_TEST (mistakes_are_errors)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  g_autoptr (GError) error = NULL;

  cleave_assert_infers (add (graph, "Trilu", CLEAVE_SHAPE (3), NULL, &error), &error,
                        "Trilu 'n': input must have rank 2 to 8, not 1");
  cleave_assert_infers (add (graph, "EyeLike", CLEAVE_SHAPE (1, 2, 3), NULL, &error), &error,
                        "EyeLike 'n': input must have rank 2, not 3");
  cleave_assert_infers (add (graph, "Trilu", CLEAVE_SHAPE (0, 3), NULL, &error), &error,
                        "float32 0x3");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("table");

  tcase_add_loop_test (tables, a_triangle_is_kept, 0, G_N_ELEMENTS (cases));
  suite_add_tcase (suite, tables);
  cleave_add_case (suite, "diagonal", a_chunk_keeps_its_diagonal, an_eye_has_ones_on_its_diagonal,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("diagonal", add_tests)
