/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op CumSum, which adds up elements along an axis. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

static const double x[] = { 1, 2, 3, 10, 20, 30 };

static const struct
{
  CleaveCumsumAttrs attrs;
  double y[6];
} cases[] = {
  { { 1, FALSE, FALSE }, { 1, 3, 6, 10, 30, 60 } },
  { { 1, TRUE, FALSE }, { 0, 1, 3, 0, 10, 30 } },
  { { 1, FALSE, TRUE }, { 6, 5, 3, 60, 50, 30 } },
  { { 1, TRUE, TRUE }, { 5, 3, 0, 50, 30, 0 } },
  { { 0, FALSE, FALSE }, { 1, 2, 3, 11, 22, 33 } },
  { { -2, FALSE, TRUE }, { 11, 22, 33, 10, 20, 30 } },
};

START_TEST (sums_run_in_both_directions)
{
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_FLOAT16,
                                            CLEAVE_INT8, CLEAVE_UINT32 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    {
      g_autoptr (CleaveTensor) a = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, 3), x);
      g_autoptr (CleaveTensor) y = cleave_apply ("CumSum", &a, 1, &cases[_i].attrs);

      cleave_apply_check ("CumSum", y, cases[_i].y, 0);
    }
}
END_TEST

START_TEST (long_rows_are_summed_across_blocks)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, 1000);
  g_autoptr (CleaveTensor) a = cleave_tensor_new (&type, NULL);
  g_autoptr (CleaveTensor) y = NULL, back = NULL;

  for (int i = 0; i < 1000; i++)
    ((gint32 *) cleave_tensor_get_mutable_data (a))[i] = 1;
  y = cleave_apply ("CumSum", &a, 1, NULL);
  back = cleave_apply ("CumSum", &a, 1, &(CleaveCumsumAttrs){ .reverse = TRUE });
  for (int i = 0; i < 1000; i++)
    {
      ck_assert_double_eq (cleave_apply_at (y, i), i + 1);
      ck_assert_double_eq (cleave_apply_at (back, i), 1000 - i);
    }
}
END_TEST

/* The op adds along rows and across rows. There are more and longer rows than the kernel processes
 * at once. The sums equal the sums of a simple loop. */
START_TEST (many_rows_are_right)
{
  enum { N_ROWS = 303, LENGTH = 301 };
  static const CleaveElement elements[] = { CLEAVE_FLOAT32, CLEAVE_FLOAT64, CLEAVE_INT32,
                                            CLEAVE_INT64, CLEAVE_UINT8 };
  gboolean exclusive = (_i & 1) != 0, reverse = (_i & 2) != 0;
  CleaveElement element = elements[_i >> 2];
  g_autofree double *rows = g_new (double, N_ROWS *LENGTH), *expected = NULL, *turned = NULL;
  g_autoptr (CleaveTensor) inner = NULL, outer = NULL, along = NULL, across = NULL;

  expected = g_new (double, N_ROWS *LENGTH);
  turned = g_new (double, N_ROWS *LENGTH);
  for (int r = 0; r < N_ROWS; r++)
    {
      double sum = 0;

      for (int i = 0; i < LENGTH; i++)
        {
          int at = r * LENGTH + (reverse ? LENGTH - 1 - i : i);

          rows[at] = (r + 3 * i) % 7;
          expected[at] = exclusive ? sum : sum + rows[at];
          sum += rows[at];
        }
      for (int i = 0; i < LENGTH; i++)
        {
          int at = r * LENGTH + i;

          turned[i * N_ROWS + r] = rows[at];
          if (element == CLEAVE_UINT8)
            expected[at] = (double) ((int) expected[at] % 256);
        }
    }
  inner = cleave_apply_tensor (element, CLEAVE_SHAPE (N_ROWS, LENGTH), rows);
  outer = cleave_apply_tensor (element, CLEAVE_SHAPE (LENGTH, N_ROWS), turned);
  along = cleave_apply ("CumSum", &inner, 1, &(CleaveCumsumAttrs){ 1, exclusive, reverse });
  across = cleave_apply ("CumSum", &outer, 1, &(CleaveCumsumAttrs){ 0, exclusive, reverse });
  cleave_apply_check ("along", along, expected, 0);
  for (int r = 0; r < N_ROWS; r++)
    for (int i = 0; i < LENGTH; i++)
      turned[i * N_ROWS + r] = expected[r * LENGTH + i];
  cleave_apply_check ("across", across, turned, 0);
}
END_TEST

START_TEST (the_axis_is_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5));
  CleaveResult *y = cleave_test_add (graph, "CumSum", NULL, (CleaveResult *[]){ in }, 1,
                                     &(CleaveCumsumAttrs){ .axis = -1 }, NULL);

  cleave_assert_chunk (y, "1:3,0:5", "1:3,0:5 axis=1");
  cleave_assert_chunk (y, "0:4,0:2",
                       "refused: dimension 1 cannot be cut there: a piece of 2 of y would have 5");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType bools = CLEAVE_TYPE (CLEAVE_BOOL, 2);

  cleave_apply_fails ("CumSum", &bools, 1, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "CumSum 'y': x cannot be bool");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *tables = tcase_create ("table");

  tcase_add_loop_test (tables, sums_run_in_both_directions, 0, G_N_ELEMENTS (cases));
  tcase_add_loop_test (tables, many_rows_are_right, 0, 20);
  suite_add_tcase (suite, tables);
  cleave_add_case (suite, "others", long_rows_are_summed_across_blocks, the_axis_is_not_split,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("cumsum", add_tests)
