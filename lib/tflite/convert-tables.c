/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Functions of one int8 value, as tables of 256 values, and the exponentials of SOFTMAX. */

#include <math.h>

#include "convert.h"

#include "../ops/tflite.h"

#define TABLE_SIZE 256

/* The parameters of a function. */
typedef struct
{
  CleaveTfliteScale x, y;
  CleaveTfliteFactor factor;
  gint32 radius;        /* beyond it the result is the smallest or largest value */
  gint64 min;           /* RELU: smallest value */
  gint32 reluish, gain; /* HARD_SWISH: factors of 16 bits */
  gint reluish_shift, gain_shift;
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

gboolean
cleave_tflite_convert_integer_logistic (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };

  return read_sigmoid (import, &f, G_MININT8, error) && set_table (import, &f, logistic, error);
}

gboolean
cleave_tflite_convert_integer_tanh (CleaveTfliteImport *import, GError **error)
{
  Function f = { 0 };

  return read_sigmoid (import, &f, 0, error) && set_table (import, &f, tanh_of, error);
}

/* RELU rescales; the ratio of the scales is that of float32. */

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
  return set_table (import, &f, relu, error);
}

/* RELU6 does not rescale: it clamps to the zero point, and to 6 in units of the scale. */
gboolean
cleave_tflite_convert_integer_relu6 (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteScale scale;
  CleaveClipAttrs attrs;
  CleaveResult *x;

  if (cleave_tflite_input_type (import, 0)->element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "the only integer type that is supported is int8");
  if (!cleave_tflite_check_same_scale (import, 0, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, 0), &scale, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  attrs.min = scale.zero;
  attrs.max = MIN ((double) roundf (6 / scale.scale) + scale.zero, G_MAXINT8);
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Clip", x, &attrs, error),
                            error);
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

/* SOFTMAX */

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

gboolean
cleave_tflite_convert_integer_softmax (CleaveTfliteImport *import, GError **error)
{
  const gint bits = 5; /* integer bits of a difference */
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, 0);
  CleaveCastAttrs attrs = { cleave_tflite_output (import, 0)->type.element };
  gint32 table[TABLE_SIZE];
  CleaveTfliteScale scale;
  CleaveTfliteFactor factor;
  CleaveResult *x;
  float beta;
  double real;

  if (tensor->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "the only integer type that is supported is int8");
  if (!cleave_tflite_option_float (import, 0, 0, &beta, error) ||
      !cleave_tflite_read_scale (tensor, &scale, error) ||
      !check_softmax_scale (cleave_tflite_output (import, 0), error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  real = MIN ((double) beta * (double) scale.scale * (1 << (31 - bits)), 0x1p31 - 1);
  if (!(real > 1))
    return cleave_tflite_refuse (error, "beta %g times the scale %g is too small", (double) beta,
                                 (double) scale.scale);
  /* The largest ratio has the shift 31, which is legal here. */
  if (real >= 0x1p30)
    factor = (CleaveTfliteFactor){ (gint32) MIN (round (real), G_MAXINT32), 31 };
  else if (!cleave_tflite_read_factor (real, &factor, error))
    return FALSE;
  for (gint d = 0; d < TABLE_SIZE; d++)
    table[d] =
        d > ldexp ((1 << bits) - 1, 31 - bits - factor.shift)
            ? 0
            : cleave_fixed_exp (cleave_fixed_multiply (-d, factor.multiplier, factor.shift), bits);
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (
          import, "TfliteSoftmax",
          (CleaveResult *[]){ x, cleave_tflite_add_data (import, CLEAVE_INT32, TABLE_SIZE, table) },
          2, &attrs, error),
      error);
}
