/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op LpNormalization. A line is the elements along the axis. */

#include "apply.h"
#include "op-case.h"

static const double x[] = { 3, 4, 0, -6, 0, 8 };

START_TEST (divides_by_the_norm)
{
  static const struct
  {
    CleaveLpNormAttrs attrs;
    double y[6];
  } cases[] = {
    { { -1, 2 }, { 3 / 5., 4 / 5., 0, -6 / 10., 0, 8 / 10. } },
    { { 1, 1 }, { 3 / 7., 4 / 7., 0, -6 / 14., 0, 8 / 14. } },
    { { 0, 1 }, { 3 / 9., 1, 0, -6 / 9., 0, 1 } },
    { { 0, 2 }, { 3 / 6.7082039324993690892, 1, 0, -6 / 6.7082039324993690892, 0, 1 } },
  };
  static const CleaveElement elements[] = { CLEAVE_FLOAT64, CLEAVE_FLOAT32, CLEAVE_FLOAT16 };
  static const double tolerance[] = { 2e-16, 1e-7, 1e-3 };

  for (guint e = 0; e < G_N_ELEMENTS (elements); e++)
    for (guint i = 0; i < G_N_ELEMENTS (cases); i++)
      {
        g_autoptr (CleaveTensor) a = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, 3), x);
        g_autoptr (CleaveTensor) y = cleave_apply ("LpNormalization", &a, 1, &cases[i].attrs);

        cleave_apply_check ("LpNormalization", y, cases[i].y, tolerance[e]);
      }
}
END_TEST

/* A line of zeros stays zero, although 0 / 0 is a NaN. A line that has a NaN becomes NaN. */
START_TEST (lines_of_zeros_stay_zero)
{
  const double v[] = { 0, -0.0, 0, NAN, 1, 2 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (2, 3), v);
  g_autoptr (CleaveTensor) y = cleave_apply ("LpNormalization", &a, 1, NULL);

  cleave_apply_check ("LpNormalization", y, (double[]){ 0, 0, 0, NAN, NAN, NAN }, 0);
}
END_TEST

/* A line has more elements than the kernel processes at once. All elements are equal, and their
 * squares would overflow a float. */
START_TEST (long_lines_are_right)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 1, 1024);
  g_autoptr (CleaveTensor) a = cleave_tensor_new (&type, NULL);
  g_autoptr (CleaveTensor) y = NULL;
  double expected[1024];

  for (int i = 0; i < 1024; i++)
    {
      ((float *) cleave_tensor_get_mutable_data (a))[i] = i % 2 == 0 ? 1e30f : -1e30f;
      expected[i] = (i % 2 == 0 ? 1 : -1) / 32.;
    }
  y = cleave_apply ("LpNormalization", &a, 1, NULL);
  cleave_apply_check ("LpNormalization", y, expected, 0);
}
END_TEST

/* One operand has its lines along the innermost dimension, another along the outer dimension. An
 * operand has more lines than the kernel processes at once. A line has more elements than the
 * kernel processes at once. The results have the same bits along either dimension, although the
 * sums are not exact. */
START_TEST (many_lines_are_right)
{
  enum { N_LINES = 303, LENGTH = 301 };
  static const CleaveElement elements[] = { CLEAVE_FLOAT64, CLEAVE_FLOAT32, CLEAVE_FLOAT16 };
  CleaveElement element = elements[_i >> 1];
  gint64 p = 1 + (_i & 1);
  g_autofree double *lines = g_new (double, N_LINES *LENGTH), *turned = NULL, *expected = NULL;
  g_autoptr (CleaveTensor) inner = NULL, outer = NULL, along = NULL, across = NULL;

  turned = g_new (double, N_LINES *LENGTH);
  expected = g_new (double, N_LINES *LENGTH);
  for (int r = 0; r < N_LINES; r++)
    for (int i = 0; i < LENGTH; i++)
      turned[i * N_LINES + r] = lines[r * LENGTH + i] = r == 5 ? 0 : ((r + 3 * i) % 7 - 3) / 3.;
  inner = cleave_apply_tensor (element, CLEAVE_SHAPE (N_LINES, LENGTH), lines);
  outer = cleave_apply_tensor (element, CLEAVE_SHAPE (LENGTH, N_LINES), turned);
  along = cleave_apply ("LpNormalization", &inner, 1, &(CleaveLpNormAttrs){ 1, p });
  across = cleave_apply ("LpNormalization", &outer, 1, &(CleaveLpNormAttrs){ 0, p });
  for (int r = 0; r < N_LINES; r++)
    {
      double sum = 0, norm;

      for (int i = 0; i < LENGTH; i++)
        lines[r * LENGTH + i] = cleave_apply_at (inner, r * LENGTH + i);
      for (int i = 0; i < LENGTH; i++)
        sum += p == 1 ? fabs (lines[r * LENGTH + i]) : pow (lines[r * LENGTH + i], 2);
      norm = p == 1 ? sum : sqrt (sum);
      for (int i = 0; i < LENGTH; i++)
        {
          expected[r * LENGTH + i] = norm == 0 ? 0 : lines[r * LENGTH + i] / norm;
          if (cleave_apply_at (along, r * LENGTH + i) != cleave_apply_at (across, i * N_LINES + r))
            ck_abort_msg ("line %d, element %d", r, i);
        }
    }
  cleave_apply_check ("along", along, expected,
                      element == CLEAVE_FLOAT64   ? 0x1p-46
                      : element == CLEAVE_FLOAT32 ? 0x1p-24
                                                  : 0x1p-11);
}
END_TEST

/* The reciprocal of a norm below 2^-1024 is infinite, so each element is divided by the norm. */
START_TEST (small_norms_are_divided_by)
{
  const double v[] = { 0x1p-1070, -0x1p-1073 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT64, CLEAVE_SHAPE (1, 2), v);
  g_autoptr (CleaveTensor) y =
      cleave_apply ("LpNormalization", &a, 1, &(CleaveLpNormAttrs){ -1, 1 });

  cleave_apply_check ("LpNormalization", y, (double[]){ 8. / 9, -1. / 9 }, 0x1p-52);
}
END_TEST

START_TEST (the_axis_is_not_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5, 6));
  CleaveLpNormAttrs attrs = { .axis = 1 };
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup ("LpNormalization"), "n", &in, 1, 1, &attrs, NULL);
  CleaveResult *y = cleave_node_get_result (node, 0);

  cleave_assert_chunk (y, "1:3,0:5,2:4", "1:3,0:5,2:4 axis=1");
  cleave_assert_chunk (
      y, "0:4,0:2,0:6",
      "refused: dimension 1 cannot be cut there: a piece of 2 of output would have 5");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, 3), scalar = CLEAVE_SCALAR (CLEAVE_FLOAT32),
                   brief = CLEAVE_TYPE (CLEAVE_BFLOAT16, 3);

  cleave_apply_fails ("LpNormalization", &type, 1, 1, &(CleaveLpNormAttrs){ 0, 3 },
                      CLEAVE_ERROR_ATTRIBUTE, "LpNormalization 'y': p must be 1 or 2, not 3");
  cleave_apply_fails ("LpNormalization", &type, 1, 1, &(CleaveLpNormAttrs){ 1, 2 },
                      CLEAVE_ERROR_ATTRIBUTE,
                      "LpNormalization 'y': axis must be between -1 and 0 for rank 1, not 1");
  cleave_apply_fails ("LpNormalization", &scalar, 1, 1, NULL, CLEAVE_ERROR_SHAPE,
                      "LpNormalization 'y': input must have rank 1 to 8, not 0");
  cleave_apply_fails ("LpNormalization", &brief, 1, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "LpNormalization 'y': input cannot be bfloat16");
}
END_TEST

static void
add_tests (Suite *suite)
{
  TCase *many = tcase_create ("many");

  tcase_add_loop_test (many, many_lines_are_right, 0, 6);
  suite_add_tcase (suite, many);
  cleave_add_case (suite, "lp-norm", divides_by_the_norm, lines_of_zeros_stay_zero,
                   long_lines_are_right, small_norms_are_divided_by, the_axis_is_not_split,
                   mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("lp-norm", add_tests)
