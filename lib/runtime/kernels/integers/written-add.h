/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sums of two lines of dequantised bytes, quantised: the steps are those of the floats, in
 * registers. */

#include "../../written-conv.h"
#include "../quantize-line.h"

typedef struct
{
  gconstpointer x[2];
  gboolean is_signed[2], y_is_signed;
  guint8 *y;
  gint64 x_step[2], y_step, n;
} CleaveAddLine;

static inline float
cleave_add_load (const CleaveAddLine *l, const CleaveWrittenAdd *add, int term, gint64 i)
{
  i *= l->x_step[term];
  return (float) ((l->is_signed[term] ? ((const gint8 *) l->x[term])[i]
                                      : ((const guint8 *) l->x[term])[i]) -
                  add->zero[term]) *
         add->scale[term];
}

#if defined(__FMA__)
static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_load_vector (const guint8 *from, gboolean is_signed, gint32 zero, float scale)
{
#if defined(__AVX512BW__)
  __m128i bytes = _mm_loadu_si128 ((const void *) from);
  __m512i v = is_signed ? _mm512_cvtepi8_epi32 (bytes) : _mm512_cvtepu8_epi32 (bytes);
  __m512 f = _mm512_cvtepi32_ps (_mm512_sub_epi32 (v, _mm512_set1_epi32 (zero)));
#else
  __m128i bytes = _mm_loadl_epi64 ((const void *) from);
  __m256i v = is_signed ? _mm256_cvtepi8_epi32 (bytes) : _mm256_cvtepu8_epi32 (bytes);
  __m256 f = _mm256_cvtepi32_ps (_mm256_sub_epi32 (v, _mm256_set1_epi32 (zero)));
#endif

  return (CleaveVector) f * cleave_vector_all (scale);
}

static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_add_vectors (const CleaveAddLine *l,
                    const CleaveWrittenAdd *add,
                    const CleaveDivisor *by,
                    gint64 i)
{
  CleaveVector sum = cleave_add_load_vector ((const guint8 *) l->x[0] + i, l->is_signed[0],
                                             add->zero[0], add->scale[0]);
  CleaveIntVector whole;

  sum += cleave_add_load_vector ((const guint8 *) l->x[1] + i, l->is_signed[1], add->zero[1],
                                 add->scale[1]);
  whole = cleave_divide_to_ints (sum, by);
#if defined(__AVX512BW__)
  return _mm512_min_epi32 (_mm512_max_epi32 (whole, _mm512_set1_epi32 (add->least)),
                           _mm512_set1_epi32 (add->most));
#else
  return _mm256_min_epi32 (_mm256_max_epi32 (whole, _mm256_set1_epi32 (add->least)),
                           _mm256_set1_epi32 (add->most));
#endif
}
#endif

/* Those that fill vectors; returns how many. */
static inline __attribute__ ((always_inline)) gint64
cleave_add_vectors_of (const CleaveAddLine *l, const CleaveWrittenAdd *add)
{
  gint64 i = 0;

#if defined(__FMA__)
  const CleaveDivisor by = cleave_divisor (add->y_scale);

  if (l->x_step[0] == 1 && l->x_step[1] == 1 && l->y_step == 1 &&
      cleave_quantize_line_serves (add->y_scale))
    for (; i + 2 * CLEAVE_LANES <= l->n; i += 2 * CLEAVE_LANES)
      {
        CleaveIntVector low = cleave_add_vectors (l, add, &by, i);
        CleaveIntVector high = cleave_add_vectors (l, add, &by, i + CLEAVE_LANES);

        cleave_ints_narrow (low, high, add->y_zero, l->y_is_signed, l->y + i);
      }
#endif
  return i;
}

static inline void
cleave_add_line (const CleaveAddLine *line, const CleaveWrittenAdd *numbers)
{
  const CleaveAddLine copy = *line, *l = &copy; /* which nothing that is stored may lie over */
  const CleaveWrittenAdd add = *numbers;
  gint64 i = cleave_add_vectors_of (l, &add);

  for (; i < l->n; i++)
    {
      float sum = cleave_add_load (l, &add, 0, i) + cleave_add_load (l, &add, 1, i);
      gint32 whole = cleave_quantize_byte (sum / add.y_scale, add.y_zero, add.least + add.y_zero,
                                           add.most + add.y_zero);

      l->y[i * l->y_step] = (guint8) whole;
    }
}
