/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Old models of uint8, compared with scalar models that compute with the unsigned integers of the
 * file. */

#include "graphs.h"
#include "run-help.h"
#include "tflite-file.h"

#include <math.h>

#define N(array) ((guint) G_N_ELEMENTS (array))
#define TFLITE_UINT8 3
#define SIDE 5
#define IN 2
#define OUT 3

#define BYTES(scale, z) .type = TFLITE_UINT8, .scales = scale, .n_scales = 1, .zero = z

/* Returns value * ratio, in the integer arithmetic of TensorFlow Lite, which rounds twice. First
 * multiplies by a 32-bit multiplier, divides by 2^31 and rounds to the nearest integer. For a small
 * ratio, then divides by a power of two and rounds again; ties go away from zero. */
static gint64
times (gint64 value, double ratio)
{
  gint shift;
  gint64 multiplier = (gint64) round (frexp (ratio, &shift) * 0x1p31), high;

  high =
      (gint64) floor (((double) (value << MAX (shift, 0)) * (double) multiplier + 0x1p30) / 0x1p31);
  return shift >= 0 ? high : (gint64) round (ldexp ((double) high, shift));
}

/* Runs a model with one input and one output of bytes. Returns the output. */
static CleaveTensor *
run (const TfliteGraph *file, CleaveTensor *x)
{
  g_autoptr (GPtrArray) inputs =
      g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  g_autoptr (GPtrArray) outputs = NULL;
  g_autoptr (GBytes) bytes = tflite_file_new (file);
  g_autoptr (CleaveGraph) graph = NULL;
  GError *error = NULL;

  graph = cleave_tflite_parse (bytes, &error);
  ck_assert_msg (graph != NULL, "%s", error == NULL ? "" : error->message);
  run_assert_same (graph, 1);
  g_ptr_array_add (inputs, cleave_tensor_ref (x));
  outputs = run_graph (graph, inputs, 1);
  ck_assert_int_eq (cleave_tensor_get_type (outputs->pdata[0])->element, CLEAVE_UINT8);
  return cleave_tensor_ref (outputs->pdata[0]);
}

static void
fill (GRand *rand, guint8 *bytes, guint n, gint lowest, gint highest)
{
  for (guint i = 0; i < n; i++)
    bytes[i] = (guint8) g_rand_int_range (rand, lowest, highest + 1);
}

/* The tests below check convolutions. */

static const float x_scale[1] = { 0.02f }, w_scale[1] = { 0.01f }, y_scale[1] = { 0.05f };

typedef struct
{
  guint8 w[OUT][3][3][IN];
  gint32 b[OUT];
  gint w_zero;
} Conv;

/* Returns the sum for one element of the result. The zero point of x is 120. Taps outside of the
 * image add nothing. */
static gint64
sum_taps (const Conv *c, const guint8 *x, gint row, gint column, gint channel)
{
  gint64 sum = c->b[channel];

  for (gint i = 0; i < 3; i++)
    for (gint j = 0; j < 3; j++)
      for (gint k = 0; k < IN; k++)
        {
          gint from_row = row + i - 1, from_column = column + j - 1;

          if (from_row >= 0 && from_row < SIDE && from_column >= 0 && from_column < SIDE)
            sum += (x[(from_row * SIDE + from_column) * IN + k] - 120) *
                   (c->w[channel][i][j][k] - c->w_zero);
        }
  return sum;
}

/* Checks a convolution of random weights from `least` to 255 with the zero point `w_zero`. Weights
 * of 200 to 255 minus the zero point 230 fit into int8. Weights of 0 to 255 minus 128, 90 or 255 do
 * not all fit. */
static void
check_conv (GRand *rand, gint w_zero, gint least)
{
  Conv c = { .w_zero = w_zero };
  const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x5x5x2", BYTES (x_scale, 120) },
    { .name = "w",
      .shape = "3x3x3x2",
      .data = c.w,
      .n_bytes = sizeof (c.w),
      BYTES (w_scale, w_zero) },
    { .name = "b", .type = TFLITE_INT32, .shape = "3", .data = c.b, .n_bytes = sizeof (c.b) },
    { .name = "y", .shape = "1x5x5x3", BYTES (y_scale, 10) },
  };
  /* padding SAME, strides of 1, activation RELU */
  const TfliteOperator op = {
    3, NULL, { 0, 1, 2 }, 3, { 3 }, 1, 1, { { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'b', 1 } }
  };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 3 }, 1, 0 };
  g_autoptr (CleaveTensor) x =
      cleave_random_tensor (&CLEAVE_TYPE (CLEAVE_UINT8, 1, SIDE, SIDE, IN), 3, FALSE);
  g_autoptr (CleaveTensor) y = NULL;
  const guint8 *values;

  fill (rand, c.w[0][0][0], sizeof (c.w), least, 255);
  for (gint i = 0; i < OUT; i++)
    c.b[i] = g_rand_int_range (rand, -2000, 2000);
  y = run (&file, x);
  values = cleave_tensor_get_data (y);
  for (gint i = 0; i < SIDE * SIDE * OUT; i++)
    {
      gint64 sum =
          sum_taps (&c, cleave_tensor_get_data (x), i / OUT / SIDE, i / OUT % SIDE, i % OUT);
      gint64 value =
          times (sum, (double) x_scale[0] * (double) w_scale[0] / (double) y_scale[0]) + 10;

      ck_assert_int_eq (values[i], CLAMP (value, 10, 255));
    }
}

START_TEST (weights_have_a_zero_point)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (3);

  for (guint i = 0; i < 10; i++)
    {
      check_conv (rand, 128, 0);
      check_conv (rand, 90, 0);
      check_conv (rand, 255, 0);
      check_conv (rand, 230, 200);
    }
}
END_TEST

/* An average of two integers that is a tie is rounded up, also below the zero point. */
START_TEST (ties_of_an_average_are_rounded_up)
{
  const TfliteTensor tensors[] = {
    { .name = "x", .shape = "1x256x2x1", BYTES (x_scale, 128) },
    { .name = "y", .shape = "1x256x1x1", BYTES (x_scale, 128) },
  };
  const TfliteOperator op = {
    1,     NULL,
    { 0 }, 1,
    { 1 }, 1,
    5,     { { 0, 'b', 1 }, { 1, 'i', 1 }, { 2, 'i', 1 }, { 3, 'i', 2 }, { 4, 'i', 1 } }
  };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_UINT8, 1, 256, 2, 1), NULL);
  g_autoptr (CleaveTensor) y = NULL;
  guint8 *values = cleave_tensor_get_mutable_data (x);
  const guint8 *means;

  for (guint i = 0; i < 256; i++)
    {
      values[2 * i] = (guint8) i;
      values[2 * i + 1] = (guint8) MIN (i + 1, 255);
    }
  y = run (&file, x);
  means = cleave_tensor_get_data (y);
  for (guint i = 0; i < 256; i++)
    ck_assert_uint_eq (means[i], MIN (i + 1, 255));
}
END_TEST

/* A CONCATENATION of parts with different scales rescales them in float32. */
START_TEST (parts_of_a_concatenation_have_scales_of_their_own)
{
  static const guint8 second[2] = { 7, 200 };
  const TfliteTensor tensors[] = {
    { .name = "x", .shape = "256", BYTES (x_scale, 100) },
    { .name = "c", .shape = "2", .data = second, .n_bytes = 2, BYTES (y_scale, 3) },
    { .name = "y", .shape = "258", BYTES (y_scale, 3) },
  };
  const TfliteOperator op = { 2, NULL, { 0, 1 }, 2, { 2 }, 1, 10, { { 0, 'i', 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 2 }, 1, 0 };
  g_autoptr (CleaveTensor) x = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_UINT8, 256), NULL);
  g_autoptr (CleaveTensor) y = NULL;
  const guint8 *parts;
  float ratio = x_scale[0] * (1.0f / y_scale[0]), bias = -100.0f * ratio;

  for (guint i = 0; i < 256; i++)
    ((guint8 *) cleave_tensor_get_mutable_data (x))[i] = (guint8) i;
  y = run (&file, x);
  parts = cleave_tensor_get_data (y);
  for (guint i = 0; i < 256; i++)
    {
      gint value = (gint) roundf ((float) i * ratio + bias) + 3;

      ck_assert_int_eq (parts[i], CLAMP (value, 0, 255));
    }
  ck_assert_mem_eq (parts + 256, second, 2);
}
END_TEST

/* A CAST of uint8 returns the integers of the file. The graph does not have these integers, since
 * the import computes a uint8 with a scale as an int8. So the import refuses the CAST. */
START_TEST (a_cast_is_refused)
{
  const TfliteTensor tensors[] = {
    { .name = "x", .shape = "2", BYTES (x_scale, 100) },
    { .name = "y", .shape = "2" },
  };
  const TfliteOperator op = { 53, NULL, { 0 }, 1, { 1 }, 1, 0, { { 0 } } };
  const TfliteGraph file = { tensors, N (tensors), &op, 1, { 0 }, 1, { 1 }, 1, 0 };
  g_autoptr (GBytes) bytes = tflite_file_new (&file);
  GError *error = NULL;

  ck_assert_ptr_null (cleave_tflite_parse (bytes, &error));
  cleave_assert_error (&error, CLEAVE_ERROR_MODEL,
                       "operator 0, CAST 'y': uint8 with a scale is not supported");
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "unsigned", weights_have_a_zero_point, ties_of_an_average_are_rounded_up,
                   parts_of_a_concatenation_have_scales_of_their_own, a_cast_is_refused, NULL);
}

CLEAVE_TEST_SUITE ("tflite unsigned", add_tests)
