/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Powers, trigonometric and hyperbolic functions of elementwise.def. elementwise-math.h includes
 * this file and states rules that also hold for this file. Results are float, intermediate values
 * double, except for sines and cosines of small angles. */

#include "elementwise-basics.h"

static inline guint64
cleave_double_bits (double value)
{
  guint64 bits;

  memcpy (&bits, &value, sizeof bits);
  return bits;
}

static inline double
cleave_double_from_bits (guint64 bits)
{
  double value;

  memcpy (&value, &bits, sizeof value);
  return value;
}

/* Returns log2 of a number >= 0 with 36 correct bits; infinity for NaN. The result is the sum of
 * the exponent and of the log2 of the mantissa, a number from sqrt (1/2) to sqrt (2). A series of
 * the inverse hyperbolic tangent gives the log2 of the mantissa. */
static inline double
cleave_double_log2 (double size)
{
  guint64 bits = cleave_double_bits (size);
  guint64 exponent = (bits - 0x3fe6a09e667f3bcdu) & 0xfff0000000000000u;
  double z = cleave_double_from_bits (bits - exponent), s = (z - 1) / (z + 1), u = s * s;
  double n = cleave_double_from_bits ((((exponent >> 52) + 2048) & 0xfff) | 0x4330000000000000u) -
             (0x1p52 + 2048);
  double p = 2.8853900817899873 + u * ((0.9617966734432744 + u * 0.5770835679137191) +
                                       u * u * (0.41167364291981395 + u * 0.3407144297218255));
  guint64 is_zero = -((bits - 1) >> 63), is_infinite = -((bits + 0x10000000000000u) >> 63);

  bits = (cleave_double_bits (s * p + n) & ~(is_zero | is_infinite)) |
         (0x7ff0000000000000u & (is_zero | is_infinite)) | (0x8000000000000000u & is_zero);
  return cleave_double_from_bits (bits);
}

/* Returns the bound to which exponents of 2 are clamped, the upper bound if `upper`. Beyond the
 * bounds, a power of 2 is infinity or 0 as a float. */
CLEAVE_CALL double
cleave_f64_power_bound (gboolean upper)
{
  return upper ? 200 : -200;
}

/* Returns 2^a with 28 correct bits; a is clamped to [-200, 200]. */
static inline double
cleave_double_exp2 (double a)
{
  const double magic = 6755399441055744.0; /* adding 1.5 * 2^52 rounds to an integer in the
                                            * lowest bits */
  double bounded = cleave_f64_at_least (a, cleave_f64_power_bound (FALSE));
  double t = cleave_f64_at_most (bounded, cleave_f64_power_bound (TRUE)), shifted = t + magic;
  double r = t - (shifted - magic), u = r * r;
  double p =
      (1 + r * 0.6931472067028361) +
      u * ((0.2402265092229887 + r * 0.0555032722666279) +
           u * ((0.009618056677177429 + r * 0.0013400428180310492) + u * 0.00015461445108095568));

  return p * cleave_double_from_bits ((cleave_double_bits (shifted) + 1023) << 52);
}

/* Returns a^b within 0.6 ulp. Small integer powers are products, b = 0.5 is a square root (infinity
 * for -infinity). */
static inline float
cleave_f32_pow (float a, float b)
{
  float y = (float) cleave_double_exp2 ((double) b * cleave_double_log2 (cleave_f32_abs (a))),
        half = b * 0.5f;
  gboolean is_whole = cleave_f32_round (b) == b;
  gboolean is_odd = is_whole & (cleave_f32_round (half) != half);
  gboolean is_one = (b == 0) | (a == 1) | ((a == -1) & (cleave_f32_abs (b) == INFINITY));
  guint32 sign = cleave_float_bits (a) & 0x80000000u & -(guint32) is_odd;

  y = cleave_float_from_bits (cleave_float_bits (y) ^ sign);
  y = cleave_f32_select ((a < 0) & (a > -INFINITY) & !is_whole, (float) CLEAVE_NAN, y);
  y = cleave_f32_select (is_one, 1, cleave_f32_select (a != a, a, y));
  y = cleave_f32_select (b == 0.5f,
                         cleave_f32_select (a == -INFINITY, INFINITY, cleave_f32_sqrt (a) + 0), y);
  return cleave_f32_select (b == 2, a * a, cleave_f32_select (b == 3, a * a * a, y));
}

static inline double
cleave_f64_pow (double a, double b)
{
  if (b == 2)
    return a * a;
  if (b == 3)
    return a * a * a;
  if (b == 0.5)
    return a == -INFINITY ? INFINITY : sqrt (a) + 0;
  return pow (a, b);
}

/* Up to this |a|, the quarter turns (multiples of pi / 2) in an angle a can be subtracted exactly
 * in doubles. */
#define CLEAVE_TURN_MOST 4e8f

/* Returns sin (a + quarter * pi / 2) within 0.6 ulp, for |a| up to CLEAVE_TURN_MOST and NaN. The
 * product of the number of quarter turns and the first 25 bits of pi / 2 is exact as a double. */
static inline float
cleave_f32_turn (float a, guint64 quarter)
{
  const double magic = 6755399441055744.0; /* adding 1.5 * 2^52 rounds to an integer in the
                                            * lowest bits */
  double x = a, shifted = x * 0.63661977236758134 + magic, n = shifted - magic;
  double r = (x - n * 1.57079631090164185) - n * 1.58932547735281967e-8, u = r * r;
  double even = r * (1 + u * ((-0.16666666663844049 + u * 0.0083333318703413487) +
                              u * u * (-0.00019840084376422702 + u * 2.7249620080075331e-06)));
  double odd = 1 + u * ((-0.4999999996899589 + u * 0.041666650596550343) +
                        u * u * (-0.0013887586565783845 + u * 2.4463452663505291e-05));
  guint64 turns, even_bits, odd_bits, mask;
  double y;

  memcpy (&turns, &shifted, sizeof turns);
  memcpy (&even_bits, &even, sizeof even_bits);
  memcpy (&odd_bits, &odd, sizeof odd_bits);
  turns += quarter;
  mask = -(turns & 1);
  even_bits = ((odd_bits & mask) | (even_bits & ~mask)) ^ ((turns & 2) << 62);
  memcpy (&y, &even_bits, sizeof y);
  return (float) y;
}

/* Up to this |a|, the quarter turns (multiples of pi / 2) in an angle a can be subtracted exactly
 * in floats. */
#define CLEAVE_TURN_NEAR 3216.0f

/* Returns sin (a + quarter * pi / 2) within 2.5 ulp, for |a| up to CLEAVE_TURN_NEAR. pi / 2 is
 * split into parts of 12 bits, so that the product of each part and the number of quarter turns is
 * exact. The function subtracts the quarter turns in three steps, one for each part. The third
 * step also adds the rounding error of the second step. */
static inline float
cleave_f32_turn_near (float a, guint32 quarter)
{
  const float magic = 12582912.0f; /* adding 1.5 * 2^23 rounds to an integer in the lowest bits */
  float shifted = a * 0.636619747f + magic, n = shifted - magic;
  float first = a - n * 1.57080078125f, second = n * -4.453584551811218e-06f,
        rough = first - second;
  float r = rough + (((first - rough) - second) + n * 8.70551570e-10f), u = r * r;
  float p = u * (-0.166666552f + u * (0.00833215844f + u * -0.00019514958f));
  float even = cleave_f32_select (a == 0, a, r + r * p);
  float odd = (1 - u * 0.5f) + u * u * (0.0416666456f + u * (-0.0013887313f + u * 2.44327857e-05f));
  guint32 turns = cleave_float_bits (shifted) + quarter, is_odd = -(turns & 1);

  return cleave_float_from_bits (
      ((cleave_float_bits (odd) & is_odd) | (cleave_float_bits (even) & ~is_odd)) ^
      ((turns & 2) << 30));
}

/* Returns sin (a + quarter * pi / 2) for |a| up to CLEAVE_TURN_MOST. Computes both
 * cleave_f32_turn() and cleave_f32_turn_near(), and selects the result of cleave_f32_turn_near() if
 * |a| is at most CLEAVE_TURN_NEAR. */
static inline float
cleave_f32_turn_any (float a, guint32 quarter)
{
  return cleave_f32_select (cleave_f32_abs (a) <= CLEAVE_TURN_NEAR,
                            cleave_f32_turn_near (a, quarter), cleave_f32_turn (a, quarter));
}

static inline float
cleave_f32_sin (float a)
{
  float size = cleave_f32_abs (a);

  return size <= CLEAVE_TURN_NEAR   ? cleave_f32_turn_near (a, 0)
         : size <= CLEAVE_TURN_MOST ? cleave_f32_turn (a, 0)
                                    : sinf (a);
}

static inline float
cleave_f32_cos (float a)
{
  float size = cleave_f32_abs (a);

  return size <= CLEAVE_TURN_NEAR   ? cleave_f32_turn_near (a, 1)
         : size <= CLEAVE_TURN_MOST ? cleave_f32_turn (a, 1)
                                    : cosf (a);
}

/* The functions below compute in doubles where subtraction would cancel bits, and round once.
 * Results are within 0.6 ulp, unless the comment of a function states another error. */
#define CLEAVE_QUARTER_TURN 1.5707963267948966 /* pi / 2 */

/* Returns atan (t), if `is_rest` is 0, or pi / 2 - atan (t), if `is_rest` is 1; t must be in [0,
 * 1]. */
static inline double
cleave_double_atan (double t, double is_rest)
{
  double u = t * t, v = u * u;
  double p0 = (0.9999999995535287 - u * 0.33333322488815376) +
              v * (0.19999558098139283 - u * 0.1427857600231981);
  double p1 = (0.11050771151591993 - u * 0.08785042867848925) +
              v * (0.0668528064568725 - u * 0.04392839907710699);
  double p2 = (0.021912936269555677 - u * 0.0070306650337773734) + v * 0.0010576065568867225;

  return CLEAVE_QUARTER_TURN * is_rest + (1 - 2 * is_rest) * t * (p0 + v * v * (p1 + v * v * p2));
}

/* Returns atan (a / b) for a, b >= 0. `is_more` must be 1 if a > b, else 0. */
static inline double
cleave_double_atan_of_ratio (double a, double b, double is_more)
{
  double least = a * (1 - is_more) + b * is_more, most = b * (1 - is_more) + a * is_more;

  return cleave_double_atan (least / most, is_more);
}

static inline float
cleave_f32_atan (float a)
{
  float size = cleave_f32_abs (a);
  double least = cleave_f32_select (size > 1, 1, size),
         most = cleave_f32_select (size > 1, size, 1);
  float is_more = cleave_f32_select (size > 1, 1, 0);

  return cleave_f32_copysign ((float) cleave_double_atan (least / most, is_more), a);
}

static inline float
cleave_f32_asin (float a)
{
  double size = cleave_f32_abs (a), other = __builtin_sqrt ((1 - size) * (1 + size));

  return cleave_f32_copysign (
      (float) cleave_double_atan_of_ratio (size, other,
                                           cleave_f32_select (cleave_f32_abs (a) > 0.7071f, 1, 0)),
      a);
}

static inline float
cleave_f32_acos (float a)
{
  double low = __builtin_sqrt (1 - (double) a), high = __builtin_sqrt (1 + (double) a);

  return (float) (2 * cleave_double_atan_of_ratio (low, high, cleave_f32_select (a < 0, 1, 0)));
}

#define CLEAVE_LOG2_E 1.4426950408889634
#define CLEAVE_LN_2 0.6931471805599453

static inline float
cleave_f32_sinh (float a)
{
  double size = cleave_f32_abs (a), u = size * size, e = cleave_double_exp2 (size * CLEAVE_LOG2_E);
  double p =
      (1.0000000000497213 + u * 0.1666666641809446) +
      u * u *
          ((0.008333353205679473 + u * 0.00019835713849829516) + u * u * 2.8190189198085134e-06);

  return cleave_f32_copysign (
      cleave_f32_select (cleave_f32_abs (a) < 1, (float) (size * p), (float) (0.5 * (e - 1 / e))),
      a);
}

static inline float
cleave_f32_cosh (float a)
{
  double e = cleave_double_exp2 ((double) cleave_f32_abs (a) * CLEAVE_LOG2_E);

  return (float) (0.5 * (e + 1 / e));
}

/* Returns asinh (a). Near 0, the result is the sum of the first terms of the series. */
static inline float
cleave_f32_asinh (float a)
{
  float size = cleave_f32_abs (a);
  double x = size;
  float y = (float) (CLEAVE_LN_2 * cleave_double_log2 (x + __builtin_sqrt (x * x + 1)));

  y = cleave_f32_select (size < 0x1p-10f, (float) (x - x * x * x * (1.0 / 6)), y);
  return cleave_f32_select (a != a, a, cleave_f32_copysign (y, a));
}

static inline float
cleave_f32_acosh (float a)
{
  double x = a;
  float y = (float) (CLEAVE_LN_2 * cleave_double_log2 (x + __builtin_sqrt ((x - 1) * (x + 1))));

  return cleave_f32_select (a >= 1, y, (float) CLEAVE_NAN);
}

static inline float
cleave_f32_atanh (float a)
{
  float size = cleave_f32_abs (a);
  double x = size;
  float y = (float) (0.5 * CLEAVE_LN_2 * cleave_double_log2 ((1 + x) / (1 - x)));

  y = cleave_f32_select (size < 0x1p-10f, (float) (x + x * x * x * (1.0 / 3)), y);
  return cleave_f32_select (size <= 1, cleave_f32_copysign (y, a), (float) CLEAVE_NAN);
}
