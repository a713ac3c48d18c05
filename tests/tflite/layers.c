/* SPDX-License-Identifier: GPL-2.0-or-later */

/* SOFTMAX, BATCH_MATMUL and RESIZE_BILINEAR of TensorFlow Lite on integers, against scalar models
 * of their rules. */

#include "exact.h"

/* A SOFTMAX of rows of 9 elements is near to the softmax of real numbers. */
START_TEST (softmax_on_int16_is_close_to_the_real_one)
{
  static const float x_scale = 0x1p-12f, y_scale = 0x1p-15f;
  const TfliteTensor tensors[] = {
    { .name = "x", .type = TFLITE_INT16, .shape = "100x9", .scales = &x_scale, .n_scales = 1 },
    { .name = "y", .type = TFLITE_INT16, .shape = "100x9", .scales = &y_scale, .n_scales = 1 },
  };
  const TfliteOperator op = { 25, NULL, { 0 }, 1, { 1 }, 1, 1, { { 0, 'f', 1 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  g_autoptr (GRand) rand = g_rand_new_with_seed (16);
  g_autoptr (GBytes) bytes = NULL;
  const gint16 *y;
  gint16 x[900];

  for (guint i = 0; i < 900; i++)
    x[i] = (gint16) g_rand_int_range (rand, -20000, 20000);
  g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 100, 9), x, NULL));
  bytes = run_file (&file, inputs);
  y = g_bytes_get_data (bytes, NULL);
  for (guint line = 0; line < 100; line++)
    {
      double all = 0;

      for (guint i = 0; i < 9; i++)
        all += exp (0x1p-12 * x[9 * line + i]);
      for (guint i = 0; i < 9; i++)
        ck_assert_double_eq_tol (y[9 * line + i], 32768 * exp (0x1p-12 * x[9 * line + i]) / all,
                                 24);
    }
}
END_TEST

/* A BATCH_MATMUL has both operands transposed. Each element of the result must be the rescaled sum
 * of its integer products. */
START_TEST (matrix_products_follow_the_rule)
{
  static const Scales sets[] = { { 0.5f, 0.25f, 8, 3, -4, 5 }, { 0.013f, 0.27f, 0.9f, 7, -9, 11 } };

  for (guint i = 0; i < N (sets); i++)
    {
      const Scales *s = &sets[i];
      const TfliteTensor tensors[] = {
        { .name = "a",
          .type = TFLITE_INT8,
          .shape = "2x7x11",
          .scales = &s->a,
          .n_scales = 1,
          .zero = s->a_zero },
        { .name = "b",
          .type = TFLITE_INT8,
          .shape = "5x7",
          .scales = &s->b,
          .n_scales = 1,
          .zero = s->b_zero },
        { .name = "y",
          .type = TFLITE_INT8,
          .shape = "2x11x5",
          .scales = &s->y,
          .n_scales = 1,
          .zero = s->y_zero },
      };
      const TfliteOperator op = { 126,   NULL, { 0, 1 }, 2,
                                  { 2 }, 1,    1,        { { 0, 'b', 1 }, { 1, 'b', 1 } } };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 2 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;
      const gint8 *a, *b, *y;
      Ratio ratio = ratio_of ((double) (s->a * s->b) / (double) s->y);

      g_ptr_array_add (inputs,
                       cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 2, 7, 11), i, FALSE));
      g_ptr_array_add (inputs,
                       cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_INT8, 5, 7), i + 9, FALSE));
      bytes = run_file (&file, inputs);
      a = cleave_tensor_get_data (inputs->pdata[0]);
      b = cleave_tensor_get_data (inputs->pdata[1]);
      y = g_bytes_get_data (bytes, NULL);
      for (gint at = 0; at < 110; at++)
        {
          gint64 all = 0, model;

          for (gint k = 0; k < 7; k++)
            all += (a[(at / 55) * 77 + k * 11 + at / 5 % 11] - s->a_zero) *
                   (b[at % 5 * 7 + k] - s->b_zero);
          model = times (all, ratio) + s->y_zero;
          ck_assert_int_eq (y[at], CLAMP (model, G_MININT8, G_MAXINT8));
        }
    }
}
END_TEST

static gint
integer_at (gconstpointer integers, gboolean is_byte, gint i)
{
  return is_byte ? ((const gint8 *) integers)[i] : ((const gint16 *) integers)[i];
}

/* Checks a RESIZE_BILINEAR by 2, with half_pixel_centers. Along each dimension, a result is 1/4 of
 * one neighbor and 3/4 of the other. Ties are rounded away from zero. */
static void
check_bilinear (CleaveElement element)
{
  static const float scale = 0.1f;
  static const gint32 size[2] = { 6, 8 };
  gboolean is_byte = element == CLEAVE_INT8;
  gint type = is_byte ? TFLITE_INT8 : TFLITE_INT16, zero = is_byte ? 9 : 0;
  const TfliteTensor tensors[] = {
    { .name = "x",
      .type = type,
      .shape = "1x3x4x5",
      .scales = &scale,
      .n_scales = 1,
      .zero = zero },
    { .name = "size", .type = TFLITE_INT32, .shape = "2", .data = size, .n_bytes = 8 },
    { .name = "y",
      .type = type,
      .shape = "1x6x8x5",
      .scales = &scale,
      .n_scales = 1,
      .zero = zero },
  };
  const TfliteOperator op = { 23, NULL, { 0, 1 }, 2, { 2 }, 1, 1, { { 3, 'b', 1 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 2 }, 1, 0 };
  g_autoptr (GPtrArray) inputs = tensors_new ();
  g_autoptr (GBytes) bytes = NULL;
  gconstpointer x, y;

  g_ptr_array_add (inputs, cleave_random_tensor (&CLEAVE_TYPE (element, 1, 3, 4, 5), 1, FALSE));
  bytes = run_file (&file, inputs);
  x = cleave_tensor_get_data (inputs->pdata[0]);
  y = g_bytes_get_data (bytes, NULL);
  for (gint at = 0; at < 6 * 8 * 5; at++)
    {
      gint row = at / 40, column = at / 5 % 8, c = at % 5, all = 0;

      for (gint tap = 0; tap < 4; tap++)
        {
          gint near = tap / 2 == 0 ? row / 2 : row / 2 + (row % 2 == 0 ? -1 : 1);
          gint beside = tap % 2 == 0 ? column / 2 : column / 2 + (column % 2 == 0 ? -1 : 1);

          all += (tap / 2 == 0 ? 3 : 1) * (tap % 2 == 0 ? 3 : 1) *
                 integer_at (x, is_byte, (CLAMP (near, 0, 2) * 4 + CLAMP (beside, 0, 3)) * 5 + c);
        }
      ck_assert_int_eq (integer_at (y, is_byte, at), (gint) shift_right (all, 4));
    }
}

START_TEST (bilinear_resizes_follow_the_rule)
{
  check_bilinear (CLEAVE_INT8);
  check_bilinear (CLEAVE_INT16);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "rules", softmax_on_int16_is_close_to_the_real_one,
                   matrix_products_follow_the_rule, bilinear_resizes_follow_the_rule, NULL);
}

CLEAVE_TEST_SUITE ("tflite-layers", add_tests)
