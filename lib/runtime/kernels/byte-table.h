/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A byte for each byte. */

#include <glib.h>

#if defined(__AVX512BW__)
#include <immintrin.h>

/* Those that fill vectors; returns how many.  Each half of the table is looked up as one. */
__attribute__ ((target ("avx512vbmi"))) static gint64
cleave_byte_table_vectors (const guint8 *table, const guint8 *x, guint8 *y, gint64 n)
{
  const __m512i low[] = { _mm512_loadu_si512 (table), _mm512_loadu_si512 (table + 64) };
  const __m512i high[] = { _mm512_loadu_si512 (table + 128), _mm512_loadu_si512 (table + 192) };
  gint64 i = 0;

  for (; i + 64 <= n; i += 64)
    {
      __m512i at = _mm512_loadu_si512 (x + i);
      __m512i of_low = _mm512_permutex2var_epi8 (low[0], at, low[1]);
      __m512i of_high = _mm512_permutex2var_epi8 (high[0], at, high[1]);

      _mm512_storeu_si512 (y + i, _mm512_mask_mov_epi8 (of_low, _mm512_movepi8_mask (at), of_high));
    }
  return i;
}
#endif

static inline void
cleave_byte_table_line (
    const guint8 *table, const guint8 *x, gint64 x_step, guint8 *y, gint64 y_step, gint64 n)
{
  gint64 i = 0;

#if defined(__AVX512BW__)
  if (x_step == 1 && y_step == 1 && __builtin_cpu_supports ("avx512vbmi"))
    i = cleave_byte_table_vectors (table, x, y, n);
#endif
  if (x_step == 1 && y_step == 1)
    for (; i < n; i++)
      y[i] = table[x[i]];
  else
    for (; i < n; i++)
      y[i * y_step] = table[x[i * x_step]];
}
