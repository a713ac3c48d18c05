/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Floats side by side to bytes, by one scale: a division takes as long as ten other steps, so that
 * it is one multiplication, which two steps then mend. */

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

/* x / scale as one division would round it, to the nearest whole number, ties to even; what is far
 * beyond a byte stays so, and a NaN is 0.
 *
 * A first quotient, with an error of two units in the last place at most, and what it leaves of x;
 * the second is the one or the other neighbour of x / scale, and what that leaves is exact, so that
 * the third is x / scale, rounded (Markstein).  Below a quarter it may be another; that is 0. */
static inline CleaveIntVector
cleave_divide_to_ints (CleaveVector x, const CleaveDivisor *by)
{
  CleaveVector q;

  x = cleave_vector_select (x == x, x, (CleaveVector){ 0 });
  x = cleave_vector_at_most (cleave_vector_at_least (x, by->low), by->high);
  q = x * by->reciprocal;
  for (int i = 0; i < 2; i++)
    q = cleave_vector_fma (cleave_vector_fma (-q, by->scale, x), by->reciprocal, q);
#if defined(__AVX512BW__)
  return _mm512_cvtps_epi32 (q);
#else
  return _mm256_cvtps_epi32 (q);
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
