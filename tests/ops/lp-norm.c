/* SPDX-License-Identifier: GPL-2.0-or-later */

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

/* 0 / 0 is 0 here; what is no number makes its whole line so. */
START_TEST (lines_of_zeros_stay)
{
  const double v[] = { 0, -0.0, 0, NAN, 1, 2 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (CLEAVE_FLOAT32, CLEAVE_SHAPE (2, 3), v);
  g_autoptr (CleaveTensor) y = cleave_apply ("LpNormalization", &a, 1, NULL);

  cleave_apply_check ("LpNormalization", y, (double[]){ 0, 0, 0, NAN, NAN, NAN }, 0);
}
END_TEST

/* More elements than are taken at once, each the same; the squares would overflow a float. */
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

START_TEST (the_axis_is_whole)
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
  cleave_add_case (suite, "lp-norm", divides_by_the_norm, lines_of_zeros_stay, long_lines_are_right,
                   the_axis_is_whole, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("lp-norm", add_tests)
