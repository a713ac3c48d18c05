/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION on integers. SOFTMAX and LOG_SOFTMAX use a
 * table of exponentials. SOFTMAX on int16 also uses a table of reciprocals. */

#include <math.h>

#include "convert.h"

#include "../ops/tflite.h"

#define TABLE_SIZE 256

static gboolean
check_softmax_scale (const CleaveTfliteTensor *y, GError **error)
{
  CleaveTfliteScale scale;

  if (!cleave_tflite_read_scale (y, &scale, error))
    return FALSE;
  if (y->type.element == CLEAVE_INT8 && scale.scale == 1.0f / 256 && scale.zero == G_MININT8)
    return TRUE;
  if (y->type.element == CLEAVE_INT16 && fabsf (scale.scale - 1.0f / 65536) < 1e-3f / 65536 &&
      scale.zero == G_MININT16)
    return TRUE;
  return cleave_tflite_refuse (error,
                               "the output has the scale %g and the zero point %d; of int8 they "
                               "must be 1/256 and -128, of int16 1/65536 and -32768",
                               (double) scale.scale, scale.zero);
}

/* Number of steps of the tables of SOFTMAX on int16. Between two entries, the kernel interpolates.
 * Each entry is corrected by half of the interpolation error in the middle of the following
 * step. */
#define STEPS 512

/* Fills a table with values of `function`, in units of 2^-15, at STEPS + 1 positions from `min` to
 * `max`. */
static void
fill_steps (float (*function) (float), float min, float max, gint16 *table)
{
  const float step = (max - min) / STEPS, half = step / 2;
  const float scale = 65536 / (2.0f / 65535 * G_MAXINT16 - 2.0f / 65535 * G_MININT16);

  for (gint i = 0; i < STEPS; i++)
    {
      float at = min + (float) i * step, value = roundf (function (at) * scale);
      float next = function (min + (float) (i + 1) * step) * scale;
      float middle = roundf ((next + value) / 2);
      float error = middle - roundf (function (at + half) * scale);

      table[i] = (gint16) CLAMP (value - roundf (error / 2), G_MININT16, G_MAXINT16);
    }
  table[STEPS] = (gint16) CLAMP (roundf (function (max) * scale), G_MININT16, G_MAXINT16);
}

static float
one_over_one_plus (float x)
{
  return 1 / (1 + x);
}

static gboolean
convert_softmax_16 (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteRescaleAttrs attrs = { 0 };
  CleaveTfliteScales s;
  CleaveTfliteFactor factor;
  gint16 exponentials[STEPS + 1], reciprocals[STEPS + 1];
  CleaveResult *x;
  float beta;

  if (!cleave_tflite_option_float (import, 0, 0, &beta, error) ||
      !cleave_tflite_read_scales (import, &s, error) ||
      !cleave_tflite_read_factor ((double) s.x.scale * (double) beta / (10.0 / 65535.0), &factor,
                                  error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (s.x.zero != 0 || s.y.zero != 0 || fabsf (s.y.scale - 0x1p-15f) > 1e-3f * 0x1p-15f)
    return cleave_tflite_refuse (error,
                                 "the zero points are %d and %d and the scale of the output is %g; "
                                 "on int16 they must be 0 and 2^-15",
                                 s.x.zero, s.y.zero, (double) s.y.scale);
  fill_steps (expf, 10.0f / 65535 * -65535, 0, exponentials);
  fill_steps (one_over_one_plus, 0, 1.0f / 65535 * 65535, reciprocals);
  attrs.multiplier = factor.multiplier;
  attrs.shift = factor.shift;
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (
          import, "TfliteSoftmax16",
          (CleaveResult *[]){
              x, cleave_tflite_add_data (import, CLEAVE_INT16, STEPS + 1, exponentials),
              cleave_tflite_add_data (import, CLEAVE_INT16, STEPS + 1, reciprocals) },
          3, &attrs, error),
      error);
}

/* A difference of two elements is a fixed-point int32 with a sign, 5 bits before the binary point
 * and 26 bits after it. */
#define BITS 5

/* Fills `table`: entry i is for an element whose integer is i (0 to 255) below the maximum, and
 * holds -i * scale * beta in units of 2^-26. A number below the range of the exponential becomes
 * the smallest int32. `factor` is scale * beta in these units. */
static gboolean
fill_differences (
    float scale, float beta, gint32 *table, CleaveTfliteFactor *factor, GError **error)
{
  double real = MIN ((double) beta * (double) scale * (1 << (31 - BITS)), 0x1p31 - 1);

  if (!(real > 1))
    return cleave_tflite_refuse (error, "beta %g times the scale %g is too small", (double) beta,
                                 (double) scale);
  /* cleave_tflite_read_factor() refuses a shift of 31, but the kernel of SOFTMAX supports it */
  if (real >= 0x1p30)
    *factor = (CleaveTfliteFactor){ (gint32) MIN (round (real), G_MAXINT32), 31 };
  else if (!cleave_tflite_read_factor (real, factor, error))
    return FALSE;
  for (gint d = 0; d < TABLE_SIZE; d++)
    table[d] = d > ldexp ((1 << BITS) - 1, 31 - BITS - factor->shift)
                   ? G_MININT32
                   : cleave_fixed_multiply (-d, factor->multiplier, factor->shift);
  return TRUE;
}

/* Returns exp (difference) in units of 2^-31; 0 for the smallest int32. */
static gint32
exponential_of (gint32 difference)
{
  return difference == G_MININT32 ? 0 : cleave_fixed_exp (difference, BITS);
}

gboolean
cleave_tflite_convert_integer_softmax (CleaveTfliteImport *import, GError **error)
{
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, 0);
  CleaveCastAttrs attrs = { cleave_tflite_output (import, 0)->type.element };
  gint32 table[TABLE_SIZE];
  CleaveTfliteScale scale;
  CleaveTfliteFactor factor;
  CleaveResult *x;
  float beta;

  if (cleave_tflite_input_type (import, 0)->element == CLEAVE_INT16)
    return convert_softmax_16 (import, error);
  if (tensor->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error,
                                 "the only integer types that are supported are int8 and int16");
  if (!cleave_tflite_option_float (import, 0, 0, &beta, error) ||
      !cleave_tflite_read_scale (tensor, &scale, error) ||
      !check_softmax_scale (cleave_tflite_output (import, 0), error) ||
      !fill_differences (scale.scale, beta, table, &factor, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  for (gint d = 0; d < TABLE_SIZE; d++)
    table[d] = exponential_of (table[d]);
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (
          import, "TfliteSoftmax",
          (CleaveResult *[]){ x, cleave_tflite_add_data (import, CLEAVE_INT32, TABLE_SIZE, table) },
          2, &attrs, error),
      error);
}

/* Checks that input and output are int8, and that the output has the scale `scale` and the zero
 * point `zero`, which the kernel assumes. Sets the error if not. */
static gboolean
check_bytes (CleaveTfliteImport *import, float scale, gint zero, GError **error)
{
  CleaveTfliteScale y;

  if (cleave_tflite_input_type (import, 0)->element != CLEAVE_INT8 ||
      cleave_tflite_output (import, 0)->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "the only integer type that is supported is int8");
  if (!cleave_tflite_read_scale (cleave_tflite_output (import, 0), &y, error))
    return FALSE;
  return (y.scale == scale && y.zero == zero) ||
         cleave_tflite_refuse (
             error, "the output has the scale %g and the zero point %d; they must be %g and %d",
             (double) y.scale, y.zero, (double) scale, zero);
}

/* Converts LOG_SOFTMAX on integers. The kernel reads a table of differences (fill_differences()), a
 * table of exponentials in units of 2^-19, and the factor that converts a difference back to
 * integers of the input. */
gboolean
cleave_tflite_convert_integer_log_softmax (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteRescaleAttrs attrs = { 0 };
  gint32 differences[TABLE_SIZE], exponentials[TABLE_SIZE];
  CleaveTfliteFactor factor, inverse;
  CleaveTfliteScale scale;
  CleaveResult *x;

  if (!check_bytes (import, 1.0f / 16, G_MAXINT8, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, 0), &scale, error) ||
      !fill_differences (scale.scale, 1, differences, &factor, error) ||
      !cleave_tflite_read_factor (ldexp (1.0 / factor.multiplier, 31 - factor.shift), &inverse,
                                  error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  for (gint d = 0; d < TABLE_SIZE; d++)
    exponentials[d] = cleave_fixed_shift_right (exponential_of (differences[d]), 31 - 19);
  attrs.multiplier = inverse.multiplier;
  attrs.shift = inverse.shift;
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (
          import, "TfliteLogSoftmax",
          (CleaveResult *[]){
              x, cleave_tflite_add_data (import, CLEAVE_INT32, TABLE_SIZE, differences),
              cleave_tflite_add_data (import, CLEAVE_INT32, TABLE_SIZE, exponentials) },
          3, &attrs, error),
      error);
}

gboolean
cleave_tflite_convert_integer_l2_normalization (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteRescaleAttrs attrs = { 0 };
  CleaveTfliteScale scale;
  gint64 activation;
  CleaveResult *x;

  if (!check_bytes (import, 1.0f / 128, 0, error) ||
      !cleave_tflite_option (import, 0, 1, 0, &activation, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, 0), &scale, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (activation != CLEAVE_TFLITE_NONE)
    return cleave_tflite_refuse (error, "an activation on integers is not supported");
  attrs.x_zero = scale.zero;
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_unary (import, "TfliteL2Normalize", x, &attrs, error), error);
}
