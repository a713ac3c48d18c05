/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "pool-windows.h"

/* Channels whose greatest bytes are in registers. */
#define CLEAVE_POOL_BYTES 64

/* clang-format off */
#define CLEAVE_POOL_BYTES_OF(word, T, least)                                                       \
  static CLEAVE_SPECIALISED void cleave_pool_##word (const CleavePoolWindow *w, const T *x, T *y,  \
                                                     gint64 n)                                     \
  {                                                                                                \
    T best[CLEAVE_POOL_BYTES];                                                                     \
                                                                                                   \
    for (gint64 c = 0; c < n; c++)                                                                 \
      best[c] = least;                                                                             \
    for (gint64 p = 0; p < w->n_planes; p++)                                                       \
      for (gint64 i = 0; i < w->n_rows; i++)                                                       \
        for (gint64 j = 0; j < w->n_columns; j++)                                                  \
          {                                                                                        \
            const T *from = x + p * w->plane + i * w->row + j * w->column;                         \
                                                                                                   \
            for (gint64 c = 0; c < n; c++)                                                         \
              best[c] = MAX (best[c], from[c]);                                                    \
          }                                                                                        \
    for (gint64 c = 0; c < n; c++)                                                                 \
      y[c] = best[c];                                                                              \
  }                                                                                                \
                                                                                                   \
  static inline void cleave_pool_all_##word (const CleavePoolWindow *w, const T *x, T *y,          \
                                             gint64 n)                                             \
  {                                                                                                \
    gint64 c = 0;                                                                                  \
                                                                                                   \
    for (; c + CLEAVE_POOL_BYTES <= n; c += CLEAVE_POOL_BYTES)                                     \
      cleave_pool_##word (w, x + c, y + c, CLEAVE_POOL_BYTES);                                     \
    for (; c + CLEAVE_POOL_BYTES / 4 <= n; c += CLEAVE_POOL_BYTES / 4)                             \
      cleave_pool_##word (w, x + c, y + c, CLEAVE_POOL_BYTES / 4);                                 \
    if (c < n)                                                                                     \
      cleave_pool_##word (w, x + c, y + c, n - c);                                                 \
  }
CLEAVE_POOL_BYTES_OF (unsigned, guint8, 0)
CLEAVE_POOL_BYTES_OF (signed, gint8, G_MININT8)
#undef CLEAVE_POOL_BYTES_OF
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
