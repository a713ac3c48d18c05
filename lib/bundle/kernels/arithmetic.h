/* SPDX-License-Identifier: 0BSD */

/* Fixed-point arithmetic of TensorFlow Lite, and functions of floats that round the same way on all
 * processors. */

#ifndef CLEAVE_ARITHMETIC_H
#define CLEAVE_ARITHMETIC_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The next functions compute in the fixed-point arithmetic of TensorFlow Lite. They rely on right
 * shifts of negative integers that keep the sign. */

/* Returns round (x * multiplier / 2^31), ties toward plus infinity. */
static inline int32_t
cleave_multiply (int32_t x, int32_t multiplier)
{
  return (int32_t) (((int64_t) x * multiplier + (1 << 30)) >> 31);
}

#ifdef CLEAVE_FLOAT_SCALES
/* Adding CLEAVE_MAGIC, 1.5 * 2^23, rounds a float to an integer, which is in the lowest bits of the
 * sum. */
#define CLEAVE_MAGIC 12582912.0f
#define CLEAVE_MAGIC_BITS 0x4b400000

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
  if (shift < 0)
    return cleave_multiply ((int32_t) (x << (-1 - shift)), multiplier);
  product = cleave_multiply ((int32_t) x, multiplier);
  product -= product < 0;
  return ((product >> shift) + 1) >> 1;
}

static inline int32_t
cleave_clamp (int32_t x, int32_t low, int32_t high)
{
  return x < low ? low : x > high ? high : x;
}

#ifdef __FP_FAST_FMAF
/* Returns a * b + c, rounded once. */
static inline float
cleave_fma (float a, float b, float c)
{
  return fmaf (a, b, c);
}
#else
/* Returns a * b + c, rounded once, on a processor without an instruction for a fused multiply-add.
 * The fmaf () of some C libraries rounds twice. So this function adds the exact product and c in
 * double, and sets the last bit of an inexact sum (rounds to odd). Then the second rounding, to
 * float, is right. */
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

/* The exponential of a float a, within 1.5 ulp. */

typedef struct
{
  float fraction, scale; /* e^a is (1 + fraction) * scale */
} CleaveExp;

/* Returns e^a, as fraction and scale, for a from -88 to 89. */
static inline CleaveExp
cleave_exp_parts (float a)
{
  /* adding `magic` rounds a float to an integer, which is in the lowest bits of the sum */
  const float magic = 12582912.0f + 127.0f;
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
