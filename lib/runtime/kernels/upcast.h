/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Converts bytes and 16-bit floats to float32, and float32 results to these types. All kernels of
 * these types convert their operands with these functions. Compilers vectorize the loops. All
 * levels give the same bits, except in the payload of a NaN. */

#include "../../ops/half.h"
#include "../kernels.h"
#include "vector-float16.h"
#include "vector.h"

#include <string.h>

static inline void
cleave_upcast_halves (const guint16 *from, gint64 step, float *to, gint64 n)
{
  gint64 i = 0;

#if defined(CLEAVE_HAS_FLOAT16)
  for (; step == 1 && i + 8 <= n; i += 8)
    cleave_float16_widen_8 (from + i, to + i);
#else
  if (step == 1)
    for (; i < n; i++)
      to[i] = cleave_half_to_float (from[i]);
#endif
  for (; i < n; i++)
#if defined(CLEAVE_HAS_FLOAT16)
    to[i] = cleave_float16_widen (from[i * step]);
#else
    to[i] = cleave_half_to_float (from[i * step]);
#endif
}

static inline void
cleave_narrow_halves (const float *from, guint16 *to, gint64 step, gint64 n)
{
  gint64 i = 0;

#if defined(CLEAVE_HAS_FLOAT16)
  for (; step == 1 && i + 8 <= n; i += 8)
    cleave_float16_narrow_8 (from + i, to + i);
#else
  if (step == 1)
    for (; i < n; i++)
      to[i] = cleave_half_from_float (from[i]);
#endif
  for (; i < n; i++)
#if defined(CLEAVE_HAS_FLOAT16)
    to[i * step] = cleave_float16_narrow (from[i]);
#else
    to[i * step] = cleave_half_from_float (from[i]);
#endif
}

/* clang-format off */
#define UPCAST(word, type, formula)                                                                 \
  static inline void cleave_upcast_##word (const type *from, gint64 step, gint32 zero, float *to,   \
                                          gint64 n)                                                \
  {                                                                                                \
    if (step == 1)                                                                                 \
      for (gint64 i = 0; i < n; i++)                                                               \
        {                                                                                          \
          const type v = from[i];                                                                  \
          to[i] = formula;                                                                         \
        }                                                                                          \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        {                                                                                          \
          const type v = from[i * step];                                                           \
          to[i] = formula;                                                                         \
        }                                                                                          \
  }
UPCAST (int8, gint8, (float) (v - zero))
UPCAST (uint8, guint8, (float) (v - zero))
UPCAST (int32, gint32, (float) v)
UPCAST (bfloat16, guint16, cleave_bfloat16_to_float (v))
UPCAST (float32, float, v)
#undef UPCAST
/* clang-format on */

/* Converts n elements, `step` elements apart, to contiguous floats. Subtracts `zero` from bytes. */
static inline void
cleave_upcast (
    CleaveElement element, gconstpointer from, gint64 step, gint32 zero, float *to, gint64 n)
{
  if (element == CLEAVE_INT8)
    cleave_upcast_int8 (from, step, zero, to, n);
  else if (element == CLEAVE_UINT8)
    cleave_upcast_uint8 (from, step, zero, to, n);
  else if (element == CLEAVE_FLOAT16)
    cleave_upcast_halves (from, step, to, n);
  else if (element == CLEAVE_INT32)
    cleave_upcast_int32 (from, step, zero, to, n);
  else if (element == CLEAVE_BFLOAT16)
    cleave_upcast_bfloat16 (from, step, zero, to, n);
  else
    cleave_upcast_float32 (from, step, zero, to, n);
}

/* Defines a function that truncates floats to integers and saturates them. `above` is the smallest
 * value beyond the range, since the greatest integer, 2^31 - 1, is not a float. */
#define CUT_OFF(word, type, least, above)                                                          \
  static inline void cleave_cut_off_##word (const float *from, type *to, gint64 step, gint64 n)    \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      to[i * step] = from[i] < (above) ? (type) MAX (from[i], least) : (type) ((above) -1.0);      \
  }
CUT_OFF (int8, gint8, -0x1p7f, 0x1p7f)
CUT_OFF (uint8, guint8, 0.0f, 0x1p8f)
CUT_OFF (int32, gint32, -0x1p31f, 0x1p31f)
#undef CUT_OFF

/* Converts n floats to a 16-bit type by rounding, or to an integer type by truncation. */
static inline void
cleave_narrow (CleaveElement element, const float *from, gpointer to, gint64 step, gint64 n)
{
  guint16 *bfloats = to;

  if (element == CLEAVE_FLOAT16)
    cleave_narrow_halves (from, to, step, n);
  else if (element == CLEAVE_INT8)
    cleave_cut_off_int8 (from, to, step, n);
  else if (element == CLEAVE_UINT8)
    cleave_cut_off_uint8 (from, to, step, n);
  else if (element == CLEAVE_INT32)
    cleave_cut_off_int32 (from, to, step, n);
  else if (step == 1)
    for (gint64 i = 0; i < n; i++)
      bfloats[i] = cleave_bfloat16_from_float (from[i]);
  else
    for (gint64 i = 0; i < n; i++)
      bfloats[i * step] = cleave_bfloat16_from_float (from[i]);
}

/* Rounds floats to the nearest byte, ties to even, and adds a zero point; a NaN gives the zero
 * point. The bounds are integers, so clamping before rounding gives the same result as clamping
 * after it. After CLEAVE_ROUNDER is added, a float has no bits for fractions, so the low bits of
 * the sum are the rounded integer. */
#define CLEAVE_BYTE_BOUND 1024
#define CLEAVE_ROUNDER 0x1.8p23f

static inline gint32
cleave_quantize_byte (float value, gint32 zero, gint32 least, gint32 most)
{
  const float low = (float) (least - zero), high = (float) (most - zero);
  float v = value != value ? 0 : value;
  guint32 bits, rounder;

  v = low > v ? low : v;
  v = high < v ? high : v;
  v += CLEAVE_ROUNDER;
  memcpy (&bits, &v, sizeof bits);
  v = CLEAVE_ROUNDER;
  memcpy (&rounder, &v, sizeof rounder);
  return (gint32) (bits - rounder) + zero;
}

/* Reserves n_values floats or 32-bit integers at the end of scratch. Returns their byte offset. */
static inline gsize
cleave_take_scratch (gsize *n_scratch, gint64 n_values)
{
  gsize at = *n_scratch;

  *n_scratch += ((gsize) n_values * sizeof (float) + 63) / 64 * 64;
  return at;
}
