/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Exponentials, logarithms, and the functions made of them, such as tanh. elementwise-math.h
 * includes this file and states rules that also hold for this file. The last functions of the file
 * are for double only, and call libm. */

#include <math.h>

#include "elementwise-basics.h"

/* The parts of e^a = (1 + fraction) * 2^exponent, for |a| < 128. `scale` is 2^exponent as a float.
 * If 2^exponent is not a normal float, `scale` is 0 (a < -87.7, about) or infinity (a > 88.4,
 * about). If `a` is NaN, `fraction` is NaN. The polynomial is evaluated as even and odd terms,
 * which halves the chain of additions. */
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

/* Returns log (1 + f) - f + n * (log (2) - 0.693359375), for f from -1/3 to 1/3. To get the
 * logarithm of 2^n * (1 + f), add f and n * 0.693359375 to the returned number. 0.693359375 is log
 * (2) rounded to 9 bits. */
static inline float
cleave_f32_log_rest (float f, float n)
{
  float p = cleave_f32_fma (-0.128651381f, f, 0.139927909f);

  p = cleave_f32_fma (p, f, -0.121907413f);
  p = cleave_f32_fma (p, f, 0.140040115f);
  p = cleave_f32_fma (p, f, -0.166799843f);
  p = cleave_f32_fma (p, f, 0.200105354f);
  p = cleave_f32_fma (p, f, -0.249998093f);
  p = cleave_f32_fma (p, f, 0.333332121f);
  return cleave_f32_fma (n, -2.12194440e-4f, f * f * cleave_f32_fma (f, p, -0.5f));
}

/* Returns log (a) within 1.5 ulp, also for subnormal a. */
static inline float
cleave_f32_log (float a)
{
  gboolean tiny = a < 1.17549435e-38f;
  float x = cleave_f32_select (tiny, a * 8388608.0f, a);
  guint32 exponent =
      (cleave_float_bits (x) - 0x3f2aaaabu) & 0xff800000u; /* exponent field of the power of 2 by
                                                            * which x is divided, so that the
                                                            * quotient is from 2/3 to 4/3 */
  float f = cleave_float_from_bits (cleave_float_bits (x) - exponent) - 1.0f;
  float n = (float) (gint32) exponent * 1.1920929e-7f - cleave_f32_select (tiny, 23.0f, 0.0f);
  float y = cleave_f32_fma (n, 0.693359375f, f + cleave_f32_log_rest (f, n));

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
      (cleave_float_bits (w) - 0x3f2aaaabu) & 0xff800000u; /* exponent field of a float: 0 if w is
                                                            * below 4/3, else 1 (1 << 23) */
  float f = cleave_float_from_bits (cleave_float_bits (w) - exponent) - 1.0f;
  float n = (float) (gint32) exponent * 1.1920929e-7f, d = w - 1.0f;

  lost *= 1.0f + d * (d * 0.5f - 1.0f);
  return cleave_f32_fma (n, 0.693359375f, f + (cleave_f32_log_rest (f, n) + lost));
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

/* Returns erf (a) within 2.65 ulp: 1 - 2^q with the sign of a. Here q is x times a polynomial in x,
 * with x = min (|a|, 3.93). Computes 2^q - 1 directly from the parts of 2^q: 2^q is near 1 if x is
 * near 0, and rounding 2^q first would lose bits of the difference. If |a| is 3.93 or more, |erf
 * (a)| is 1. */
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
/* clang-format on */
