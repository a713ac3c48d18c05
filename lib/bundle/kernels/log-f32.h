/* SPDX-License-Identifier: 0BSD */

/* The logarithm of floats, within 1.5 ulp. The kernels log-f32.c and log-softmax-f32.c use it. */

#ifndef CLEAVE_LOG_F32_H
#define CLEAVE_LOG_F32_H

#include "cleave-kernels.h"

/* Returns (log (1 + f) - f + f * f / 2) / (f * f * f): the polynomial of log (1 + f) from the third
 * degree on. */
static inline float
log_f32_polynomial (float f)
{
  float p = cleave_fma (-0.128651381f, f, 0.139927909f);

  p = cleave_fma (p, f, -0.121907413f);
  p = cleave_fma (p, f, 0.140040115f);
  p = cleave_fma (p, f, -0.166799843f);
  p = cleave_fma (p, f, 0.200105354f);
  p = cleave_fma (p, f, -0.249998093f);
  return cleave_fma (p, f, 0.333332121f);
}

static inline float
log_f32_of (float a)
{
  const int tiny = a < 1.17549435e-38f;
  const float x = tiny ? a * 8388608.0f : a;
  const uint32_t exponent = (cleave_bits (x) - 0x3f2aaaabu) & 0xff800000u;
  const float f = cleave_from_bits (cleave_bits (x) - exponent) - 1.0f;
  const float whole = (float) (int32_t) exponent * 1.1920929e-7f;
  const float n = whole - (tiny ? 23.0f : 0.0f), square = f * f;
  const float p = square * cleave_fma (f, log_f32_polynomial (f), -0.5f);

  if (!(a > 0) || a > 3.40282347e+38f)
    return a < 0 ? NAN : a > 0 || cleave_is_nan (a) ? a : -INFINITY;
  return cleave_fma (n, 0.693359375f, f + cleave_fma (n, -2.12194440e-4f, p));
}

#endif
