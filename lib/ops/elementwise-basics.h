/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Building blocks of the functions of elementwise-math.h and elementwise-powers.h: selection
 * without a branch, bounds, roots and rounding. As in elementwise-math.h, all functions are
 * straight-line code, and vectorizing them changes no bit. */

#include <math.h>

#include "half.h"

#define CLEAVE_NAN (__builtin_nan (""))

/* Declares a function that is not inlined. A kernel calls the function once, before its loop
 * begins. If the function were inlined, its branches would keep the loop from being vectorized. */
#define CLEAVE_CALL G_GNUC_UNUSED __attribute__ ((noinline, const)) static

/* Returns a bound of the interval [0, 1]: 1 if `upper`, else 0. If the compiler knew the bounds, it
 * would generate branches instead of one minimum and one maximum instruction. */
CLEAVE_CALL float
cleave_f32_unit_bound (gboolean upper)
{
  return upper ? 1 : 0;
}

CLEAVE_CALL double
cleave_f64_unit_bound (gboolean upper)
{
  return upper ? 1 : 0;
}

/* Returns a if `choice`, else b, without a branch. */
static inline float
cleave_f32_select (gboolean choice, float a, float b)
{
  guint32 mask = -(guint32) choice;

  return cleave_float_from_bits ((cleave_float_bits (a) & mask) | (cleave_float_bits (b) & ~mask));
}

static inline double
cleave_f64_select (gboolean choice, double a, double b)
{
  return choice ? a : b;
}

static inline float
cleave_f32_abs (float a)
{
  return cleave_float_from_bits (cleave_float_bits (a) & 0x7fffffffu);
}

/* Returns |a| with the sign of b. */
static inline float
cleave_f32_copysign (float a, float b)
{
  return cleave_float_from_bits ((cleave_float_bits (a) & 0x7fffffffu) |
                                 (cleave_float_bits (b) & 0x80000000u));
}

/* Returns a * b + c, rounded once. */
static inline float
cleave_f32_fma (float a, float b, float c)
{
  return __builtin_fmaf (a, b, c);
}

/* The functions …_at_most() return the smaller of a and `bound`, and the functions …_at_least() the
 * larger. If a is NaN, they return NaN. Processors have instructions with exactly these results. */
static inline float
cleave_f32_at_most (float a, float bound)
{
  return bound < a ? bound : a;
}

static inline float
cleave_f32_at_least (float a, float bound)
{
  return bound > a ? bound : a;
}

static inline double
cleave_f64_copysign (double a, double b)
{
  return copysign (a, b);
}

static inline double
cleave_f64_at_most (double a, double bound)
{
  return bound < a ? bound : a;
}

static inline double
cleave_f64_at_least (double a, double bound)
{
  return bound > a ? bound : a;
}

static inline float
cleave_f32_sqrt (float a)
{
  return cleave_f32_select (a < 0.0f, (float) CLEAVE_NAN, __builtin_sqrtf (a));
}

/* cleave_f32_round() rounds to the nearest integer, ties to even; cleave_f32_floor() rounds down,
 * and cleave_f32_ceil() up. All three keep the sign of 0. Processor levels without a rounding
 * instruction use other code, whose results have the same bits. */
#if defined(__SSE4_1__) || defined(__aarch64__)
static inline float
cleave_f32_round (float a)
{
  return __builtin_rintf (a);
}

static inline float
cleave_f32_floor (float a)
{
  return __builtin_floorf (a);
}

static inline float
cleave_f32_ceil (float a)
{
  return __builtin_ceilf (a);
}
#else
static inline float
cleave_f32_round (float a)
{
  float x = cleave_f32_abs (a);
  float y = (x + 8388608.0f) - 8388608.0f; /* floats of 2^23 or more are integers, so adding 2^23
                                            * rounds x to an integer */

  return cleave_f32_copysign (cleave_f32_select (x < 8388608.0f, y, x), a);
}

static inline float
cleave_f32_floor (float a)
{
  float y = cleave_f32_round (a);

  return cleave_f32_copysign (y - cleave_f32_select (y > a, 1.0f, 0.0f), a);
}

static inline float
cleave_f32_ceil (float a)
{
  float y = cleave_f32_round (a);

  return cleave_f32_copysign (y + cleave_f32_select (y < a, 1.0f, 0.0f), a);
}
#endif
