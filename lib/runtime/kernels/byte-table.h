/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Maps bytes through a table of 256 bytes: y[i] = table[x[i]]. convert.c uses these functions for
 * QDQ groups that a table replaces, and for lookups of TensorFlow Lite. */

#include "isa.h"

#include <glib.h>

#if defined(CLEAVE_AVX512)

/* Maps n bytes of x through the table, into y. Looks up the lower and the upper half of the table
 * separately, since the instruction vpermi2b reads a table of 128 bytes. */
__attribute__ ((target ("avx512vbmi"))) static void
cleave_byte_table_vectors (const guint8 *table, const guint8 *x, guint8 *y, gint64 n)
{
  const __m512i low[] = { _mm512_loadu_si512 (table), _mm512_loadu_si512 (table + 64) };
  const __m512i high[] = { _mm512_loadu_si512 (table + 128), _mm512_loadu_si512 (table + 192) };

  for (gint64 i = 0; i < n; i += 64)
    {
      __mmask64 some = n - i >= 64 ? ~(__mmask64) 0 : ((__mmask64) 1 << (n - i)) - 1;
      __m512i at = _mm512_maskz_loadu_epi8 (some, x + i);
      __m512i of_low = _mm512_permutex2var_epi8 (low[0], at, low[1]);
      __m512i of_high = _mm512_permutex2var_epi8 (high[0], at, high[1]);

      _mm512_mask_storeu_epi8 (y + i, some,
                               _mm512_mask_mov_epi8 (of_low, _mm512_movepi8_mask (at), of_high));
    }
}
#endif

static inline void
cleave_byte_table_line (
    const guint8 *table, const guint8 *x, gint64 x_step, guint8 *y, gint64 y_step, gint64 n)
{
#if defined(CLEAVE_AVX512)
  if (x_step == 1 && y_step == 1 && __builtin_cpu_supports ("avx512vbmi"))
    {
      cleave_byte_table_vectors (table, x, y, n);
      return;
    }
#endif
  if (x_step == 1 && y_step == 1)
    for (gint64 i = 0; i < n; i++)
      y[i] = table[x[i]];
  else
    for (gint64 i = 0; i < n; i++)
      y[i * y_step] = table[x[i * x_step]];
}
