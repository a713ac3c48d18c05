/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Fixed-point arithmetic of TensorFlow Lite's reference kernels, bit for bit. The reference kernels
 * in tflite-*.c call these functions; lib/tflite computes the multipliers and shifts.
 *
 * A positive real number is multiplier * 2^(shift - 31), with the multiplier in [2^30, 2^31).
 * Example: 0.75 is the multiplier 3 * 2^29 with the shift 0. The rules come from
 * tensorflow/lite/kernels/internal/common.cc, with double rounding, and gemmlowp's fixedpoint.h.
 * Left shifts wrap around. */

#include <glib.h>

/* Returns a * b / 2^31, rounded to the nearest integer, ties toward plus infinity. Saturates the
 * only product that does not fit, G_MININT32 * G_MININT32. */
static inline gint32
cleave_fixed_product (gint32 a, gint32 b)
{
  if (a == G_MININT32 && b == G_MININT32)
    return G_MAXINT32;
  return (gint32) (((gint64) a * b + (1 << 30)) >> 31);
}

/* Returns x / 2^shift, rounded to the nearest integer, ties away from zero, for shifts of 0 to 31.
 */
static inline gint32
cleave_fixed_shift_right (gint32 x, gint shift)
{
  gint64 half = shift == 0 ? 0 : (gint64) 1 << (shift - 1);

  return (gint32) (((gint64) x + half - (x < 0 && shift > 0)) >> shift);
}

static inline gint32
cleave_fixed_shift_left (gint32 x, gint shift)
{
  return (gint32) ((guint32) x << shift);
}

/* Returns x times the real number that `multiplier` and `shift` give. Rounds the product, then
 * rounds again at the right shift. */
static inline gint32
cleave_fixed_multiply (gint32 x, gint32 multiplier, gint shift)
{
  gint left = CLAMP (shift, 0, 31), right = -CLAMP (shift, -31, 0);

  return cleave_fixed_shift_right (
      cleave_fixed_product (cleave_fixed_shift_left (x, left), multiplier), right);
}

/* Returns x, a sum of 64 bits, times the real number that `multiplier` and `shift` give. Reduces
 * the multiplier to 16 bits and rounds once, ties toward plus infinity. */
static inline gint32
cleave_fixed_multiply_wide (gint64 x, gint32 multiplier, gint shift)
{
  gint32 reduced = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
  gint total = 15 - CLAMP (shift, -31, 14);
  guint64 product = (guint64) x * (guint64) (gint64) reduced + ((guint64) 1 << (total - 1));

  return (gint32) ((gint64) product >> total);
}

/* Returns x * 2^bits, saturated, for 0 to 30 bits. */
static inline gint32
cleave_fixed_shift_left_saturated (gint32 x, gint bits)
{
  gint64 value = (gint64) x * ((gint64) 1 << bits);

  return (gint32) CLAMP (value, G_MININT32, G_MAXINT32);
}

/* Returns 2 / (1 + x) in units of 2^-29, for x in [0, 1) in units of 2^-31. Takes three steps of
 * the Newton-Raphson method from 48/17 - 32/17 * (1 + x) / 2. */
static inline gint32
cleave_fixed_two_over_one_plus (gint32 x)
{
  const gint32 start = 1515870810, slope = -1010580540, one = 1 << 29;
  gint32 half = (gint32) (((gint64) x + G_MAXINT32 + 1) /
                          2); /* x is 0 or more, so rounding needs no case for negative numbers */
  gint32 y = start + cleave_fixed_product (half, slope);

  for (guint i = 0; i < 3; i++)
    {
      gint32 rest = one - cleave_fixed_product (half, y);

      y = (gint32) ((guint32) y + (guint32) cleave_fixed_shift_left_saturated (
                                      cleave_fixed_product (y, rest), 2));
    }
  return y;
}

/* Returns 1 / (1 + x) in units of 2^-31, for x in [0, 1) in units of 2^-31. */
static inline gint32
cleave_fixed_one_over_one_plus (gint32 x)
{
  return cleave_fixed_shift_left_saturated (cleave_fixed_two_over_one_plus (x), 1);
}

/* Returns 2^k / x in units of 2^-31, for a positive x with `integer_bits` bits before the binary
 * point. Sets *exponent to k, the integer for which 2^k <= x < 2^(k + 1), so that the result is in
 * (1/2, 1]. */
static inline gint32
cleave_fixed_reciprocal (guint32 x, gint integer_bits, gint *exponent)
{
  gint zeros = x == 0 ? 31 : __builtin_clz (x);

  *exponent = integer_bits - zeros;
  return cleave_fixed_one_over_one_plus ((gint32) ((x << zeros) - (1u << 31)));
}

/* Returns exp (x) in units of 2^-31, for x in [-1/4, 0) in units of 2^-31. Evaluates a polynomial
 * around -1/8. */
static inline gint32
cleave_fixed_exp_quarter (gint32 x)
{
  const gint32 exp_eighth = 1895147668, third = 715827883;
  gint32 d = x + (1 << 28), d2 = cleave_fixed_product (d, d), d3 = cleave_fixed_product (d2, d);
  gint32 d4_over_4 = cleave_fixed_shift_right (cleave_fixed_product (d2, d2), 2);
  gint32 rest = cleave_fixed_shift_right (cleave_fixed_product (d4_over_4 + d3, third) + d2, 1);

  return exp_eighth + cleave_fixed_product (exp_eighth, d + rest);
}

/* Returns exp (x) in units of 2^-31 for x of at most 0, with `integer_bits` bits before the binary
 * point. */
static inline gint32
cleave_fixed_exp (gint32 x, gint integer_bits)
{
  /* exp (-2^k) in units of 2^-31, for k = -2, -1, 0, ... */
  static const gint32 factors[] = { 1672461947, 1302514674, 790015084, 290630308,
                                    39332535,   720401,     242 };
  gint fraction_bits = 31 - integer_bits;
  gint32 quarter = 1 << (fraction_bits - 2), part = (x & (quarter - 1)) - quarter;
  gint32 remainder = (gint32) ((guint32) part - (guint32) x);
  gint32 y = cleave_fixed_exp_quarter (cleave_fixed_shift_left_saturated (part, integer_bits));

  for (gint k = -2; k < integer_bits && k <= 4; k++)
    if ((remainder & (gint32) (1u << (fraction_bits + k))) != 0)
      y = cleave_fixed_product (y, factors[k + 2]);
  return x == 0 ? G_MAXINT32 : y;
}

/* Returns 1 / (1 + exp (-x)) in units of 2^-31 for x with 4 bits before the binary point. */
static inline gint32
cleave_fixed_logistic (gint32 x)
{
  gint32 positive = cleave_fixed_one_over_one_plus (cleave_fixed_exp (x > 0 ? -x : x, 4));

  return x == 0 ? 1 << 30 : x > 0 ? positive : G_MAXINT32 - positive;
}

/* Returns tanh (x) in units of 2^-31, for x with 4 bits before the binary point. Computes (1 - e) /
 * (1 + e) with e = exp (-2 |x|). */
static inline gint32
cleave_fixed_tanh (gint32 x)
{
  gint32 y = cleave_fixed_two_over_one_plus (cleave_fixed_exp (x > 0 ? -x : x, 5));
  gint32 positive = cleave_fixed_shift_left_saturated (y - (1 << 29), 2);

  return x == 0 ? 0 : x > 0 ? positive : -positive;
}

/* Sets `multiplier` and `shift` so that 1 / sqrt (x) is *multiplier * 2^(*shift - 31), for a
 * positive integer x. Takes five steps of the Newton-Raphson method from 1. For x of 1 or less,
 * sets the largest multiplier and the shift 0. */
static inline void
cleave_fixed_inverse_root (gint32 x, gint32 *multiplier, gint *shift)
{
  const gint32 half_root_2 = 1518500250, three_halves = (1 << 28) + (1 << 27);
  gint32 half, y = 1 << 28; /* `y`, the inverse root, is in units of 2^-28 */
  gint pairs, right = 11;

  *multiplier = G_MAXINT32;
  *shift = 0;
  if (x <= 1)
    return;
  for (; x >= 1 << 29; right++)
    x /= 4;
  pairs = (__builtin_clz ((guint32) x) - 1) / 2 - 1;
  right -= pairs;
  x <<= 2 * pairs;
  half = cleave_fixed_shift_right (x >> 1, 1);
  for (guint i = 0; i < 5; i++)
    {
      gint32 cube = cleave_fixed_shift_left_saturated (
          cleave_fixed_product (cleave_fixed_product (y, y), y), 6);
      gint32 difference = (gint32) ((guint32) cleave_fixed_product (three_halves, y) -
                                    (guint32) cleave_fixed_product (half, cube));

      y = cleave_fixed_shift_left_saturated (difference, 3);
    }
  y = cleave_fixed_product (y, half_root_2);
  *multiplier = right < 0 ? cleave_fixed_shift_left (y, -right) : y;
  *shift = right < 0 ? 0 : -right;
}

/* Returns ln (x) in units of 2^-26, for x of at least 1 in units of 2^-19.
 *
 * Splits x into 2^k * r, with r near 2^(-1/4), so that ln (x) = k * ln (2) + ln (r). Computes two
 * pairs (k, r): in one pair k is an integer plus 1/4, in the other pair k is an integer minus 1/4.
 * Uses the pair with the larger k, which has the smaller r. ln (r) is a quotient of polynomials in
 * q = 2 * (r - 2^(-1/4)). */
static inline gint32
cleave_fixed_log (gint32 x)
{
  const gint32 log_2 = 1488522236, root = 1805811301 /* `root` is 2^(-1/4) */,
               root_half = 1518500250;
  const gint32 num_cubic = 117049297, den_quadratic = 127690142, den_one = 1057819769,
               den_linear = 638450708;
  const gint32 quarter = 1 << 23;
  gint bits = 12, unit = 25; /* `bits`: number of bits of x before the binary point; `unit`: `power`
                              * and `other_power` are the k of the two pairs, in units of 2^-unit */
  gint zeros = __builtin_clz ((guint32) x), scaled_zeros;
  gint32 r, other, power, other_power, p, q, square, num, den;

  r = cleave_fixed_shift_left_saturated (x, zeros - 1);
  r = cleave_fixed_shift_left_saturated (cleave_fixed_product (r, root_half), 1);
  power = (bits - zeros) * (1 << unit) + quarter;
  scaled_zeros = __builtin_clz ((guint32) cleave_fixed_product (x, root_half)) - 1;
  other = cleave_fixed_shift_left_saturated (x, scaled_zeros);
  other_power = (bits - scaled_zeros) * (1 << unit) - quarter;
  r = MIN (r, other);
  power = MAX (power, other_power);
  p = (gint32) (((gint64) r + root + 1) / 2);
  q = 2 * (r - root);
  square = cleave_fixed_product (q, q);
  num = cleave_fixed_product (q, r) +
        cleave_fixed_product (cleave_fixed_product (q, square), num_cubic);
  den = cleave_fixed_product (p, den_one + q + cleave_fixed_product (den_quadratic, square)) +
        cleave_fixed_product (den_linear, q);
  num = cleave_fixed_product (cleave_fixed_shift_right (num, 6),
                              cleave_fixed_one_over_one_plus (den));
  return cleave_fixed_shift_left_saturated (cleave_fixed_product (power, log_2) + num, 1);
}
