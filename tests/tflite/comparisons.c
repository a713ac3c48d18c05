/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tests the comparison operators of TensorFlow Lite on all pairs of int8 values, and on six pairs
 * of int16 values. */

#include "exact.h"

/* Comparisons compare the real values of the integers. The scales are exact in fixed point. */
START_TEST (comparisons_compare_real_values)
{
  static const gint codes[] = { 58, 61, 62, 63, 71, 72 };
  static const Scales s = { 0.25f, 0.5f, 1, 3, -5, 0 };

  for (guint c = 0; c < N (codes); c++)
    {
      TfliteTensor tensors[] = {
        { .name = "a",
          .type = TFLITE_INT8,
          .shape = "256x1",
          .scales = &s.a,
          .n_scales = 1,
          .zero = s.a_zero },
        { .name = "b",
          .type = TFLITE_INT8,
          .shape = "256",
          .scales = &s.b,
          .n_scales = 1,
          .zero = s.b_zero },
        { .name = "y", .type = TFLITE_BOOL, .shape = "256x256" },
      };
      const TfliteOperator op = { codes[c], NULL, { 0, 1 }, 2, { 2 }, 1, 0, { { 0 } } };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 2 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;
      const guint8 *y;
      gint8 all[256];

      for (gint i = 0; i < 256; i++)
        all[i] = (gint8) (i - 128);
      g_ptr_array_add (inputs,
                       cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 256, 1), all, NULL));
      g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT8, 256), all, NULL));
      bytes = run_file (&file, inputs);
      y = g_bytes_get_data (bytes, NULL);
      for (gint i = 0; i < 256; i++)
        for (gint j = 0; j < 256; j++)
          {
            double a = 0.25 * (i - 128 - 3), b = 0.5 * (j - 128 + 5);
            const gboolean expected[] = { a<b, a> b, a >= b, a <= b, a == b, a != b };

            cleave_assert (y[i * 256 + j] == expected[c]);
          }
    }
}
END_TEST

/* Comparisons of int16 need operands with the same scale. */
START_TEST (comparisons_of_words_compare_integers)
{
  static const gint codes[] = { 58, 61, 62, 63, 71, 72 };
  static const float scales[2] = { 0.25f, 0.5f };
  const gint16 a[6] = { -32768, -1, 5, 5, 32767, 300 }, b[6] = { 32767, -1, 4, 5, 32766, -300 };

  for (guint c = 0; c < 2 * N (codes); c++)
    {
      const TfliteTensor tensors[] = {
        { .name = "a", .type = TFLITE_INT16, .shape = "6", .scales = &scales[0], .n_scales = 1 },
        { .name = "b",
          .type = TFLITE_INT16,
          .shape = "6",
          .scales = &scales[c % 2],
          .n_scales = 1 },
        { .name = "y", .type = TFLITE_BOOL, .shape = "6" },
      };
      const TfliteOperator op = { codes[c / 2], NULL, { 0, 1 }, 2, { 2 }, 1, 0, { { 0 } } };
      const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0, 1 }, 2, { 2 }, 1, 0 };
      g_autoptr (GPtrArray) inputs = tensors_new ();
      g_autoptr (GBytes) bytes = NULL;

      if (c % 2 != 0)
        {
          g_autoptr (GBytes) other = tflite_file_new (&file);
          g_autoptr (GError) error = NULL;

          ck_assert_ptr_null (cleave_tflite_parse (other, &error));
          ck_assert_ptr_nonnull (strstr (error->message, "scales 0.25 and 0.5"));
          continue;
        }
      g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 6), a, NULL));
      g_ptr_array_add (inputs, cleave_tensor_new_copy (&CLEAVE_TYPE (CLEAVE_INT16, 6), b, NULL));
      bytes = run_file (&file, inputs);
      for (guint i = 0; i < 6; i++)
        {
          const gboolean expected[] = { a[i]<b[i], a[i]> b[i], a[i] >= b[i], a[i] <= b[i],
                                        a[i] == b[i], a[i] != b[i] };

          ck_assert_int_eq (((const guint8 *) g_bytes_get_data (bytes, NULL))[i], expected[c / 2]);
        }
    }
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "comparisons", comparisons_compare_real_values,
                   comparisons_of_words_compare_integers, NULL);
}

CLEAVE_TEST_SUITE ("tflite-comparisons", add_tests)
