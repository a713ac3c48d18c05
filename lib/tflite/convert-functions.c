/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts ELU, EXP, GELU, LOG and HARD_SWISH on int8: computes tables of 256 values (tables.h). */

#include <math.h>

#include "tables.h"

#include "../ops/tflite.h"

/* Computes a function on real numbers: converts the integer x to a real number, computes the
 * function in float32, and rounds to the nearest integer of the output. Ties are rounded away from
 * zero. */

static gint64
real_function (const CleaveTfliteFunction *f, gint32 x)
{
  float inverse = 1 / f->y.scale, rounded = roundf (f->real (f->x.scale * (float) x) * inverse);
  float value = rounded + (float) f->y.zero;

  return (gint64) CLAMP (value, -0x1p30f, 0x1p30f);
}

static gboolean
set_real_function (CleaveTfliteImport *import, float (*real) (float), GError **error)
{
  CleaveTfliteFunction f = { .real = real };

  return cleave_tflite_read_function (import, &f, error) &&
         cleave_tflite_set_table (import, &f, real_function, error);
}

static float
elu (float x)
{
  return x < 0 ? expf (x) - 1 : x;
}

gboolean
cleave_tflite_convert_integer_elu (CleaveTfliteImport *import, GError **error)
{
  return set_real_function (import, elu, error);
}

gboolean
cleave_tflite_convert_integer_exp (CleaveTfliteImport *import, GError **error)
{
  return set_real_function (import, expf, error);
}

/* Returns the logarithm of x. For 0 and negative x, returns a number so low that the output is the
 * smallest integer. */
static float
logarithm (float x)
{
  return x > 0 ? logf (x) : -INFINITY;
}

gboolean
cleave_tflite_convert_integer_log (CleaveTfliteImport *import, GError **error)
{
  return set_real_function (import, logarithm, error);
}

static float
gelu (float x)
{
  return 0.5f * x * erfcf (x * (float) -M_SQRT1_2);
}

static float
approximate_gelu (float x)
{
  return 0.5f * x * (1 + tanhf ((float) (M_2_SQRTPI * M_SQRT1_2) * (x + 0.044715f * x * x * x)));
}

gboolean
cleave_tflite_convert_integer_gelu (CleaveTfliteImport *import, GError **error)
{
  gint64 approximate;

  return cleave_tflite_option (import, 0, 1, 0, &approximate, error) &&
         set_real_function (import, approximate != 0 ? approximate_gelu : gelu, error);
}

/* Computes HARD_SWISH, x * clamp (x / 6 + 1/2, 0, 1), in 16-bit integers. */

static gint32
product_16 (gint32 a, gint32 b)
{
  gint64 product = (gint64) a * b;

  return (gint32) MIN ((product + (1 << 14)) >> 15, G_MAXINT16);
}

static gint32
shift_left_16 (gint32 x, gint shift)
{
  gint64 value = (gint64) x * ((gint64) 1 << MIN (shift, 31));

  return (gint32) CLAMP (value, G_MININT16, G_MAXINT16);
}

static gint64
hard_swish (const CleaveTfliteFunction *f, gint32 x)
{
  gint32 fine = (gint16) (x * (1 << 7)), gained = product_16 (fine, f->gain), r = fine;

  if (f->reluish_shift > 0)
    r = shift_left_16 (r, f->reluish_shift - 1);
  r = product_16 (r, f->reluish);
  if (f->reluish_shift > 0)
    r = shift_left_16 (r, 1);
  if (f->reluish_shift < 0)
    r = cleave_fixed_shift_right (r, MIN (-f->reluish_shift, 31));
  r = (r + (1 << 15)) >> 1;
  r = (gint32) ((gint64) r * gained / (1 << 15));
  return cleave_fixed_shift_right (r, CLAMP (-f->gain_shift, 0, 31)) + f->y.zero;
}

/* Returns the upper 16 bits of a multiplier of 32 bits, rounded, and at most 32767. */
static gint32
reduce (gint32 multiplier)
{
  return multiplier >= G_MAXINT32 - (1 << 15) ? G_MAXINT16 : (multiplier + (1 << 15)) >> 16;
}

gboolean
cleave_tflite_convert_integer_hard_swish (CleaveTfliteImport *import, GError **error)
{
  const float reluish_scale = 3.0f / 32768.0f;
  CleaveTfliteFunction f = { 0 };
  CleaveTfliteFactor gain, reluish;
  float fine;

  if (!cleave_tflite_read_function (import, &f, error))
    return FALSE;
  fine = (1.0f / 128.0f) * f.x.scale;
  if (!cleave_tflite_read_factor ((double) (fine / f.y.scale), &gain, error) ||
      !cleave_tflite_read_factor ((double) (fine / reluish_scale), &reluish, error))
    return FALSE;
  if (gain.shift > 0)
    return cleave_tflite_refuse (error, "the scale of the output is too small");
  f.gain = reduce (gain.multiplier);
  f.gain_shift = gain.shift;
  f.reluish = reduce (reluish.multiplier);
  f.reluish_shift = reluish.shift;
  return cleave_tflite_set_table (import, &f, hard_swish, error);
}
