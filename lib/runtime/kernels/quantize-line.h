/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Quantizes contiguous floats with one scale. A division takes as long as ten other steps, so x
 * is multiplied by the reciprocal and the result is corrected in a few steps, to the same bits. */

#include "integers/int-vector.h"

#include <math.h>

/* Returns whether a scale's reciprocal, and the remainder of a division by it, are exact enough. */
static inline gboolean
cleave_quantize_line_serves (float scale)
{
  return scale >= 0x1p-100f && scale <= 0x1p100f;
}

#if defined(__FMA__)
typedef struct
{
  CleaveVector scale, reciprocal, low, high;
} CleaveDivisor;

/* Returns x / scale, rounded as one division would round it, to the nearest integer, ties to even.
 * x must not be a NaN, and the quotient must fit into 22 bits.
 *
 * Rounding matters only if the quotient is close to the middle between two integers. The product
 * with the reciprocal is then that middle or an adjacent float, and the remainder of x is exact. So
 * product plus correction is x / scale, correctly rounded (Markstein). Elsewhere the product is on
 * the same side of the middle as x / scale. */
static inline CleaveIntVector
cleave_divide_tame_to_ints (CleaveVector x, const CleaveDivisor *by)
{
  CleaveVector half = x * by->reciprocal;

#if defined(__AVX512BW__)
  half = _mm512_roundscale_ps (half, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#else
  half = _mm256_floor_ps (half);
#endif
  half += 0.5f;
  x = cleave_vector_fma (cleave_vector_fma (-half, by->scale, x), by->reciprocal, half);
#if defined(__AVX512BW__)
  return _mm512_cvtps_epi32 (x);
#else
  return _mm256_cvtps_epi32 (x);
#endif
}

/* Divides any x and rounds as cleave_divide_tame_to_ints() does. Quotients far beyond the range
 * of a byte stay beyond it, and a NaN gives 0. Values too small for the conversion to integers
 * become the smallest integer. */
static inline CleaveIntVector
cleave_divide_to_ints (CleaveVector x, const CleaveDivisor *by)
{
#if defined(__AVX512BW__)
  return cleave_divide_tame_to_ints (
      _mm512_maskz_min_ps (_mm512_cmp_ps_mask (x, x, _CMP_ORD_Q), by->high, x), by);
#else
  x = cleave_vector_select (x == x, x, (CleaveVector){ 0 });
  return cleave_divide_tame_to_ints (
      cleave_vector_at_most (cleave_vector_at_least (x, by->low), by->high), by);
#endif
}

static inline CleaveDivisor
cleave_divisor (float scale)
{
  return (CleaveDivisor){ .scale = cleave_vector_all (scale),
                          .reciprocal = cleave_vector_all (1 / scale),
                          .low = cleave_vector_all (-CLEAVE_BYTE_BOUND * scale),
                          .high = cleave_vector_all (CLEAVE_BYTE_BOUND * scale) };
}
#endif

/* Quantizes as many of the `n` floats as fill vectors; returns how many. */
static inline __attribute__ ((always_inline)) gint64
cleave_quantize_line (
    const float *x, float scale, gint32 zero, gboolean is_signed, guint8 *y, gint64 n)
{
  gint64 i = 0;

#if defined(__FMA__)
  const CleaveDivisor by = cleave_divisor (scale);

  for (; i + 2 * CLEAVE_LANES <= n; i += 2 * CLEAVE_LANES)
    cleave_ints_narrow (cleave_divide_to_ints (cleave_vector_load (x + i), &by),
                        cleave_divide_to_ints (cleave_vector_load (x + i + CLEAVE_LANES), &by),
                        zero, is_signed, y + i);
#endif
  return i;
}
