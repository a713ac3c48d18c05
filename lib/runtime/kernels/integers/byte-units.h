/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Converts bytes of x to the numbers that products read (byte-product.h). byte-image.h and
 * integer-matmul.c convert rows of x with these functions. With `unit` CLEAVE_DOT2, the numbers are
 * 16-bit integers: bytes minus the zero point. With CLEAVE_DOT4, the numbers are unsigned bytes:
 * signed bytes plus 128, unsigned bytes unchanged. */

#include "int-vector.h"

#include <string.h>

/* Returns the zero point of the converted elements. */
static inline gint32
cleave_byte_unit_zero (gint64 unit, CleaveElement element, gint32 zero)
{
  return unit == CLEAVE_DOT2 ? 0 : element == CLEAVE_INT8 ? zero + 128 : zero;
}

/* Returns the bytes of one converted element. */
static inline gint64
cleave_byte_unit_size (gint64 unit)
{
  return 4 / unit;
}

/* clang-format off */
#define UNITS(word, from_type, to_type, formula)                                                   \
  static inline void cleave_byte_units_##word (const from_type *from, gint64 step, gint32 zero,    \
                                               to_type *to, gint64 to_step, gint64 n)              \
  {                                                                                                \
    if (step == 1 && to_step == 1)                                                                 \
      for (gint64 i = 0; i < n; i++)                                                               \
        to[i] = (to_type) (formula (from[i]));                                                     \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        to[i * to_step] = (to_type) (formula (from[i * step]));                                    \
  }
#define LESS_ZERO(v) (v) - zero
#define FLIPPED(v) (v) ^ zero
UNITS (dot2_signed, gint8, gint16, LESS_ZERO)
UNITS (dot2, guint8, gint16, LESS_ZERO)
UNITS (dot4, guint8, guint8, FLIPPED)
#undef FLIPPED
#undef LESS_ZERO
#undef UNITS
/* clang-format on */

/* Converts `n` elements of x. `step` is the distance of adjacent elements in x, `to_step` the
 * distance of adjacent elements at `to`, both in elements. */
static inline void
cleave_byte_units_make (gint64 unit,
                        CleaveElement element,
                        gint32 zero,
                        gconstpointer from,
                        gint64 step,
                        gpointer to,
                        gint64 to_step,
                        gint64 n)
{
  if (unit == CLEAVE_DOT4)
    cleave_byte_units_dot4 (from, step, element == CLEAVE_INT8 ? 0x80 : 0, to, to_step, n);
  else if (element == CLEAVE_INT8)
    cleave_byte_units_dot2_signed (from, step, zero, to, to_step, n);
  else
    cleave_byte_units_dot2 (from, step, zero, to, to_step, n);
}

/* Stores padding: `n` converted elements that equal the zero point. */
static inline void
cleave_byte_units_pad (gint64 unit, CleaveElement element, gint32 zero, gpointer to, gint64 n)
{
  memset (to, cleave_byte_unit_zero (unit, element, zero),
          (gsize) (n * cleave_byte_unit_size (unit)));
}

/* Subtracts the zero point `zero` (cleave_byte_unit_zero()) from each of `n` converted elements,
 * and returns the sum of the differences. */
static inline gint64
cleave_byte_units_add (gint64 unit, gint32 zero, gconstpointer from, gint64 n)
{
  const guint8 *dot4 = from;
  const gint16 *dot2 = from;
  gint64 sum = 0;

  if (unit == CLEAVE_DOT2)
    for (gint64 i = 0; i < n; i++)
      sum += dot2[i];
  else
    for (gint64 i = 0; i < n; i++)
      sum += dot4[i] - zero;
  return sum;
}
