/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sums and products of two lines of dequantised bytes, or of one and floats, quantised: the steps
 * are those of the floats, in registers. */

#include "../../written-conv.h"
#include "../quantize-line.h"

#include <string.h>

typedef struct
{
  gconstpointer x[2];
  guint8 *y;
  gint64 x_step[2], y_step, n;
} CleaveAddLine;

static inline float
cleave_add_load (const CleaveAddLine *l, const CleaveWrittenAdd *add, int term, gint64 i)
{
  const CleaveWrittenX *x = &add->x[term];

  i *= l->x_step[term];
  if (x->element == CLEAVE_FLOAT32)
    return ((const float *) l->x[term])[i];
  return (float) ((x->element == CLEAVE_INT8 ? ((const gint8 *) l->x[term])[i]
                                             : ((const guint8 *) l->x[term])[i]) -
                  x->zero) *
         x->scale;
}

#if defined(__FMA__)
static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_load_bytes (const guint8 *from, const CleaveWrittenX *x)
{
  gboolean is_signed = x->element == CLEAVE_INT8;
#if defined(__AVX512BW__)
  __m128i bytes = _mm_loadu_si128 ((const void *) from);
  __m512i v = is_signed ? _mm512_cvtepi8_epi32 (bytes) : _mm512_cvtepu8_epi32 (bytes);
  __m512 f = _mm512_cvtepi32_ps (_mm512_sub_epi32 (v, _mm512_set1_epi32 (x->zero)));
#else
  __m128i bytes = _mm_loadl_epi64 ((const void *) from);
  __m256i v = is_signed ? _mm256_cvtepi8_epi32 (bytes) : _mm256_cvtepu8_epi32 (bytes);
  __m256 f = _mm256_cvtepi32_ps (_mm256_sub_epi32 (v, _mm256_set1_epi32 (x->zero)));
#endif

  return (CleaveVector) f * cleave_vector_all (x->scale);
}

/* A vector of a term; `one` is what stands for all where its step is 0. */
static inline __attribute__ ((always_inline)) CleaveVector
cleave_add_load_vector (
    const CleaveAddLine *l, const CleaveWrittenAdd *add, int term, CleaveVector one, gint64 i)
{
  if (l->x_step[term] == 0)
    return one;
  if (add->x[term].element == CLEAVE_FLOAT32)
    return cleave_vector_load ((const float *) l->x[term] + i);
  return cleave_add_load_bytes ((const guint8 *) l->x[term] + i, &add->x[term]);
}

static inline __attribute__ ((always_inline)) CleaveIntVector
cleave_add_vectors (const CleaveAddLine *l,
                    const CleaveWrittenAdd *add,
                    const CleaveVector *one,
                    const CleaveDivisor *by,
                    gint64 i)
{
  CleaveVector a = cleave_add_load_vector (l, add, 0, one[0], i);
  CleaveVector b = cleave_add_load_vector (l, add, 1, one[1], i);
  CleaveIntVector whole = cleave_divide_to_ints (add->is_product ? a * b : a + b, by);
#if defined(__AVX512BW__)
  return _mm512_min_epi32 (_mm512_max_epi32 (whole, _mm512_set1_epi32 (add->end.least)),
                           _mm512_set1_epi32 (add->end.most));
#else
  return _mm256_min_epi32 (_mm256_max_epi32 (whole, _mm256_set1_epi32 (add->end.least)),
                           _mm256_set1_epi32 (add->end.most));
#endif
}

static inline __attribute__ ((always_inline)) void
cleave_add_pairs (const CleaveAddLine *l, const CleaveWrittenAdd *add, const CleaveDivisor *by)
{
  const CleaveVector one[2] = { cleave_vector_all (cleave_add_load (l, add, 0, 0)),
                                cleave_vector_all (cleave_add_load (l, add, 1, 0)) };

  for (gint64 i = 0; i + 2 * CLEAVE_LANES <= l->n; i += 2 * CLEAVE_LANES)
    {
      CleaveIntVector low = cleave_add_vectors (l, add, one, by, i);
      CleaveIntVector high = cleave_add_vectors (l, add, one, by, i + CLEAVE_LANES);

      cleave_ints_narrow (low, high, add->end.zero, add->end.element == CLEAVE_INT8, l->y + i);
    }
}

/* The last ones, by way of a line that is as long as two vectors. */
static inline void
cleave_add_rest (const CleaveAddLine *l, const CleaveWrittenAdd *add, const CleaveDivisor *by)
{
  enum { LENGTH = 2 * CLEAVE_LANES };
  gint64 n = l->n % LENGTH, at = l->n - n;
  guint8 y[LENGTH];
  float x[2][LENGTH] = { { 0 } };
  CleaveAddLine rest = { .y = y, .y_step = 1, .n = LENGTH };

  for (int t = 0; t < 2; t++)
    {
      gint64 size = add->x[t].element == CLEAVE_FLOAT32 ? (gint64) sizeof (float) : 1;
      gint64 step = l->x_step[t];

      memcpy (x[t], (const char *) l->x[t] + at * step * size,
              (gsize) ((step == 0 ? 1 : n) * size));
      rest.x[t] = x[t];
      rest.x_step[t] = step;
    }
  cleave_add_pairs (&rest, add, by);
  memcpy (l->y + at, y, (gsize) n);
}
#endif

static inline void
cleave_add_line (const CleaveAddLine *line, const CleaveWrittenAdd *numbers)
{
  const CleaveAddLine copy = *line, *l = &copy; /* which nothing that is stored may lie over */
  const CleaveWrittenAdd add = *numbers;
  const CleaveWrittenEnd *end = &add.end;

#if defined(__FMA__)
  if (l->n > 0 && l->y_step == 1 && l->x_step[0] <= 1 && l->x_step[1] <= 1 &&
      cleave_quantize_line_serves (end->scale))
    {
      const CleaveDivisor by = cleave_divisor (end->scale);

      cleave_add_pairs (l, &add, &by);
      if (l->n % (2 * CLEAVE_LANES) > 0)
        cleave_add_rest (l, &add, &by);
      return;
    }
#endif
  for (gint64 i = 0; i < l->n; i++)
    {
      float a = cleave_add_load (l, &add, 0, i), b = cleave_add_load (l, &add, 1, i);
      float x = add.is_product ? a * b : a + b;

      l->y[i * l->y_step] = (guint8) cleave_quantize_byte (
          x / end->scale, end->zero, end->least + end->zero, end->most + end->zero);
    }
}
