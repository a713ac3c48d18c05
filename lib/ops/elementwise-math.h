/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
/* The functions that the formulas of elementwise.def call, for each type in which formulas are
 * computed. The reference kernels (elementwise.c) and the fast kernels
 * (lib/runtime/kernels/elementwise.c) include this file.
 *
 * Loops over float are compiled for several levels of x86-64 and must give the same bits at each
 * level. So the functions are straight-line code of +, -, *, /, fused multiply-adds and integer
 * arithmetic on bits. Both sides of a choice are computed, and one side is selected. The compiler
 * can vectorize this code and has no freedom that changes a bit. There is no contraction
 * (-ffp-contract=off) and no table.
 *
 * The polynomials are minimax fits for the given intervals. Errors are in ulp (units in the last
 * place) against libm's double functions, as tests/ops/elementwise.c measures them. Functions that
 * are rarely used call libm; compilers never vectorize these calls, so they give the same bits in
 * each loop.
 *
 * Over 400 lines: a table of functions, none of which needs a file of its own. */

#include <glib.h>
#include <math.h>
#include <string.h>

#include "elementwise-basics.h"
#include "elementwise-powers.h"

/* The parts of e^a = (1 + fraction) * 2^exponent, for |a| < 128. `scale` is 2^exponent as a float
 * if that is a normal number, 0 for a below about -87.7, and infinity above about 88.4. If a is
 * NaN, so is fraction. The polynomial is evaluated as even and odd terms, which halves the chain of
 * additions. */
typedef struct
{
  float fraction, scale;
  guint32 exponent;
} CleaveExpParts;

static inline CleaveExpParts
cleave_f32_exp_parts (float a)
{
  /* Adding 1.5 * 2^23 rounds a number to an integer in the lowest bits. 127 is the bias of the
   * exponent. */
  const float magic = 12582912.0f + 127.0f;
  float shifted = cleave_f32_fma (a, 1.44269504f, magic);
  float n = shifted - magic;
  float r = cleave_f32_fma (n, 2.12194440e-4f, cleave_f32_fma (n, -0.693359375f, a)), u = r * r;
  float q = cleave_f32_fma (u, 0.00139505533f, cleave_f32_fma (r, 0.00836895779f, 0.041666206f));
  float p = cleave_f32_fma (u, q, cleave_f32_fma (r, 0.166665182f, 0.5f));

  return (CleaveExpParts){ .fraction = cleave_f32_fma (u, p, r),
                           .scale = cleave_float_from_bits (cleave_float_bits (shifted) << 23),
                           .exponent = cleave_float_bits (shifted) - cleave_float_bits (magic) };
}

/* Returns e^a within 1.5 ulp. Returns infinity if e^a overflows, and 0 instead of subnormal
 * numbers. */
static inline float
cleave_f32_exp_normal (float a)
{
  CleaveExpParts e =
      cleave_f32_exp_parts (cleave_f32_at_most (cleave_f32_at_least (a, -88.0f), 89.0f));

  return (1.0f + e.fraction) * e.scale;
}

/* Returns the same bits as cleave_f32_exp_normal(), for a <= 0 and NaN. */
static inline float
cleave_f32_exp_normal_negative (float a)
{
  CleaveExpParts e = cleave_f32_exp_parts (cleave_f32_at_least (a, -88.0f));

  return (1.0f + e.fraction) * e.scale;
}

/* Returns e^a from its parts (CleaveExpParts). Multiplies by two scales, so that subnormal results
 * and infinity are rounded only once. */
static inline float
cleave_f32_exp_of_parts (CleaveExpParts e)
{
  guint32 half =
      (e.exponent + 512u) / 2u - 256u; /* half of the exponent, rounded down: -151 or more */

  return (1.0f + e.fraction) * cleave_float_from_bits ((half + 127u) << 23) *
         cleave_float_from_bits ((e.exponent - half + 127u) << 23);
}

/* Returns e^a within 1.5 ulp. Returns infinity if e^a overflows; subnormal results are correct,
 * too. */
static inline float
cleave_f32_exp (float a)
{
  return cleave_f32_exp_of_parts (
      cleave_f32_exp_parts (cleave_f32_at_most (cleave_f32_at_least (a, -104.0f), 89.0f)));
}

/* Returns the same bits as cleave_f32_exp(), for a <= 0 and NaN. */
static inline float
cleave_f32_exp_negative (float a)
{
  return cleave_f32_exp_of_parts (cleave_f32_exp_parts (cleave_f32_at_least (a, -104.0f)));
}

/* Returns e^a - 1 for a <= 0 and NaN, within 2 ulp. */
static inline float
cleave_f32_expm1_negative (float a)
{
  CleaveExpParts e = cleave_f32_exp_parts (cleave_f32_at_least (a, -88.0f));

  return cleave_f32_select (a == 0.0f, a, cleave_f32_fma (e.fraction, e.scale, e.scale - 1.0f));
}

/* Returns log (a) within 1.5 ulp, also for subnormal a. */
static inline float
cleave_f32_log (float a)
{
  gboolean tiny = a < 1.17549435e-38f;
  float x = cleave_f32_select (tiny, a * 8388608.0f, a);
  guint32 exponent =
      (cleave_float_bits (x) - 0x3f2aaaabu) & 0xff800000u; /* the exponent that leaves a mantissa
                                                            * from 2/3 to 4/3 */
  float f = cleave_float_from_bits (cleave_float_bits (x) - exponent) - 1.0f;
  float n = (float) (gint32) exponent * 1.1920929e-7f - cleave_f32_select (tiny, 23.0f, 0.0f);
  float p = cleave_f32_fma (-0.128651381f, f, 0.139927909f), y;

  p = cleave_f32_fma (p, f, -0.121907413f);
  p = cleave_f32_fma (p, f, 0.140040115f);
  p = cleave_f32_fma (p, f, -0.166799843f);
  p = cleave_f32_fma (p, f, 0.200105354f);
  p = cleave_f32_fma (p, f, -0.249998093f);
  p = cleave_f32_fma (p, f, 0.333332121f);
  p = cleave_f32_fma (n, -2.12194440e-4f, f * f * cleave_f32_fma (f, p, -0.5f));
  y = cleave_f32_fma (n, 0.693359375f, f + p);
  return cleave_f32_select ((a > 0.0f) & (a < INFINITY), y,
                            cleave_f32_select (a < 0.0f, (float) CLEAVE_NAN,
                                               cleave_f32_select (a == 0.0f, -INFINITY, a)));
}

/* Returns log (1 + u) for u in [0, 1] and NaN, with the polynomial of cleave_f32_log(). The
 * rounding error of 1 + u, divided by about 1 + u, is added to the logarithm. */
static inline float
cleave_f32_log1p_unit (float u)
{
  float w = 1.0f + u, lost = u - (w - 1.0f);
  guint32 exponent =
      (cleave_float_bits (w) - 0x3f2aaaabu) & 0xff800000u; /* bits of the exponent of 1 or 2 */
  float f = cleave_float_from_bits (cleave_float_bits (w) - exponent) - 1.0f;
  float n = (float) (gint32) exponent * 1.1920929e-7f, d = w - 1.0f;
  float p = cleave_f32_fma (-0.128651381f, f, 0.139927909f);

  p = cleave_f32_fma (p, f, -0.121907413f);
  p = cleave_f32_fma (p, f, 0.140040115f);
  p = cleave_f32_fma (p, f, -0.166799843f);
  p = cleave_f32_fma (p, f, 0.200105354f);
  p = cleave_f32_fma (p, f, -0.249998093f);
  p = cleave_f32_fma (p, f, 0.333332121f);
  p = cleave_f32_fma (n, -2.12194440e-4f, f * f * cleave_f32_fma (f, p, -0.5f));
  lost *= 1.0f + d * (d * 0.5f - 1.0f);
  return cleave_f32_fma (n, 0.693359375f, f + (p + lost));
}

/* Returns tanh (a) within 3 ulp, as (e^2a - 1) / (e^2a + 1), which loses no bits near 0. */
static inline float
cleave_f32_tanh (float a)
{
  CleaveExpParts e = cleave_f32_exp_parts (cleave_f32_at_most (2.0f * cleave_f32_abs (a), 20.0f));
  float y = cleave_f32_fma (e.fraction, e.scale, e.scale - 1.0f);

  return cleave_f32_copysign (y / (y + 2.0f), a);
}

/* Returns 1 / (1 + e^-a) within 3 ulp; 0 instead of subnormal numbers. */
static inline float
cleave_f32_sigmoid (float a)
{
  CleaveExpParts e =
      cleave_f32_exp_parts (cleave_f32_at_most (cleave_f32_at_least (-a, -88.0f), 89.0f));

  return 1.0f / cleave_f32_fma (1.0f + e.fraction, e.scale, 1.0f);
}

/* Returns erf (a) within 2.65 ulp, as 1 - 2^q with q = x * polynomial (x). Computes 2^q - 1 without
 * rounding 2^q, which loses no bits near 0. For a of 3.93 or more, the result is 1. */
static inline float
cleave_f32_erf (float a)
{
  const float magic = 12582912.0f + 127.0f;
  float x = cleave_f32_at_most (cleave_f32_abs (a), 3.93f), xx = x * x;
  float p0 = cleave_f32_fma (x, -0.148277029f, -0.918447614f);
  float p1 = cleave_f32_fma (x, 0.00022984049f, 0.02763233f);
  float p2 = cleave_f32_fma (x, 0.000911158917f, -0.00240248977f);
  float p3 = cleave_f32_fma (x, 1.32759169e-05f, -0.000169103922f);
  float p = cleave_f32_fma (xx * xx, cleave_f32_fma (xx, p3, p2), cleave_f32_fma (xx, p1, p0));
  float q = x * cleave_f32_fma (x, p, -1.62790704f), shifted = q + magic;
  float r = q - (shifted - magic), u = r * r;
  float scale = cleave_float_from_bits (cleave_float_bits (shifted) << 23);
  float q0 = cleave_f32_fma (r, 0.0555035733f, 0.240226498f);
  float q1 = cleave_f32_fma (r, 0.00133907355f, 0.00961823749f);
  float fraction = cleave_f32_fma (
      u, cleave_f32_fma (u, cleave_f32_fma (u, 0.000154035125f, q1), q0), r * 0.693147188f);

  return cleave_f32_copysign (cleave_f32_fma (fraction, scale, scale - 1.0f), a);
}

/* Returns log (1 + e^a) within 1.5 ulp. */
static inline float
cleave_f32_softplus (float a)
{
  float y = cleave_f32_select (a > 0.0f, a, 0.0f) +
            cleave_f32_log1p_unit (cleave_f32_exp_negative (-cleave_f32_abs (a)));

  return cleave_f32_select (a != a, a, y);
}

static inline double
cleave_f64_exp_normal (double a)
{
  return exp (a);
}

static inline double
cleave_f64_expm1_negative (double a)
{
  return expm1 (a);
}

static inline double
cleave_f64_sigmoid (double a)
{
  double e = exp (-fabs (a));

  return (a < 0 ? e : 1) / (1 + e);
}

static inline double
cleave_f64_softplus (double a)
{
  return (a > 0 ? a : 0) + log1p (exp (-fabs (a)));
}

/* Functions that call libm, for double only. For float, the result of the double function is
 * rounded: libm's float functions differ in the last bit from one processor to the next. */
/* clang-format off */
#define DOUBLE(word, function)                                                                     \
  static inline double cleave_f64_##word (double a) { return function (a); }
DOUBLE (tan, tan)
DOUBLE (asin, asin)
DOUBLE (acos, acos)
DOUBLE (atan, atan)
DOUBLE (sinh, sinh)
DOUBLE (cosh, cosh)
DOUBLE (asinh, asinh)
DOUBLE (acosh, acosh)
DOUBLE (atanh, atanh)
DOUBLE (sin, sin)
DOUBLE (cos, cos)
DOUBLE (exp, exp)
DOUBLE (log, log)
DOUBLE (tanh, tanh)
DOUBLE (erf, erf)
DOUBLE (sqrt, sqrt)
DOUBLE (round, rint)
DOUBLE (floor, floor)
DOUBLE (ceil, ceil)
DOUBLE (abs, fabs)
#undef DOUBLE

static inline float cleave_f32_tan (float a) { return (float) tan ((double) a); }

/* Functions for arithmetic that differs between floats (FLOATS) and integers (INTEGERS). Integers
 * wrap around; an integer divided by 0 gives 0. */
#define FLOATS(T, t, suffix)                                                                       \
  static inline T cleave_##t##_add (T a, T b) { return a + b; }                                    \
  static inline T cleave_##t##_sub (T a, T b) { return a - b; }                                    \
  static inline T cleave_##t##_mul (T a, T b) { return a * b; }                                    \
  static inline T cleave_##t##_div (T a, T b) { return a / b; }                                    \
  static inline T cleave_##t##_neg (T a) { return -a; }                                            \
  static inline T cleave_##t##_remainder (T a, T b) { return fmod##suffix (a, b); }                \
  static inline T cleave_##t##_modulo (T a, T b) { return fmod##suffix (a, b); }                   \
  static inline T cleave_##t##_bound (double a) { return (T) a; }                                  \
  static inline T cleave_##t##_sign (T a)                                                          \
  {                                                                                                \
    T size = cleave_##t##_abs (a);                                                                 \
                                                                                                   \
    return cleave_##t##_select (size > 0, cleave_##t##_copysign (1, a), size);                     \
  }                                                                                                \
  /* Return the larger or the smaller operand: the first NaN if there is one; the first operand    \
   * if both are equal. */                                                                         \
  static inline T cleave_##t##_max (T a, T b)                                                      \
  {                                                                                                \
    return cleave_##t##_select ((a >= b) | (a != a), a, b);                                        \
  }                                                                                                \
  static inline T cleave_##t##_min (T a, T b)                                                      \
  {                                                                                                \
    return cleave_##t##_select ((a <= b) | (a != a), a, b);                                        \
  }
FLOATS (float, f32, f)
FLOATS (double, f64, )
#undef FLOATS

/* Functions for the integer type T. U is the unsigned type of the same size, in which overflow
 * wraps around. */
#define INTEGERS(T, t, U)                                                                          \
  static inline T cleave_##t##_select (gboolean choice, T a, T b) { return choice ? a : b; }       \
  static inline T cleave_##t##_add (T a, T b) { return (T) ((U) a + (U) b); }                      \
  static inline T cleave_##t##_sub (T a, T b) { return (T) ((U) a - (U) b); }                      \
  static inline T cleave_##t##_mul (T a, T b) { return (T) ((U) a * (U) b); }                      \
  static inline T cleave_##t##_neg (T a) { return (T) -(U) a; }                                    \
  static inline T cleave_##t##_max (T a, T b) { return a >= b ? a : b; }                           \
  static inline T cleave_##t##_min (T a, T b) { return a <= b ? a : b; }                           \
  static inline T cleave_##t##_at_least (T a, T bound) { return bound > a ? bound : a; }           \
  static inline T cleave_##t##_at_most (T a, T bound) { return bound < a ? bound : a; }            \
  /* Returns a to the power of b, for b >= 0. */                                                   \
  static inline T cleave_##t##_power (T a, T b)                                                    \
  {                                                                                                \
    U y = 1, square = (U) a;                                                                       \
                                                                                                   \
    for (U rest = (U) b; rest != 0; rest >>= 1, square *= square)                                  \
      y = (rest & 1) != 0 ? y * square : y;                                                        \
    return (T) y;                                                                                  \
  }
#define SIGNED(T, t, U)                                                                            \
  INTEGERS (T, t, U)                                                                               \
  static inline gboolean cleave_##t##_is_negative (T a) { return a < 0; }                          \
  static inline T cleave_##t##_abs (T a) { return a < 0 ? cleave_##t##_neg (a) : a; }              \
  static inline T cleave_##t##_sign (T a) { return (T) ((a > 0) - (a < 0)); }                      \
  /* Returns the remainder of a division that truncates; it has the sign of a. */                  \
  static inline T cleave_##t##_remainder (T a, T b)                                                \
  {                                                                                                \
    return b == 0 ? 0 : cleave_##t##_sub (a, cleave_##t##_mul (cleave_##t##_div (a, b), b));       \
  }                                                                                                \
  /* Returns the remainder of a division that rounds down; it has the sign of b. */                \
  static inline T cleave_##t##_modulo (T a, T b)                                                   \
  {                                                                                                \
    T rest = cleave_##t##_remainder (a, b);                                                        \
                                                                                                   \
    return ((rest != 0) & ((rest < 0) != (b < 0))) != 0 ? (T) (rest + b) : rest;                   \
  }                                                                                                \
  /* Returns a to the power of b; for a negative b, 1 / a^-b, truncated. */                        \
  static inline T cleave_##t##_pow (T a, T b)                                                      \
  {                                                                                                \
    if (b >= 0)                                                                                    \
      return cleave_##t##_power (a, b);                                                            \
    return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;                                     \
  }
#define UNSIGNED(T, t, U)                                                                          \
  INTEGERS (T, t, U)                                                                               \
  static inline gboolean cleave_##t##_is_negative (T a) { return FALSE; }                          \
  static inline T cleave_##t##_abs (T a) { return a; }                                             \
  static inline T cleave_##t##_sign (T a) { return a > 0; }                                        \
  static inline T cleave_##t##_remainder (T a, T b)                                                \
  {                                                                                                \
    return b == 0 ? 0 : (T) (a - cleave_##t##_div (a, b) * b);                                     \
  }                                                                                                \
  static inline T cleave_##t##_modulo (T a, T b) { return cleave_##t##_remainder (a, b); }         \
  static inline T cleave_##t##_pow (T a, T b) { return cleave_##t##_power (a, b); }                \
  static inline T cleave_##t##_shift (T a, T b, gboolean right)                                    \
  {                                                                                                \
    const U bits = (U) (8 * sizeof (T)), by = b & (bits - 1);                                      \
                                                                                                   \
    return (T) (b >= bits ? 0 : right ? (U) a >> by : (U) a << by);                                \
  }

/* Return a / b, truncated; 0 if b is 0. A division of floats is exact for bytes, and a division of
 * doubles for 32 bits: no quotient is so near below an integer that rounding would reach it. There
 * are vector instructions for float divisions, but not for integer divisions. */
static inline gint8
cleave_i8_div (gint8 a, gint8 b)
{
  return b == 0 ? 0 : (gint8) (gint32) ((float) a / (b == 0 ? 1 : (float) b));
}

static inline guint8
cleave_u8_div (guint8 a, guint8 b)
{
  return b == 0 ? 0 : (guint8) (gint32) ((float) a / (b == 0 ? 1 : (float) b));
}

/* Returns a / b, truncated; 0 if b is 0. G_MININT32 / -1 overflows; dividing by 1 instead gives the
 * value to which it wraps around. */
static inline gint32
cleave_i32_div (gint32 a, gint32 b)
{
  const gboolean is_one = (b == 0) | ((b == -1) & (a == G_MININT32));

  return b == 0 ? 0 : (gint32) ((double) a / (is_one ? 1 : (double) b));
}

static inline gint64
cleave_i64_div (gint64 a, gint64 b)
{
  return b == 0 ? 0 : b == -1 ? (gint64) -(guint64) a : a / b;
}

static inline guint64
cleave_u64_div (guint64 a, guint64 b)
{
  return b == 0 ? 0 : a / b;
}

SIGNED (gint8, i8, guint32)
SIGNED (gint32, i32, guint32)
SIGNED (gint64, i64, guint64)
UNSIGNED (guint8, u8, guint32)
UNSIGNED (guint64, u64, guint64)
#undef INTEGERS
#undef SIGNED
#undef UNSIGNED
/* clang-format on */

static inline gboolean
cleave_f32_is_negative (float a)
{
  return a < 0;
}

static inline gboolean
cleave_f64_is_negative (double a)
{
  return a < 0;
}

/* Return a real number, such as a bound of Clip, as an integer: truncated, and clamped to the range
 * of the type; 0 for NaN. */
CLEAVE_CALL gint64
cleave_i64_bound (double a)
{
  return a != a ? 0 : a <= -0x1p63 ? G_MININT64 : a >= 0x1p63 ? G_MAXINT64 : (gint64) a;
}

CLEAVE_CALL guint64
cleave_u64_bound (double a)
{
  return !(a > 0) ? 0 : a >= 0x1p64 ? G_MAXUINT64 : (guint64) a;
}

/* Returns the result of a Shrink: 0 if |a| <= lambd, else a moved towards 0 by `bias`. Integers are
 * computed as real numbers, so that `bias` can be a fraction. */
static inline float
cleave_f32_shrink (float a, double lambd, double bias)
{
  float l = (float) lambd, b = (float) bias;

  return cleave_f32_select (a < -l, a + b, cleave_f32_select (a > l, a - b, 0));
}

static inline double
cleave_f64_shrink (double a, double lambd, double bias)
{
  return a < -lambd ? a + bias : a > lambd ? a - bias : 0;
}

static inline gint64
cleave_i64_shrink (gint64 a, double lambd, double bias)
{
  return cleave_i64_bound (cleave_f64_shrink ((double) a, lambd, bias));
}

static inline guint64
cleave_u64_shrink (guint64 a, double lambd, double bias)
{
  return cleave_u64_bound (cleave_f64_shrink ((double) a, lambd, bias));
}

/* Return the lower bound `least` and the upper bound `most` of a Clip in the type in which the Clip
 * is computed. */
static inline float
cleave_f32_least (double least, double most)
{
  return (float) least;
}

static inline float
cleave_f32_most (double least, double most)
{
  return (float) most;
}

static inline double
cleave_f64_least (double least, double most)
{
  return least;
}

static inline double
cleave_f64_most (double least, double most)
{
  return most;
}

static inline gint64
cleave_i64_least (double least, double most)
{
  return cleave_i64_bound (least);
}

static inline gint64
cleave_i64_most (double least, double most)
{
  return cleave_i64_bound (most);
}

static inline guint64
cleave_u64_least (double least, double most)
{
  return cleave_u64_bound (least);
}

static inline guint64
cleave_u64_most (double least, double most)
{
  return cleave_u64_bound (most);
}

/* Functions for types that are computed in a wider type; the result is then truncated to the narrow
 * type. The wide bounds of a Clip may exclude all narrow values, or be in the wrong order. The
 * result is then one value for all elements (is_one), truncated. */
/* clang-format off */
#define NARROW(T, t, wide, Wide, lowest, highest)                                                  \
  CLEAVE_CALL T cleave_##t##_bound (double a)                                                      \
  {                                                                                                \
    const Wide whole = cleave_##wide##_bound (a);                                                  \
                                                                                                   \
    return (T) MIN (MAX (whole, lowest), highest);                                                 \
  }                                                                                                \
  static inline gboolean cleave_##t##_is_one (Wide least, Wide most)                               \
  {                                                                                                \
    return most <= least || least > highest || MAX (most, lowest) > most;                                      \
  }                                                                                                \
  CLEAVE_CALL T cleave_##t##_least (double from, double to)                                        \
  {                                                                                                \
    const Wide least = cleave_##wide##_bound (from), most = cleave_##wide##_bound (to);            \
                                                                                                   \
    return cleave_##t##_is_one (least, most) ? (T) MIN (MAX (least, lowest), most)                 \
                                             : cleave_##t##_bound (from);                          \
  }                                                                                                \
  CLEAVE_CALL T cleave_##t##_most (double from, double to)                                         \
  {                                                                                                \
    const Wide least = cleave_##wide##_bound (from), most = cleave_##wide##_bound (to);            \
                                                                                                   \
    return cleave_##t##_is_one (least, most) ? (T) MIN (MAX (least, lowest), most)                 \
                                             : cleave_##t##_bound (to);                            \
  }                                                                                                \
  static inline T cleave_##t##_shrink (T a, double lambd, double bias)                             \
  {                                                                                                \
    return (T) cleave_##wide##_shrink (a, lambd, bias);                                            \
  }
NARROW (gint8, i8, i64, gint64, (gint64) G_MININT8, (gint64) G_MAXINT8)
NARROW (guint8, u8, u64, guint64, (guint64) 0, (guint64) G_MAXUINT8)
NARROW (gint32, i32, i64, gint64, (gint64) G_MININT32, (gint64) G_MAXINT32)
#undef NARROW
/* clang-format on */

/* The attributes of an op of the kind FOLD, such as a Sum of many operands. The kernel's loop over
 * the operands sets the index of the current operand. */
typedef struct
{
  gint64 index, n_operands;
} CleaveFold;

/* An empty struct: the attributes of ops without attributes. */
__extension__ typedef struct
{
} CleaveNoAttrs;

/* Call the function named `word` for the type T of the code around the macro. CLEAVE_F selects
 * among the functions of floats, CLEAVE_N among the functions of all types. */
#define CLEAVE_F(word, ...)                                                                        \
  _Generic((T) 0, float : cleave_f32_##word, double : cleave_f64_##word) (__VA_ARGS__)
#define CLEAVE_N(word, ...)                                                                        \
  _Generic((T) 0, float                                                                            \
           : cleave_f32_##word, double                                                             \
           : cleave_f64_##word, gint8                                                              \
           : cleave_i8_##word, guint8                                                              \
           : cleave_u8_##word, gint32                                                              \
           : cleave_i32_##word, gint64                                                             \
           : cleave_i64_##word, guint64                                                            \
           : cleave_u64_##word) (__VA_ARGS__)
/* Calls the function named `word` for the unsigned integer type T. */
#define CLEAVE_U(word, ...)                                                                        \
  _Generic((T) 0, guint8 : cleave_u8_##word, guint64 : cleave_u64_##word) (__VA_ARGS__)
/* Returns a if `choice`, else b, in the type T. */
#define CLEAVE_SELECT(choice, a, b) CLEAVE_N (select, choice, (T) (a), (T) (b))
/* Clamps a to [0, 1]. */
#define CLEAVE_UNIT(a)                                                                             \
  CLEAVE_F (at_least, CLEAVE_F (at_most, a, CLEAVE_F (unit_bound, TRUE)),                          \
            CLEAVE_F (unit_bound, FALSE))
/* Converts a real number, such as a bound, to the type T. */
#define CLEAVE_BOUND(a) CLEAVE_N (bound, a)
