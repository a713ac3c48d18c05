/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* MaxPool of floats with overlapping windows. pool.c computes the maxima along each row of x once,
 * stores them in a ring of rows, and uses them for all rows of y whose windows include the row. If
 * values are equal, the maximum is the first of them. */

#include "pool-bytes.h"

#define CLEAVE_POOL_GREATEST(word, T)                                                              \
  static inline void cleave_pool_greatest_##word (T *restrict y, const T *restrict x, gint64 n)    \
  {                                                                                                \
    for (gint64 c = 0; c < n; c++)                                                                 \
      y[c] = MAX (y[c], x[c]);                                                                     \
  }
CLEAVE_POOL_GREATEST (unsigned, guint8)
CLEAVE_POOL_GREATEST (signed, gint8)
#undef CLEAVE_POOL_GREATEST

/* Returns the maximum of n_rows rows of the ring, for one vector of channels. Row r is in slot r
 * modulo n_slots. */
static inline CleaveVector
cleave_pool_greatest_vector (
    const float *slots, gint64 step, gint64 first, gint64 n_rows, gint64 n_slots, gint64 n_some)
{
  CleaveVector max = { 0 };
  gint64 slot = first % n_slots;

  for (gint64 k = 0; k < n_rows; k++, slot = slot + 1 == n_slots ? 0 : slot + 1)
    {
      CleaveVector v = cleave_pool_load (slots + slot * step, n_some != 0, (int) n_some);

      max = k == 0 ? v : cleave_pool_max_step (max, v);
    }
  return max;
}

/* Computes, for each float of a row of y, the maximum of rows [first, first + n_rows) of the
 * ring. */
static inline void
cleave_pool_greatest_floats (const float *slots,
                             gint64 step,
                             gint64 first,
                             gint64 n_rows,
                             gint64 n_slots,
                             float *y,
                             gint64 n)
{
  gint64 c = 0;

  for (; c + CLEAVE_VECTOR <= n; c += CLEAVE_VECTOR)
    cleave_vector_store (y + c,
                         cleave_pool_greatest_vector (slots + c, step, first, n_rows, n_slots, 0));
  if (c < n)
    cleave_vector_store_some (
        y + c, cleave_pool_greatest_vector (slots + c, step, first, n_rows, n_slots, n - c),
        (int) (n - c));
}

static inline void
cleave_pool_greatest_bytes (const char *slots,
                            gint64 step,
                            gint64 first,
                            gint64 n_rows,
                            gint64 n_slots,
                            gboolean is_signed,
                            char *y,
                            gint64 n)
{
  memcpy (y, slots + first % n_slots * step, (gsize) n);
  for (gint64 k = 1; k < n_rows; k++)
    {
      const char *row = slots + (first + k) % n_slots * step;

      if (is_signed)
        cleave_pool_greatest_signed ((gint8 *) y, (const gint8 *) row, n);
      else
        cleave_pool_greatest_unsigned ((guint8 *) y, (const guint8 *) row, n);
    }
}
