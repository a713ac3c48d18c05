/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Arithmetic of elementwise.def for each type: floats, and integers that wrap around. Also the
 * bounds of Clips and Shrinks. elementwise-math.h includes this file and states rules that also
 * hold for this file.
 */

#include "elementwise-basics.h"
#include "elementwise-exp.h"

/* clang-format off */
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

/* Each function returns a / b, truncated; 0 if b is 0. The functions for bytes divide floats, and
 * the function for 32-bit integers divides doubles. The truncated result is exact: no quotient is
 * so near below an integer that the division would round it up to this integer. There are vector
 * instructions for float divisions, but not for integer divisions. */
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

/* Returns a / b, truncated; 0 if b is 0. G_MININT32 / -1 overflows, and must wrap around to
 * G_MININT32: for this case, divides by 1 instead of -1. */
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

/* cleave_i64_bound() and cleave_u64_bound() convert a real number, such as a bound of Clip, to an
 * integer: truncated, and clamped to the range of the integer type. NaN gives 0. */
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

/* The functions …_least() return the lower bound `least` of a Clip, and the functions …_most() the
 * upper bound `most`, in the type in which the Clip is computed. */
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
 * type. The functions whose names end in `is_one` return whether a Clip with the bounds `least` and
 * `most` gives the same value for all elements. This is so if the bounds exclude all values of the
 * narrow type, or if `least` is not below `most`. */
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
