/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts functions of one element. On int8, a function becomes a table of 256 values (tables.h);
 * on int16, it becomes an op. */

#include <math.h>

#include "tables.h"

#include "../ops/tflite.h"

#define TABLE_SIZE 256

gboolean
cleave_tflite_set_table (CleaveTfliteImport *import,
                         const CleaveTfliteFunction *f,
                         CleaveTfliteRule rule,
                         GError **error)
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

gboolean
cleave_tflite_read_function (CleaveTfliteImport *import, CleaveTfliteFunction *f, GError **error)
{
  CleaveTfliteScales s;

  if (!cleave_tflite_read_scales (import, &s, error))
    return FALSE;
  f->x = s.x;
  f->y = s.y;
  return TRUE;
}

/* Reads the parameters of LOGISTIC and TANH on int8. Sets `f->factor` to the factor that converts x
 * to a fixed-point int32: a sign, 4 bits before and 27 bits after the binary point. */
static gboolean
read_sigmoid (CleaveTfliteImport *import, CleaveTfliteFunction *f, gint32 zero, GError **error)
{
  const gint bits = 4;

  if (!cleave_tflite_read_function (import, f, error) ||
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
bound (const CleaveTfliteFunction *f, gint32 x)
{
  return x <= -f->radius ? G_MININT8 : G_MAXINT8;
}

static gint64
logistic (const CleaveTfliteFunction *f, gint32 x)
{
  if (ABS (x) >= f->radius)
    return bound (f, x);
  x = cleave_fixed_multiply (x, f->factor.multiplier, f->factor.shift);
  return cleave_fixed_shift_right (cleave_fixed_logistic (x), 31 - 8) + G_MININT8;
}

static gint64
tanh_of (const CleaveTfliteFunction *f, gint32 x)
{
  if (ABS (x) >= f->radius)
    return bound (f, x);
  x = cleave_fixed_multiply (x, f->factor.multiplier, f->factor.shift);
  return cleave_fixed_shift_right (cleave_fixed_tanh (x), 31 - 7);
}

/* Reads the factor that converts x to units of 1 / 12288, for LOGISTIC and TANH on int16. If the
 * scale of x is 2^-12, or 2^-11 for TANH (`max_power` -11), the factor is an integer and nothing is
 * rounded. */
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

/* Adds the op `op`, LOGISTIC or TANH on int16, and sets output 0. */
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
  CleaveTfliteFunction f = { 0 };

  if (is_16 (import))
    return set_sigmoid_16 (import, "TfliteLogistic", -12, error);
  return read_sigmoid (import, &f, G_MININT8, error) &&
         cleave_tflite_set_table (import, &f, logistic, error);
}

gboolean
cleave_tflite_convert_integer_tanh (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteFunction f = { 0 };

  if (is_16 (import))
    return set_sigmoid_16 (import, "TfliteTanh", -11, error);
  return read_sigmoid (import, &f, 0, error) &&
         cleave_tflite_set_table (import, &f, tanh_of, error);
}

/* Returns RELU of x: rescales x by the ratio of the scales. The ratio is computed in float32. */

static gint64
relu (const CleaveTfliteFunction *f, gint32 x)
{
  gint64 y = cleave_fixed_multiply (x, f->factor.multiplier, f->factor.shift);

  return CLAMP (y + f->y.zero, f->min, f->max);
}

/* Converts an operator that clamps a real number to [min, max], such as RELU. */
static gboolean
convert_relu (CleaveTfliteImport *import, float min, float max, GError **error)
{
  const float beyond = 1 << 20; /* exceeds all real results, so it stands for no upper bound */
  CleaveTfliteFunction f = { 0 };

  if (!cleave_tflite_read_function (import, &f, error) ||
      !cleave_tflite_read_factor ((double) (f.x.scale / f.y.scale), &f.factor, error))
    return FALSE;
  f.min = f.y.zero + (gint64) MAX (roundf (min / f.y.scale), -beyond);
  f.max = f.y.zero + (gint64) MIN (roundf (max / f.y.scale), beyond);
  if (is_16 (import) && max == INFINITY)
    return cleave_tflite_set_rescaled (import, &(CleaveTfliteScales){ f.x, f.y }, &f.factor,
                                       &(CleaveTfliteFactor){ 0 }, error);
  return cleave_tflite_set_table (import, &f, relu, error);
}

gboolean
cleave_tflite_convert_integer_relu (CleaveTfliteImport *import, GError **error)
{
  return convert_relu (import, 0, INFINITY, error);
}

gboolean
cleave_tflite_convert_integer_relu_n1_to_1 (CleaveTfliteImport *import, GError **error)
{
  return convert_relu (import, -1, 1, error);
}

gboolean
cleave_tflite_convert_integer_relu_0_to_1 (CleaveTfliteImport *import, GError **error)
{
  return convert_relu (import, 0, 1, error);
}

/* Converts RELU6 to a Clip without rescaling. The bounds are the zero point and the integer that
 * represents 6. */
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

/* Returns ABS of x: rescales the distance of x from the zero point. (On int16, ABS becomes a
 * TfliteRescale with a negative factor for integers below the zero point.) */

static gint64
absolute (const CleaveTfliteFunction *f, gint32 x)
{
  return cleave_fixed_multiply (ABS (x), f->factor.multiplier, f->factor.shift) + f->y.zero;
}

gboolean
cleave_tflite_convert_integer_abs (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteFunction f = { 0 };
  CleaveTfliteFactor negative;

  if (!cleave_tflite_read_function (import, &f, error) ||
      !cleave_tflite_read_factor ((double) (f.x.scale / f.y.scale), &f.factor, error))
    return FALSE;
  negative = (CleaveTfliteFactor){ -f.factor.multiplier, f.factor.shift };
  return is_16 (import) ? cleave_tflite_set_rescaled (import, &(CleaveTfliteScales){ f.x, f.y },
                                                      &f.factor, &negative, error)
                        : cleave_tflite_set_table (import, &f, absolute, error);
}

/* Returns RSQRT of x. The zero point and integers below the zero point have no inverse root: the
 * result is the largest integer. */

static gint64
inverse_root (const CleaveTfliteFunction *f, gint32 x)
{
  const gint bits = 20; /* number of bits of 1 / √x after the binary point */
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
  CleaveTfliteFunction f = { 0 };

  return cleave_tflite_read_function (import, &f, error) &&
         cleave_tflite_read_factor (1 / (double) (sqrtf (f.x.scale) * f.y.scale), &f.factor,
                                    error) &&
         cleave_tflite_set_table (import, &f, inverse_root, error);
}
