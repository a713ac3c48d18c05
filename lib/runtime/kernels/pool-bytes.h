/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "eight-bytes.h"
#include "integers/int-vector.h"
#include "pool-windows.h"

/* MaxPool of bytes; pool.c calls cleave_pool_bytes(). The maxima of a block of channels are in
 * registers. If the last block is not full, it overlaps the block before it, and writes equal bytes
 * to the shared channels. A pragma disables unrolling, because compilers vectorize loops but not
 * unrolled steps. */

#ifdef __clang__
#define CLEAVE_POOL_LOOP _Pragma ("clang loop unroll(disable)")
#else
#define CLEAVE_POOL_LOOP _Pragma ("GCC unroll 1")
#endif

/* Computes the maxima of four to seven channels as two overlapping groups of four bytes. XOR with
 * `least`, the minimum of the type, turns signed bytes into unsigned bytes with the same order. */
static inline void
cleave_pool_fours (const CleavePoolWindow *w, gconstpointer x, gpointer y, gint64 n, int least)
{
  const CleaveEightBytes flip = cleave_bytes_all ((guint8) least);
  CleaveEightBytes best = { 0 };

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  {
    const char *from = (const char *) x + p * w->plane + i * w->row + j * w->column;

    best = cleave_bytes_max (best, cleave_bytes_load_fours (from, from + n - 4) ^ flip);
  }
  cleave_bytes_store_fours (y, (char *) y + n - 4, best ^ flip);
}

/* clang-format off */
#define CLEAVE_POOL_BYTES_BY(word, T, least, size)                                                 \
  static CLEAVE_SPECIALISED void cleave_pool_##word##_of_##size (const CleavePoolWindow *w,        \
                                                                 const T *x, T *y)                 \
  {                                                                                                \
    T best[size];                                                                                  \
                                                                                                   \
    CLEAVE_POOL_LOOP                                                                               \
    for (int k = 0; k < size; k++)                                                                 \
      best[k] = least;                                                                             \
    for (gint64 p = 0; p < w->n_planes; p++)                                                       \
      for (gint64 i = 0; i < w->n_rows; i++)                                                       \
        {                                                                                          \
          const T *from = x + p * w->plane + i * w->row;                                           \
                                                                                                   \
          for (gint64 j = 0; j < w->n_columns; j++, from += w->column)                             \
            {                                                                                      \
              CLEAVE_POOL_LOOP                                                                     \
              for (int k = 0; k < size; k++)                                                       \
                best[k] = MAX (best[k], from[k]);                                                  \
            }                                                                                      \
        }                                                                                          \
    CLEAVE_POOL_LOOP                                                                               \
    for (int k = 0; k < size; k++)                                                                 \
      y[k] = best[k];                                                                              \
  }                                                                                                \
  static gint64 cleave_pool_##word##_##size (const CleavePoolWindow *of, const T *x, T *y,         \
                                             gint64 n_pixels, gint64 c, gint64 n)                  \
  {                                                                                                \
    const CleavePoolWindow w = *of; /* a local copy, so that the compiler knows that stores do not change it */             \
                                                                                                   \
    for (; c + size <= n; c += size)                                                               \
      for (gint64 i = 0; i < n_pixels; i++)                                                        \
        cleave_pool_##word##_of_##size (&w, x + c + i * w.x_pixel, y + c + i * w.y_pixel);         \
    return c;                                                                                      \
  }
#define CLEAVE_POOL_REST(word, size)                                                               \
  c = cleave_pool_##word##_##size (w, x, y, n_pixels, c, n);                                                 \
  if (c < n && n >= size)                                                                          \
    c = cleave_pool_##word##_##size (w, x, y, n_pixels, n - size, n);
#define CLEAVE_POOL_BYTES_OF(word, T, least)                                                       \
  CLEAVE_POOL_BYTES_BY (word, T, least, 64)                                                        \
  CLEAVE_POOL_BYTES_BY (word, T, least, 32)                                                        \
  CLEAVE_POOL_BYTES_BY (word, T, least, 16)                                                        \
  CLEAVE_POOL_BYTES_BY (word, T, least, 8)                                                         \
  CLEAVE_POOL_BYTES_BY (word, T, least, 1)                                                         \
                                                                                                   \
  static inline void cleave_pool_all_##word (const CleavePoolWindow *w, const T *x, T *y,          \
                                             gint64 n_pixels, gint64 n)                            \
  {                                                                                                \
    gint64 c = cleave_pool_##word##_64 (w, x, y, n_pixels, 0, n);                                            \
                                                                                                   \
    CLEAVE_POOL_REST (word, 32)                                                                    \
    CLEAVE_POOL_REST (word, 16)                                                                    \
    CLEAVE_POOL_REST (word, 8)                                                                     \
    if (n >= 4 && n < 8)                                                  \
      {                                                                                            \
        for (gint64 i = 0; i < n_pixels; i++)                                                      \
          cleave_pool_fours (w, x + i * w->x_pixel, y + i * w->y_pixel, n, least);                 \
        return;                                                                                    \
      }                                                                                            \
    cleave_pool_##word##_1 (w, x, y, n_pixels, c, n);                                                        \
  }
CLEAVE_POOL_BYTES_OF (unsigned, guint8, 0)
CLEAVE_POOL_BYTES_OF (signed, gint8, G_MININT8)
#undef CLEAVE_POOL_BYTES_OF
#undef CLEAVE_POOL_BYTES_BY
#undef CLEAVE_POOL_REST
#undef CLEAVE_POOL_LOOP
/* clang-format on */

/* Computes n_pixels pixels of y. Each of their `n` channels is the maximum over the pixel's
 * window. */
static inline void
cleave_pool_bytes (const CleavePoolWindow *window,
                   gboolean is_signed,
                   gconstpointer x,
                   gpointer y,
                   gint64 n_pixels,
                   gint64 n)
{
  if (is_signed)
    cleave_pool_all_signed (window, x, y, n_pixels, n);
  else
    cleave_pool_all_unsigned (window, x, y, n_pixels, n);
}
