/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "pool-windows.h"

/* Channels whose greatest bytes are in registers; of what is left, a half, which may overlap those
 * before, since the same bytes are written twice; and of fewer a quarter, or one after the other.
 */

/* clang-format off */
#define CLEAVE_POOL_BYTES_BY(word, T, least, size)                                                 \
  static CLEAVE_SPECIALISED gint64 cleave_pool_##word##_##size (const CleavePoolWindow *w,         \
                                                                const T *x, T *y, gint64 c,        \
                                                                gint64 n)                          \
  {                                                                                                \
    for (; c + size <= n; c += size)                                                               \
      {                                                                                            \
        T best[size];                                                                              \
                                                                                                   \
        for (int k = 0; k < size; k++)                                                             \
          best[k] = least;                                                                         \
        for (gint64 p = 0; p < w->n_planes; p++)                                                   \
          for (gint64 i = 0; i < w->n_rows; i++)                                                   \
            {                                                                                      \
              const T *from = x + c + p * w->plane + i * w->row;                                   \
                                                                                                   \
              for (gint64 j = 0; j < w->n_columns; j++, from += w->column)                         \
                for (int k = 0; k < size; k++)                                                     \
                  best[k] = MAX (best[k], from[k]);                                                \
            }                                                                                      \
        for (int k = 0; k < size; k++)                                                             \
          y[c + k] = best[k];                                                                      \
      }                                                                                            \
    return c;                                                                                      \
  }
#define CLEAVE_POOL_BYTES_OF(word, T, least)                                                       \
  CLEAVE_POOL_BYTES_BY (word, T, least, 64)                                                        \
  CLEAVE_POOL_BYTES_BY (word, T, least, 32)                                                        \
  CLEAVE_POOL_BYTES_BY (word, T, least, 16)                                                        \
  CLEAVE_POOL_BYTES_BY (word, T, least, 1)                                                         \
                                                                                                   \
  static inline void cleave_pool_all_##word (const CleavePoolWindow *w, const T *x, T *y,          \
                                             gint64 n)                                             \
  {                                                                                                \
    gint64 c = cleave_pool_##word##_64 (w, x, y, 0, n);                                            \
                                                                                                   \
    c = cleave_pool_##word##_32 (w, x, y, c, n);                                                   \
    if (c < n && n >= 32)                                                                          \
      c = cleave_pool_##word##_32 (w, x, y, n - 32, n);                                            \
    c = cleave_pool_##word##_16 (w, x, y, c, n);                                                   \
    cleave_pool_##word##_1 (w, x, y, c, n);                                                        \
  }
CLEAVE_POOL_BYTES_OF (unsigned, guint8, 0)
CLEAVE_POOL_BYTES_OF (signed, gint8, G_MININT8)
#undef CLEAVE_POOL_BYTES_OF
#undef CLEAVE_POOL_BYTES_BY
/* clang-format on */

/* The greatest byte of a window, of each of `n` channels. */
static inline void
cleave_pool_bytes (
    const CleavePoolWindow *window, gboolean is_signed, gconstpointer x, gpointer y, gint64 n)
{
  if (is_signed)
    cleave_pool_all_signed (window, x, y, n);
  else
    cleave_pool_all_unsigned (window, x, y, n);
}
