/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions of one int8 value, as tables of 256 values; on int16 they are ops. */

#include <math.h>

#include "convert.h"

#include "../ops/tflite.h"

#define TABLE_SIZE 256

/* The parameters of a function. */
typedef struct
{
  CleaveTfliteScale x, y;
  CleaveTfliteFactor factor;
  gint32 radius;        /* beyond this input, the result is the smallest or largest value */
  gint64 min;           /* RELU: smallest value */
  gint32 reluish, gain; /* HARD_SWISH: factors of 16 bits */
  gint reluish_shift, gain_shift;
  float (*real) (float x); /* a function of real numbers */
} Function;

/* Returns the result for x minus its zero point. */
typedef gint64 (*Rule) (const Function *f, gint32 x);

/* Adds a TfliteLookup of input 0. */
static gboolean
set_table (CleaveTfliteImport *import, const Function *f, Rule rule, GError **error)
{
  CleaveResult *x;
  gint8 table[TABLE_SIZE];

  if (cleave_tflite_input_type (import, 0)->element != CLEAVE_INT8 ||
      cleave_tflite_output (import, 0)->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "the only integer type that is supported is int8");
  if (!cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  for (gint i = 0; i < TABLE_SIZE; i++)
    {
      gint64 value = rule (f, i + G_MININT8 - f->x.zero);

      table[i] = (gint8) CLAMP (value, G_MININT8, G_MAXINT8);
    }
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add_binary (import, "TfliteLookup", x,
                                cleave_tflite_add_data (import, CLEAVE_INT8, TABLE_SIZE, table),
                                error),
      error);
}

static gboolean
read_scales (CleaveTfliteImport *import, Function *f, GError **error)
{
  CleaveTfliteScales s;

  if (!cleave_tflite_read_scales (import, &s, error))
    return FALSE;
  f->x = s.x;
  f->y = s.y;
  return TRUE;
}

/* LOGISTIC and TANH: x in units of 2^-27 (4 bits before the binary point). */
static gboolean
read_sigmoid (CleaveTfliteImport *import, Function *f, gint32 zero, GError **error)
{
  const gint bits = 4;

  if (!read_scales (import, f, error) ||
      !cleave_tflite_read_factor ((double) f->x.scale * (double) (1 << (31 - bits)), &f->factor,
                                  error))
    return FALSE;
  if (f->y.zero != zero)
    return cleave_tflite_refuse (error, "the zero point of the output is %d, it must be %d",
                                 f->y.zero, zero);
  f->radius = (gint32) CLAMP (floor (ldexp ((1 << bits) - 1, 31 - bits - f->factor.shift)), 0, 512);
  return TRUE;
}

static gint64
bound (const Function *f, gint32 x)
{
  return x <= -f->radius ? G_MININT8 : G_MAXINT8;
}

static gint64
logistic (const Function *f, gint32 x)
{
  if (ABS (x) >= f->radius)
    return bound (f, x);
  x = cleave_fixed_multiply (x, f->factor.multiplier, f->factor.shift);
  return cleave_fixed_shift_right (cleave_fixed_logistic (x), 31 - 8) + G_MININT8;
}

static gint64
tanh_of (const Function *f, gint32 x)
{
  if (ABS (x) >= f->radius)
    return bound (f, x);
  x = cleave_fixed_multiply (x, f->factor.multiplier, f->factor.shift);
  return cleave_fixed_shift_right (cleave_fixed_tanh (x), 31 - 7);
}

/* LOGISTIC and TANH on int16: reads the factor that brings x to units of 1 / 12288. A scale of
 * 2^-12, and for TANH of 2^-11, takes no rounding; `max_power` is -12 or -11. */
static gboolean
read_sigmoid_16 (const CleaveTfliteScales *s,
                 gint max_power,
                 CleaveTfliteRescaleAttrs *a,
                 GError **error)
{
  float power = logf (s->x.scale) * (1.0f / logf (2.0f)), whole = roundf (power);
  double multiplier = (double) s->x.scale * 4096.0 * 3.0;

  if (s->x.zero != 0 || s->y.zero != 0 || roundf (log2f (s->y.scale)) != -15)
    return cleave_tflite_refuse (error,
                                 "the zero points are %d and %d and the scale of the output is %g; "
                                 "on int16 they must be 0 and 2^-15",
                                 s->x.zero, s->y.zero, (double) s->y.scale);
  if (fabsf (power - whole) < 1e-3f && whole >= -12 && whole <= (float) max_power)
    {
      a->multiplier = (gint64) 3 << (gint) (whole + 12);
      return TRUE;
    }
  for (; multiplier <= G_MAXINT16 / 2.0 && a->shift <= 30; a->shift++)
    multiplier *= 2;
  if (!(multiplier <= G_MAXINT16))
    return cleave_tflite_refuse (error, "the scale %g of the input is too large",
                                 (double) s->x.scale);
  a->multiplier = (gint64) multiplier;
  return TRUE;
}

/* Adds an op of int16 for LOGISTIC or TANH. */
static gboolean
set_sigmoid_16 (CleaveTfliteImport *import, const char *op, gint max_power, GError **error)
{
  CleaveTfliteRescaleAttrs attrs = { 0 };
  CleaveTfliteScales s;
  CleaveResult *x;

  return cleave_tflite_read_scales (import, &s, error) &&
         read_sigmoid_16 (&s, max_power, &attrs, error) &&
         cleave_tflite_find_result (import, 0, &x, error) &&
         cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, op, x, &attrs, error),
                            error);
}

static gboolean
is_16 (const CleaveTfliteImport *import)
{
  return cleave_tflite_input_type (import, 0)->element == CLEAVE_INT16;
}

gboolean
cleave_tflite_convert_integer_logistic (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };

  if (is_16 (import))
    return set_sigmoid_16 (import, "TfliteLogistic", -12, error);
  return read_sigmoid (import, &f, G_MININT8, error) && set_table (import, &f, logistic, error);
}

gboolean
cleave_tflite_convert_integer_tanh (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };

  if (is_16 (import))
    return set_sigmoid_16 (import, "TfliteTanh", -11, error);
  return read_sigmoid (import, &f, 0, error) && set_table (import, &f, tanh_of, error);
}

/* RELU rescales; the ratio of the scales is computed in float32. */

static gint64
relu (const Function *f, gint32 x)
{
  gint64 y = cleave_fixed_multiply (x, f->factor.multiplier, f->factor.shift);

  return MAX (y + f->y.zero, f->min);
}

gboolean
cleave_tflite_convert_integer_relu (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };

  if (!read_scales (import, &f, error) ||
      !cleave_tflite_read_factor ((double) (f.x.scale / f.y.scale), &f.factor, error))
    return FALSE;
  f.min = f.y.zero;
  if (is_16 (import))
    return cleave_tflite_set_rescaled (import, &(CleaveTfliteScales){ f.x, f.y }, &f.factor,
                                       &(CleaveTfliteFactor){ 0 }, error);
  return set_table (import, &f, relu, error);
}

/* RELU6 does not rescale: it clamps to the zero point, and to 6 in units of the scale. */
gboolean
cleave_tflite_convert_integer_relu6 (CleaveTfliteImport *import, GError **error)
{
  CleaveElement element = cleave_tflite_input_type (import, 0)->element;
  CleaveTfliteScale scale;
  CleaveClipAttrs attrs;
  CleaveResult *x;

  if (element != CLEAVE_INT8 && element != CLEAVE_INT16)
    return cleave_tflite_refuse (error,
                                 "the only integer types that are supported are int8 and int16");
  if (!cleave_tflite_check_same_scale (import, 0, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, 0), &scale, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  attrs.min = scale.zero;
  attrs.max = MIN ((double) roundf (6 / scale.scale) + scale.zero,
                   (double) cleave_tflite_highest (element));
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Clip", x, &attrs, error),
                            error);
}

/* ABS rescales the distance from the zero point, unless the scales are equal. On int16 it is a
 * TfliteRescale with a negative factor below 0. */

static gint64
absolute (const Function *f, gint32 x)
{
  return cleave_fixed_multiply (ABS (x), f->factor.multiplier, f->factor.shift) + f->y.zero;
}

gboolean
cleave_tflite_convert_integer_abs (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };
  CleaveTfliteFactor negative;

  if (!read_scales (import, &f, error) ||
      !cleave_tflite_read_factor ((double) (f.x.scale / f.y.scale), &f.factor, error))
    return FALSE;
  negative = (CleaveTfliteFactor){ -f.factor.multiplier, f.factor.shift };
  return is_16 (import) ? cleave_tflite_set_rescaled (import, &(CleaveTfliteScales){ f.x, f.y },
                                                      &f.factor, &negative, error)
                        : set_table (import, &f, absolute, error);
}

/* RSQRT: the largest value for the zero point, and for values below it, which have no root. */

static gint64
inverse_root (const Function *f, gint32 x)
{
  const gint bits = 20; /* bits behind the binary point of the root */
  gint32 multiplier;
  gint shift;

  if (x <= 0)
    return G_MAXINT8;
  cleave_fixed_inverse_root (x, &multiplier, &shift);
  return cleave_fixed_multiply (cleave_fixed_multiply (1, multiplier, shift + bits),
                                f->factor.multiplier, f->factor.shift - bits) +
         f->y.zero;
}

gboolean
cleave_tflite_convert_integer_rsqrt (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };

  return read_scales (import, &f, error) &&
         cleave_tflite_read_factor (1 / (double) (sqrtf (f.x.scale) * f.y.scale), &f.factor,
                                    error) &&
         set_table (import, &f, inverse_root, error);
}

/* Functions of real numbers: the real value of x, the function in float32, and the nearest integer,
 * ties away from zero. */

static gint64
real_function (const Function *f, gint32 x)
{
  float inverse = 1 / f->y.scale, rounded = roundf (f->real (f->x.scale * (float) x) * inverse);
  float value = rounded + (float) f->y.zero;

  return (gint64) CLAMP (value, -0x1p30f, 0x1p30f);
}

static gboolean
set_real_function (CleaveTfliteImport *import, float (*real) (float), GError **error)
{
  Function f = { .real = real };

  return read_scales (import, &f, error) && set_table (import, &f, real_function, error);
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

/* HARD_SWISH: x * clamp (x / 6 + 1/2, 0, 1), in 16-bit integers. */

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
hard_swish (const Function *f, gint32 x)
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

/* Reduces a multiplier to 16 bits. */
static gint32
reduce (gint32 multiplier)
{
  return multiplier >= G_MAXINT32 - (1 << 15) ? G_MAXINT16 : (multiplier + (1 << 15)) >> 16;
}

gboolean
cleave_tflite_convert_integer_hard_swish (CleaveTfliteImport *import, GError **error)
{
  const float reluish_scale = 3.0f / 32768.0f;
  Function f = { 0 };
  CleaveTfliteFactor gain, reluish;
  float fine;

  if (!read_scales (import, &f, error))
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
  return set_table (import, &f, hard_swish, error);
}
