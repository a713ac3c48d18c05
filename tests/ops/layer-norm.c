/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The op LayerNormalization, compared with its definition in doubles. */

#include "apply.h"
#include "graphs.h"
#include "op-case.h"

#define F32 CLEAVE_FLOAT32

/* Computes the expected result: normalizes rows of `n` elements by the definition of the op. */
static void
expect (const double *x,
        int n_rows,
        int n,
        const double *scale,
        const double *b,
        double *y,
        double *means,
        double *inverses)
{
  for (int r = 0; r < n_rows; r++)
    {
      double mean = 0, var = 0;

      for (int i = 0; i < n; i++)
        mean += x[r * n + i] / n;
      for (int i = 0; i < n; i++)
        var += (x[r * n + i] - mean) * (x[r * n + i] - mean) / n;
      means[r] = mean;
      inverses[r] = 1 / sqrt (var + 1e-5);
      for (int i = 0; i < n; i++)
        y[r * n + i] = (x[r * n + i] - mean) * inverses[r] * scale[i] + (b == NULL ? 0 : b[i]);
    }
}

static const double x[] = { 1, 2, 3, 4, 5, 9, -1, 0, 1, 2, -3, 8 };
static const double scale[] = { 1, 2, 0.5, 1, -1, 3 }, bias[] = { 0, 1, 2, 3, 4, 5 };

START_TEST (rows_are_normalized)
{
  static const CleaveElement elements[] = { F32, CLEAVE_FLOAT64, CLEAVE_FLOAT16, CLEAVE_BFLOAT16 };
  static const double tolerance[] = { 1e-6, 1e-7, 2e-3, 2e-2 };

  for (guint e = 0; e < 4; e++)
    for (int n = 3; n <= 6; n += 3)
      {
        g_autoptr (CleaveTensor) tx = cleave_apply_tensor (elements[e], CLEAVE_SHAPE (2, 2, 3), x);
        CleaveShape own = n == 3 ? CLEAVE_SHAPE (3) : CLEAVE_SHAPE (2, 3);
        g_autoptr (CleaveTensor) ts = cleave_apply_tensor (elements[e], own, scale);
        g_autoptr (CleaveTensor) tb = cleave_apply_tensor (elements[e], own, bias);
        CleaveTensor *operands[] = { tx, ts, tb };
        CleaveLayerNormAttrs attrs = { .axis = n == 3 ? -1 : 1, .epsilon = 1e-5 };
        double y[12], mean[4], inverse[4];

        expect (x, 12 / n, n, scale, bias, y, mean, inverse);
        for (guint r = 0; r < 3; r++)
          {
            g_autoptr (CleaveTensor) got =
                cleave_apply_nth ("LayerNormalization", operands, 3, 3, &attrs, r);

            cleave_apply_check ("LayerNormalization", got,
                                r == 0   ? y
                                : r == 1 ? mean
                                         : inverse,
                                tolerance[e]);
            ck_assert_int_eq (cleave_tensor_get_type (got)->element, r == 0 ? elements[e] : F32);
          }
      }
}
END_TEST

START_TEST (the_bias_is_optional)
{
  g_autoptr (CleaveTensor) tx = cleave_apply_tensor (F32, CLEAVE_SHAPE (4, 3), x);
  g_autoptr (CleaveTensor) ts = cleave_apply_tensor (F32, CLEAVE_SHAPE (3), scale);
  g_autoptr (CleaveTensor) y =
      cleave_apply ("LayerNormalization", (CleaveTensor *[]){ tx, ts }, 2, NULL);
  double expected[12], mean[4], inverse[4];

  expect (x, 4, 3, scale, NULL, expected, mean, inverse);
  cleave_apply_check ("LayerNormalization", y, expected, 1e-6);
}
END_TEST

/* A mean far from 0 does not hide a small variance. */
START_TEST (the_variance_does_not_cancel)
{
  const double far[] = { 4096, 4097, 4098 }, ones[] = { 1, 1, 1 };
  g_autoptr (CleaveTensor) tx = cleave_apply_tensor (F32, CLEAVE_SHAPE (1, 3), far);
  g_autoptr (CleaveTensor) ts = cleave_apply_tensor (F32, CLEAVE_SHAPE (3), ones);
  g_autoptr (CleaveTensor) y =
      cleave_apply ("LayerNormalization", (CleaveTensor *[]){ tx, ts }, 2, NULL);

  cleave_apply_check ("LayerNormalization", y, (double[]){ -1.224735686, 0, 1.224735686 }, 1e-6);
}
END_TEST

/* With this number of elements, sums of floats in eight lanes alone would be inaccurate. */
START_TEST (a_long_row_is_as_exact_as_a_short_one)
{
  enum { N = 700000 };
  g_autofree double *values = g_new (double, N), *ones = g_new (double, N);
  g_autofree double *expected = g_new (double, N);
  g_autoptr (CleaveTensor) tx = NULL, ts = NULL, y = NULL;
  double mean, inverse;

  for (int i = 0; i < N; i++)
    {
      values[i] = i == 0 ? 5000 : 1000.3 + i % 7 - 3;
      ones[i] = 1;
    }
  tx = cleave_apply_tensor (F32, CLEAVE_SHAPE (N), values);
  ts = cleave_apply_tensor (F32, CLEAVE_SHAPE (N), ones);
  y = cleave_apply ("LayerNormalization", (CleaveTensor *[]){ tx, ts }, 2, NULL);
  expect (values, 1, N, ones, NULL, expected, &mean, &inverse);
  cleave_apply_check ("LayerNormalization", y, expected, 1e-3);
}
END_TEST

START_TEST (dimensions_before_the_axis_split)
{
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5, 6)),
               *s = cleave_case_input (graph, "s", CLEAVE_SHAPE (6));
  CleaveResult *y = cleave_test_add (graph, "LayerNormalization", NULL,
                                     (CleaveResult *[]){ in, s, NULL }, 3, NULL, NULL);
  CleaveResult *operands[] = { in, s };
  CleaveNode *all = cleave_graph_add (graph, cleave_op_lookup ("LayerNormalization"), NULL,
                                      operands, 2, 3, NULL, NULL);
  CleaveRange chunk = CLEAVE_RANGE (0, 4, 1, 3, 0, 6), part;
  g_auto (CleaveNodeCall) call;
  g_autofree char *text = NULL;
  GError *error = NULL;

  cleave_assert_chunk (y, "1:3,2:4,0:6", "1:3,2:4,0:6 0:6 axis=2");
  cleave_assert_chunk (y, "0:4,0:5,0:3",
                       "refused: dimension 2 cannot be cut there: a piece of 3 of Y would have 6");
  cleave_assert_infers (cleave_node_get_result (all, 1), &error, "float32 4x5x1");
  part = cleave_call_result_range (cleave_node_call_init (&call, all), 2, &chunk);
  text = cleave_range_to_string (&part);
  ck_assert_str_eq (text, "0:4,1:3,0:1");
}
END_TEST

START_TEST (mean_and_variance_of_any_dimensions)
{
  static const double rows_of[] = { 1, 5, -2, 3, 5, 4 }, y[] = { -1, 0, -1, 1, 0, 1 };
  g_autoptr (CleaveTensor) a = cleave_apply_tensor (F32, CLEAVE_SHAPE (2, 3), rows_of);
  CleaveAxesAttrs rows = { CLEAVE_INTS (0) };
  g_autoptr (CleaveTensor) got = cleave_apply ("MeanVarianceNormalization", &a, 1, &rows);
  CleaveTensorType cube = CLEAVE_TYPE (F32, 2, 3, 4);
  g_autoptr (CleaveGraph) graph = cleave_graph_new (NULL);
  CleaveResult *in = cleave_case_input (graph, "x", CLEAVE_SHAPE (4, 5, 6, 7));
  CleaveNode *node = cleave_graph_add (graph, cleave_op_lookup ("MeanVarianceNormalization"), NULL,
                                       &in, 1, 1, NULL, NULL);

  cleave_apply_check ("MeanVarianceNormalization", got, y, 1e-6);
  cleave_assert_chunk (cleave_node_get_result (node, 0), "0:4,1:3,0:6,0:7",
                       "0:4,1:3,0:6,0:7 axes=0,2,3");
  cleave_assert_chunk (cleave_node_get_result (node, 0), "0:2,0:5,0:6,0:7",
                       "refused: dimension 0 cannot be cut there: a piece of 2 of Y would have 4");
  cleave_apply_fails ("MeanVarianceNormalization", &cube, 1, 1, NULL, CLEAVE_ERROR_ATTRIBUTE,
                      "MeanVarianceNormalization 'y': axes are 0, 2 and 3, but X has rank 3");
}
END_TEST

START_TEST (mistakes_are_errors)
{
  CleaveTensorType wide[] = { CLEAVE_TYPE (F32, 2, 3), CLEAVE_TYPE (F32, 2, 3) };
  CleaveTensorType mixed[] = { CLEAVE_TYPE (F32, 2, 3), CLEAVE_TYPE (CLEAVE_FLOAT64, 3) };
  CleaveTensorType four[] = { CLEAVE_TYPE (F32, 2, 3), CLEAVE_TYPE (F32, 4) };

  cleave_apply_fails (
      "LayerNormalization", wide, 2, 1, NULL, CLEAVE_ERROR_SHAPE,
      "LayerNormalization 'y': Scale with 2x3 does not fit the dimensions of X from axis 1 on");
  cleave_apply_fails (
      "LayerNormalization", four, 2, 1, NULL, CLEAVE_ERROR_SHAPE,
      "LayerNormalization 'y': Scale with 4 does not fit the dimensions of X from axis 1 on");
  cleave_apply_fails ("LayerNormalization", mixed, 2, 1, NULL, CLEAVE_ERROR_ELEMENT_TYPE,
                      "LayerNormalization 'y': X is float32, but Scale is float64");
  cleave_apply_fails ("LayerNormalization", wide, 2, 1, &(CleaveLayerNormAttrs){ .stash_type = 16 },
                      CLEAVE_ERROR_ATTRIBUTE,
                      "LayerNormalization 'y': stash_type must be 1, float32");
  cleave_apply_fails ("LayerNormalization", wide, 2, 4, &(CleaveLayerNormAttrs){ 0 },
                      CLEAVE_ERROR_OPTION, "LayerNormalization 'y': has 3 results, not 4");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "values", rows_are_normalized, the_bias_is_optional,
                   the_variance_does_not_cancel, a_long_row_is_as_exact_as_a_short_one, NULL);
  cleave_add_case (suite, "node", dimensions_before_the_axis_split,
                   mean_and_variance_of_any_dimensions, mistakes_are_errors, NULL);
}

CLEAVE_TEST_SUITE ("layer-norm", add_tests)
