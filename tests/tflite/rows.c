/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Operators of TensorFlow Lite on rows of int8. L2_NORMALIZATION and LOG_SOFTMAX are compared with
 * the functions of real numbers and with bytes of the reference kernels. ADD_N and CUMSUM are
 * compared with scalar models. */

#include "exact.h"

enum { L2_NORMALIZATION = 11, LOG_SOFTMAX = 50, ADD_N = 106, CUMSUM = 128 };

#define COLUMNS 12

/* Runs an operator on rows; the caller frees the bytes of the result. */
static GBytes *
run_rows (gint code, float scale, gint zero, const gint8 *x, gint64 n_rows)
{
  static const float unit[2] = { 1.0f / 128, 1.0f / 16 };
  gboolean is_log = code == LOG_SOFTMAX;
  g_autofree char *shape = g_strdup_printf ("%dx%d", (int) n_rows, COLUMNS);
  const TfliteTensor tensors[] = {
    { .name = "x",
      .type = TFLITE_INT8,
      .shape = shape,
      .scales = &scale,
      .n_scales = 1,
      .zero = zero },
    { .name = "y",
      .type = TFLITE_INT8,
      .shape = shape,
      .scales = &unit[is_log],
      .n_scales = 1,
      .zero = is_log ? 127 : 0 },
  };
  const TfliteOperator op = { code, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();

  g_ptr_array_add (inputs,
                   cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, n_rows, COLUMNS), x, NULL));
  return run_file (&file, inputs);
}

static const struct
{
  gint code;
  float scale;
  gint zero;
  gint8 x[COLUMNS], y[COLUMNS];
} golden[] = {
  { L2_NORMALIZATION,
    0.05f,
    3,
    { 113, 32, 47, 101, 20, 70, 85, -71, -114, -52, -56, 95 },
    { 53, 14, 21, 47, 8, 32, 40, -36, -57, -27, -29, 44 } },
  { L2_NORMALIZATION,
    0.5f,
    -128,
    { -120, -128, -124, -121, -127, -121, -127, -124, -121, -126, -125, -126 },
    { 63, 0, 32, 55, 8, 55, 8, 32, 55, 16, 24, 16 } },
  { L2_NORMALIZATION,
    0.01f,
    -1,
    { 0, -2, 0, -1, -1, -1, -1, -1, -1, 0, 0, 0 },
    { 52, -52, 52, 0, 0, 0, 0, 0, 0, 52, 52, 52 } },
  { L2_NORMALIZATION,
    0.1f,
    17,
    { 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17, 17 },
    { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 } },
  { LOG_SOFTMAX,
    0.1f,
    3,
    { 51, 31, -41, 125, -9, -73, 88, -87, 91, 28, -99, -117 },
    { 8, -24, -128, 126, -88, -128, 67, -128, 72, -29, -128, -128 } },
  { LOG_SOFTMAX,
    0.02f,
    0,
    { -15, -119, -92, 3, 120, -9, 78, 106, 82, 33, -16, 3 },
    { 65, 32, 40, 71, 108, 67, 95, 104, 96, 80, 65, 71 } },
  { LOG_SOFTMAX,
    0.0625f,
    -5,
    { 107, 113, 110, 106, 127, 100, 102, 105, 127, 119, 124, 105 },
    { 79, 85, 82, 78, 99, 72, 74, 77, 99, 91, 96, 77 } },
  { LOG_SOFTMAX,
    1.5f,
    0,
    { 9, -5, 0, -20, 5, 14, 7, -14, 1, -10, 19, 16 },
    { -113, -128, -128, -128, -128, 7, -128, -128, -128, -128, 127, 55 } },
};

START_TEST (rows_have_the_bytes_of_the_reference_kernels)
{
  for (guint i = 0; i < N (golden); i++)
    {
      g_autoptr (GBytes) bytes =
          run_rows (golden[i].code, golden[i].scale, golden[i].zero, golden[i].x, 1);

      ck_assert_mem_eq (g_bytes_get_data (bytes, NULL), golden[i].y, COLUMNS);
    }
}
END_TEST

static double
log_softmax (const double *x, guint at)
{
  double sum = 0;

  for (guint i = 0; i < COLUMNS; i++)
    sum += exp (x[i]);
  return 127 + 16 * (x[at] - log (sum));
}

static double
l2_normalized (const double *x, guint at)
{
  double sum = 0;

  for (guint i = 0; i < COLUMNS; i++)
    sum += x[i] * x[i];
  return sum == 0 ? 0 : 128 * x[at] / sqrt (sum);
}

/* The operators also round intermediate results, so results may differ by one from the functions of
 * real numbers. */
START_TEST (rows_are_near_to_the_real_functions)
{
  static const gint codes[2] = { L2_NORMALIZATION, LOG_SOFTMAX };
  static const float scales[] = { 0.004f, 0.05f, 0.3f };
  const gint64 n_rows = 200;
  const gint zero = 9;
  g_autoptr (CleaveTensor) x =
      cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, n_rows, COLUMNS), 5, FALSE);
  const gint8 *from = cleave_tensor_get_data (x);

  for (guint c = 0; c < 2 * N (scales); c++)
    {
      float scale = scales[c / 2];
      g_autoptr (GBytes) bytes = run_rows (codes[c % 2], scale, zero, from, n_rows);
      const gint8 *y = g_bytes_get_data (bytes, NULL);

      for (guint i = 0; i < n_rows * COLUMNS; i++)
        {
          const gint8 *row = from + i - i % COLUMNS;
          double real[COLUMNS], model;

          for (guint k = 0; k < COLUMNS; k++)
            real[k] = (double) scale * (row[k] - zero);
          model = (c % 2 == 0 ? l2_normalized : log_softmax) (real, i % COLUMNS);
          ck_assert_msg (fabs (y[i] - CLAMP (model, G_MININT8, G_MAXINT8)) <= 1,
                         "operator %d, scale %g: %d, not %g", codes[c % 2], (double) scale, y[i],
                         model);
        }
    }
}
END_TEST

/* Returns the expected result of ADD_N or CUMSUM. `sum` is a sum of differences: element minus zero
 * point. The operator subtracts the zero point from `sum` a second time. Then the operator rescales
 * the sum in units of 2^-19 times the scale of the operands. */
static gint8
rescaled_sum (const Scales *s, gint64 sum)
{
  gint64 y = times ((sum - s->a_zero) * (1 << 19),
                    ratio_of (2 * (double) s->a / ((1 << 20) * (double) s->y)));

  return (gint8) CLAMP (y + s->y_zero, G_MININT8, G_MAXINT8);
}

static const Scales sum_scales[] = {
  { 0.5f, 0, 0.5f, 0, 0, 0 },
  { 0.25f, 0, 1, 3, 0, -4 },
  { 0.013f, 0, 0.05f, -7, 0, 11 },
};

START_TEST (sums_of_many_operands_follow_the_rule)
{
  enum { N_OPERANDS = 3, EXTENT = 500 };

  for (guint i = 0; i < N (sum_scales); i++)
    {
      const Scales *s = &sum_scales[i];
#define OPERAND(label)                                                                             \
  {                                                                                                \
    .name = label, .type = TFLITE_INT8, .shape = "500", .scales = &s->a, .n_scales = 1,            \
    .zero = s->a_zero                                                                              \
  }
      const TfliteTensor tensors[] = {
        OPERAND ("a"),
        OPERAND ("b"),
        OPERAND ("c"),
        { .name = "y",
          .type = TFLITE_INT8,
          .shape = "500",
          .scales = &s->y,
          .n_scales = 1,
          .zero = s->y_zero },
      };
#undef OPERAND
      const TfliteOperator op = { ADD_N, NULL, { 0, 1, 2 }, N_OPERANDS, { 3 }, 1, 0, { { 0 } } };
      const TfliteGraph file = {
        tensors, N (tensors), &op, 1, { 0, 1, 2 }, N_OPERANDS, { 3 }, 1, 0
      };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;

      for (guint k = 0; k < N_OPERANDS; k++)
        g_ptr_array_add (
            inputs, cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, EXTENT), 3 * i + k, FALSE));
      bytes = run_file (&file, inputs);
      for (guint at = 0; at < EXTENT; at++)
        {
          gint64 sum = 0;

          for (guint k = 0; k < N_OPERANDS; k++)
            sum += ((const gint8 *) cleave_tensor_get_data (inputs->pdata[k]))[at] - s->a_zero;
          ck_assert_int_eq (((const gint8 *) g_bytes_get_data (bytes, NULL))[at],
                            rescaled_sum (s, sum));
        }
    }
}
END_TEST

START_TEST (running_sums_follow_the_rule)
{
  static const gint32 axis[1] = { 1 };
  enum { ROWS = 40 };

  for (guint i = 0; i < 4 * N (sum_scales); i++)
    {
      const Scales *s = &sum_scales[i / 4];
      gboolean exclusive = i % 2, reverse = i / 2 % 2;
      const TfliteTensor tensors[] = {
        { .name = "x",
          .type = TFLITE_INT8,
          .shape = "40x12",
          .scales = &s->a,
          .n_scales = 1,
          .zero = s->a_zero },
        { .name = "axis", .type = TFLITE_INT32, .shape = "", .data = axis, .n_bytes = 4 },
        { .name = "y",
          .type = TFLITE_INT8,
          .shape = "40x12",
          .scales = &s->y,
          .n_scales = 1,
          .zero = s->y_zero },
      };
      const TfliteOperator op = {
        CUMSUM, NULL, { 0, 1 }, 2, { 2 }, 1, 1, { { 0, 'b', exclusive }, { 1, 'b', reverse } }
      };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 2 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;
      const gint8 *x, *y;

      g_ptr_array_add (inputs,
                       cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, ROWS, COLUMNS), i, FALSE));
      bytes = run_file (&file, inputs);
      x = cleave_tensor_get_data (inputs->pdata[0]);
      y = g_bytes_get_data (bytes, NULL);
      for (guint row = 0; row < ROWS; row++)
        {
          gint64 sum = 0;

          for (guint k = 0; k < COLUMNS; k++)
            {
              guint at = row * COLUMNS + (reverse ? COLUMNS - 1 - k : k);
              gint64 before = sum;

              sum += x[at] - s->a_zero;
              ck_assert_int_eq (y[at], rescaled_sum (s, exclusive ? before : sum));
            }
        }
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "rows", rows_have_the_bytes_of_the_reference_kernels,
                   rows_are_near_to_the_real_functions, sums_of_many_operands_follow_the_rule,
                   running_sums_follow_the_rule, NULL);
}

CLEAVE_TEST_SUITE ("tflite-rows", add_tests)
