/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op TopK, which sorts along an axis. */

#include "apply.h"
#include "op-case.h"

static void
check (CleaveTensor *x, const CleaveTopkAttrs *attrs, const double *values, const double *indices)
{
  g_autoptr (CleaveTensor) v = cleave_apply_nth ("TopK", &x, 1, 2, attrs, 0);
  g_autoptr (CleaveTensor) i = cleave_apply_nth ("TopK", &x, 1, 2, attrs, 1);

  cleave_apply_check ("Values", v, values, 0);
  cleave_apply_check ("Indices", i, indices, 0);
}

START_TEST (equal_elements_keep_their_order)
{
  const double x[] = { 2, 5, 5, 1, 5, NAN };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (6), x);

  check (a, &(CleaveTopkAttrs){ .k = 4, .axis = 0, .largest = TRUE }, (double[]){ NAN, 5, 5, 5 },
         (double[]){ 5, 1, 2, 4 });
  check (a, &(CleaveTopkAttrs){ .k = 3, .axis = -1 }, (double[]){ 1, 2, 5 }, (double[]){ 3, 0, 1 });
  check (a, &(CleaveTopkAttrs){ .k = 6, .axis = 0 }, (double[]){ 1, 2, 5, 5, 5, NAN },
         (double[]){ 3, 0, 1, 2, 4, 5 });
}
END_TEST

START_TEST (any_axis_and_integers_are_supported)
{
  const double x[] = { 1, 9, 3, 7, 5, 6 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_INT64, CLEAVE_SHAPE (3, 2), x);
  g_autoptr (CleaveTensor) b = cleave_apply_tensor (CLEAVE_UINT8, CLEAVE_SHAPE (3, 2), x);

  check (a, &(CleaveTopkAttrs){ .k = 2, .axis = 0, .largest = TRUE }, (double[]){ 5, 9, 3, 7 },
         (double[]){ 2, 0, 1, 1 });
  check (b, &(CleaveTopkAttrs){ .k = 1, .axis = 1, .largest = FALSE }, (double[]){ 1, 3, 5 },
         (double[]){ 0, 0, 0 });
}
END_TEST

/* Compares the result with a full sort of the elements. */
START_TEST (many_elements_are_sorted)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 500);

  for (gint64 k = 1; k <= 500; k += 83)
    {
      g_autoptr (CleaveTensor) a = cleave_random_tensor (&type, (guint32) k, FALSE);
      CleaveTopkAttrs attrs = { .k = k, .largest = TRUE };
      g_autoptr (CleaveTensor) v = cleave_apply_nth ("TopK", &a, 1, 2, &attrs, 0);
      g_autoptr (CleaveTensor) at = cleave_apply_nth ("TopK", &a, 1, 2, &attrs, 1);
      gint64 n_larger = 0;

      for (gint64 i = 0; i < k; i++)
        {
          ck_assert (i == 0 || cleave_apply_at (v, i) <= cleave_apply_at (v, i - 1));
          ck_assert_double_eq (cleave_apply_at (v, i),
                               cleave_apply_at (a, (gint64) cleave_apply_at (at, i)));
        }
      for (gint64 i = 0; i < 500; i++)
        n_larger += cleave_apply_at (a, i) > cleave_apply_at (v, k - 1);
      ck_assert_int_le (n_larger, k - 1);
    }
}
END_TEST

START_TEST (both_results_have_equal_chunks)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 9));
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("TopK"), NULL, (CleaveResult *[]){ in }, 1, 2,
                        &(CleaveTopkAttrs){ 3, -1, TRUE, TRUE }, NULL);
  GError *error = NULL;

  cleave_assert_infers (cleave_node_get_result (node, 0), &error, "float32 4x3");
  cleave_assert_infers (cleave_node_get_result (node, 1), &error, "int64 4x3");
  cleave_assert_chunk (cleave_node_get_result (node, 0), "1:3,0:3", "1:3,0:9 k=3 axis=1");
  cleave_assert_chunk (
      cleave_node_get_result (node, 0), "0:4,0:2",
      "refused: dimension 1 cannot be cut there: a piece of 2 of Values would have 3");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 2, 3);

  cleave_apply_fails ("TopK", &type, 1, 2, &(CleaveTopkAttrs){ .k = 4, .axis = 1 },
                      CLEAVE_ERROR_ATTRIBUTE, "TopK 'y': k must be at most 3, not 4");
  cleave_apply_fails ("TopK", &type, 1, 2, &(CleaveTopkAttrs){ .k = -1, .axis = 1 },
                      CLEAVE_ERROR_ATTRIBUTE, "TopK 'y': k must be at least 0, not -1");
  cleave_apply_fails ("TopK", &type, 1, 1, NULL, CLEAVE_ERROR_OPTION,
                      "TopK 'y': has 2 results, not 1");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", equal_elements_keep_their_order,
                   any_axis_and_integers_are_supported, many_elements_are_sorted, NULL);
  cleave_add_case (suite, "node", both_results_have_equal_chunks, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("topk", add_tests)
