/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Quantizes contiguous floats with one scale. convert.c and the QDQ kernels of bytes use these
 * functions. A division takes as long as ten other operations, so this code multiplies x by the
 * reciprocal of the scale, and corrects the product to the bits of the division. */

#include "integers/int-vector.h"

#include <math.h>

/* Returns whether the reciprocal of a scale, and the remainder of a division by the scale, are
 * exact enough for cleave_quantize_line(). */
static inline gboolean
cleave_quantize_line_serves (float scale)
{
  return scale >= 0x1p-100f && scale <= 0x1p100f;
}

#if defined(CLEAVE_HAS_FMA)
typedef struct
{
  CleaveVector scale, reciprocal, low, high;
} CleaveDivisor;

/* Returns x / scale, rounded as one division would round it, to the nearest integer, ties to even.
 * x must not be a NaN, and the quotient must fit into 22 bits.
 *
 * Let `half` be the middle between the two integers next to x * reciprocal. The code computes half
 * + (x - half * scale) * reciprocal. Rounding matters only if the quotient is close to `half`. Then
 * x * reciprocal is `half` or an adjacent float, and the remainder x - half * scale is exact. The
 * result is therefore x / scale, correctly rounded (Markstein's theorem). For all other quotients,
 * the result and x / scale are on the same side of `half`. */
static inline CleaveIntVector
cleave_divide_tame_to_ints (CleaveVector x, const CleaveDivisor *by)
{
  CleaveVector half = cleave_vector_floor (x * by->reciprocal) + 0.5f;

  x = cleave_vector_fma (cleave_vector_fma (-half, by->scale, x), by->reciprocal, half);
  return cleave_ints_of_floats (x);
}

/* Returns x / scale for any x, rounded to the nearest integer, ties to even. The result is exact if
 * its magnitude is at most CLEAVE_BYTE_BOUND. For a quotient beyond this bound, the result is an
 * integer of the same sign with at least the magnitude of the bound. A NaN gives 0. */
static inline CleaveIntVector
cleave_divide_to_ints (CleaveVector x, const CleaveDivisor *by)
{
  return cleave_divide_tame_to_ints (cleave_vector_within (x, by->low, by->high), by);
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

/* Quantizes floats as long as they fill whole vectors. Returns the number of floats that it
 * quantized. */
static inline __attribute__ ((always_inline)) gint64
cleave_quantize_line (
    const float *x, float scale, gint32 zero, gboolean is_signed, guint8 *y, gint64 n)
{
  gint64 i = 0;

#if defined(CLEAVE_HAS_FMA)
  const CleaveDivisor by = cleave_divisor (scale);

  for (; i + 2 * CLEAVE_LANES <= n; i += 2 * CLEAVE_LANES)
    cleave_ints_narrow (cleave_divide_to_ints (cleave_vector_load (x + i), &by),
                        cleave_divide_to_ints (cleave_vector_load (x + i + CLEAVE_LANES), &by),
                        zero, is_signed, y + i);
#endif
  return i;
}
