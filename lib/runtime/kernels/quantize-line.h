/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Floats side by side to bytes, by one scale: a division takes as long as ten other steps, so that
 * it is one multiplication, which few steps then mend. */

#include "integers/int-vector.h"

#include <math.h>

/* A scale whose reciprocal, and what is left of a division by it, lose no bits. */
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

/* x / scale as one division would round it, to the nearest whole number, ties to even, if that is
 * no NaN and has 22 bits.
 *
 * Only where the quotient is about half between two whole numbers does its rounding matter.  That
 * half is then one of its neighbours, or itself, and what it leaves of x is exact, so that the sum
 * is x / scale, rounded (Markstein); elsewhere it lies on the side of the half on which x / scale
 * is. */
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

/* The same of any x; what is far beyond a byte stays so, and a NaN is 0.  What is too low for an
 * instruction that makes whole numbers becomes the lowest. */
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

/* Of `n` floats as many as fill vectors; returns how many. */
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
