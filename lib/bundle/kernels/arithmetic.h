/* SPDX-License-Identifier: 0BSD */

/* Fixed-point arithmetic of TensorFlow Lite, and functions of floats that round the same way on all
 * processors. */

#ifndef CLEAVE_ARITHMETIC_H
#define CLEAVE_ARITHMETIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Adding CLEAVE_MAGIC, 1.5 * 2^23, rounds a float to an integer, which is in the lowest bits of the
 * sum. */
#define CLEAVE_MAGIC 12582912.0f
#define CLEAVE_MAGIC_BITS 0x4b400000

/* The next functions compute in the fixed-point arithmetic of TensorFlow Lite. They rely on right
 * shifts of negative integers that keep the sign. */

/* Returns round (x * multiplier / 2^31), ties toward plus infinity. */
static inline int32_t
cleave_multiply (int32_t x, int32_t multiplier)
{
  return (int32_t) (((int64_t) x * multiplier + (1 << 30)) >> 31);
}

#ifdef CLEAVE_FLOAT_SCALES
/* Returns x times the float with the bits `bits`, rounded to the nearest integer, ties to even. If
 * the product is out of the range of int16, may return any value out of this range on the same
 * side. */
static inline int32_t
cleave_scale_float (int32_t x, int32_t bits)
{
  float scale, value;

  memcpy (&scale, &bits, sizeof scale);
  value = (float) x * scale + CLEAVE_MAGIC;
  memcpy (&bits, &value, sizeof bits);
  return (bits < 0 ? 0 : bits) - CLEAVE_MAGIC_BITS; /* larger positive floats have larger bits */
}
#endif

/* Returns x times a factor that is not negative: multiplies by `multiplier`, then shifts right by
 * `shift` + 1, ties away from zero. If `shift` is negative, first shifts left by -1 - `shift`. If
 * `shift` is INT8_MAX, `multiplier` has the bits of a float instead (cleave_scale_float ()). */
static inline int32_t
cleave_scale (uint32_t x, int32_t multiplier, int32_t shift)
{
  int32_t product;

#ifdef CLEAVE_FLOAT_SCALES /* the model has float scales, as in ONNX */
  if (shift == INT8_MAX)
    return cleave_scale_float ((int32_t) x, multiplier);
#endif
  product = cleave_multiply ((int32_t) (shift < 0 ? x << (-1 - shift) : x), multiplier);
  if (shift < 0)
    return product;
  product -= product < 0;
  return ((product >> shift) + 1) >> 1;
}

static inline int32_t
cleave_clamp (int32_t x, int32_t low, int32_t high)
{
  return x < low ? low : x > high ? high : x;
}

static inline uint32_t
cleave_bits (float a)
{
  uint32_t bits;

  memcpy (&bits, &a, sizeof bits);
  return bits;
}

static inline float
cleave_from_bits (uint32_t bits)
{
  float a;

  memcpy (&a, &bits, sizeof a);
  return a;
}

/* CLEAVE_SOFT_FLOATS: the processor has no instructions for floats. */
#if defined __SOFTFP__ || defined __XTENSA_SOFT_FLOAT__ ||                                         \
    (defined __riscv && !defined __riscv_flen)
#define CLEAVE_SOFT_FLOATS
#endif

#ifdef CLEAVE_SOFT_FLOATS
/* Returns the number of zeros above the highest 1 of a number that is not 0. */
static inline uint32_t
cleave_count_zeros (uint32_t x)
{
#ifdef __GNUC__
  return (uint32_t) __builtin_clz (x);
#else
  uint32_t n = 0;

  for (; x >> 31 == 0; x <<= 1)
    n++;
  return n;
#endif
}

/* Returns x / 2^n. If the division has a remainder, sets the last bit of the result. */
static inline uint32_t
cleave_shift_right (uint32_t x, int32_t n)
{
  return n > 31 ? x != 0 : n == 0 ? x : x >> n | (x << (32 - n) != 0);
}

/* Returns the float with the sign `sign` (1: negative) that is nearest to sum * 2^(exponent - 150),
 * ties to even. `sum` is not 0. */
static inline float
cleave_round (uint32_t sign, uint64_t sum, int32_t exponent)
{
  const uint32_t high = (uint32_t) (sum >> 32);
  const uint32_t zeros =
      high == 0 ? 32 + cleave_count_zeros ((uint32_t) sum) : cleave_count_zeros (high);
  uint32_t x, rounded;

  sum <<= zeros;
  exponent += 40 - (int32_t) zeros;
  x = (uint32_t) (sum >> 32) | ((uint32_t) sum != 0); /* bits 8 to 31: the significand; bits 0 to 7
                                                       * decide how it is rounded */
  if (exponent >= 255)
    return cleave_from_bits (sign << 31 | 0x7f800000u);
  if (exponent < 1)
    {
      x = cleave_shift_right (x, 1 - exponent); /* subnormal */
      exponent = 1;
    }
  rounded = x >> 8;
  rounded += (x & 255) + (rounded & 1) > 128;
  return cleave_from_bits ((sign << 31) + ((uint32_t) (exponent - 1) << 23) + rounded);
}

/* Splits the bits of a float: returns the integer m so that the float is m * 2^(*exponent - 150). m
 * has at most 24 bits. */
static inline uint32_t
cleave_split (uint32_t bits, int32_t *exponent)
{
  const uint32_t m = bits & 0x7fffffu;

  *exponent = (int32_t) (bits >> 23 & 255);
  if (*exponent > 0)
    return m | 0x800000u;
  *exponent = 1; /* 0, or subnormal */
  return m;
}

/* Returns a * b + c, rounded once. The integer `sum` is first the product a * b, shifted left by 14
 * bits. The integer `other` is c, shifted to the exponent of `sum`. A right shift that loses a 1
 * sets bit 0 of the shifted integer to 1, so that rounding sees the loss. Bits 0 to 13 of `sum` are
 * 0, so bit 0 of a right-shifted `other` changes no bit of the product. If a or b is subnormal,
 * `sum` has at least 37 bits above bit 0, enough to round to 24 bits. */
static CLEAVE_APART float
cleave_fma (float a, float b, float c)
{
  const uint32_t infinity = 0xff000000u; /* bits of infinity, shifted left by 1 */
  uint32_t x = cleave_bits (a), y = cleave_bits (b), z = cleave_bits (c), sign = (x ^ y) >> 31;
  const int is_difference = sign != z >> 31;
  int32_t exponent, y_exponent, z_exponent, shift;
  uint64_t sum, other;

  if (x << 1 >= infinity || y << 1 >= infinity || x << 1 == 0 || y << 1 == 0)
    return a * b + c; /* the product is infinite, NaN or 0, so a * b is not rounded */
  if (z << 1 >= infinity)
    return c + c;
  x = cleave_split (x, &exponent);
  y = cleave_split (y, &y_exponent);
  z = cleave_split (z, &z_exponent);
  sum = (uint64_t) x * y << 14;
  exponent += y_exponent - 164;
  shift = z_exponent - exponent;
  if (shift > 38)
    {
      shift -= 38;
      sum = shift > 63 ? 1 : sum >> shift | (sum << (64 - shift) != 0);
      shift = 38;
      exponent = z_exponent - shift;
    }
  other = shift < 0 ? cleave_shift_right (z, -shift) : (uint64_t) z << shift;
  if (is_difference && sum < other)
    {
      sum = other - sum;
      sign ^= 1;
    }
  else
    sum = is_difference ? sum - other : sum + other;
  return sum == 0 ? 0 : cleave_round (sign, sum, exponent);
}
#elif defined __FP_FAST_FMAF
/* Returns a * b + c, rounded once. */
static inline float
cleave_fma (float a, float b, float c)
{
  return fmaf (a, b, c);
}
#else
/* Returns a * b + c, rounded once, on a processor with floats but without an instruction for a
 * fused multiply-add. The fmaf () of some C libraries rounds twice. So this function adds the exact
 * product and c in double, and sets the last bit of an inexact sum (rounds to odd). Then the second
 * rounding, to float, is right. */
static CLEAVE_APART float
cleave_fma (float a, float b, float c)
{
  const double product = (double) a * (double) b, other = (double) c;
  double sum = product + other;
  const double part = sum - product, error = (product - (sum - part)) + (other - part);
  uint64_t bits;

  memcpy (&bits, &sum, sizeof bits);
  if ((error > 0 || error < 0) && (bits & 1) == 0)
    {
      bits = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
      memcpy (&sum, &bits, sizeof sum);
    }
  return (float) sum;
}
#endif

/* Returns whether a is a NaN. In some C libraries, isnan () calls a function. */
static inline int
cleave_is_nan (float a)
{
  return a != a;
}

/* The exponential of a float a, within 1.5 ulp. */

typedef struct
{
  float fraction, scale; /* e^a is (1 + fraction) * scale */
} CleaveExp;

/* Returns e^a, as fraction and scale, for a from -88 to 89. */
static inline CleaveExp
cleave_exp_parts (float a)
{
  const float magic = CLEAVE_MAGIC + 127.0f;
  const float shifted = cleave_fma (a, 1.44269504f, magic), n = shifted - magic;
  const float r = cleave_fma (n, 2.12194440e-4f, cleave_fma (n, -0.693359375f, a)), u = r * r;
  const float q = cleave_fma (u, 0.00139505533f, cleave_fma (r, 0.00836895779f, 0.041666206f));
  const float p = cleave_fma (u, q, cleave_fma (r, 0.166665182f, 0.5f));
  CleaveExp e;
  uint32_t bits;

  memcpy (&bits, &shifted, sizeof bits);
  bits <<= 23;
  e.fraction = cleave_fma (u, p, r);
  memcpy (&e.scale, &bits, sizeof bits);
  return e;
}

/* Clamps a to [least, most]. Returns a NaN if a is NaN. */
static inline float
cleave_bound (float a, float least, float most)
{
  a = least > a ? least : a;
  return most < a ? most : a;
}

#endif
