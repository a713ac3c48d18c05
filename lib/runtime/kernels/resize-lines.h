/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Interpolates contiguous lines of floats one vector at a time, and computes weighted sums of
 * several lines; resize.c calls these functions. A tap is an operand element with a weight. For
 * each tap, the operand elements of a result vector must lie within one vector of the operand; a
 * permutation moves them to their lanes. */

#include <string.h>

#include "vector-moves.h"

#include "../../ops/resize-taps.h"

#define CLEAVE_RESIZE_MAX 4

/* The taps of one vector of results: the position and the weight of each tap. The struct's size is
 * a multiple of a cache line. */
typedef struct
{
  gint32 index[CLEAVE_RESIZE_MAX][CLEAVE_VECTOR];
  float weight[CLEAVE_RESIZE_MAX][CLEAVE_VECTOR];
  gint32 is_there[CLEAVE_RESIZE_MAX]
                 [CLEAVE_VECTOR];  /* mask: all bits set if the result has this tap, else 0 */
  gint64 first[CLEAVE_RESIZE_MAX]; /* indexed by tap: index of the first element of the operand
                                      vector */
  gint64 unused[CLEAVE_RESIZE_MAX];
} CleaveResizeBlock;

#if defined(CLEAVE_HAS_FMA)
#define CLEAVE_RESIZE_HAS_BLOCKS TRUE
#else
#define CLEAVE_RESIZE_HAS_BLOCKS FALSE
#endif

/* Initializes a block for n results, at most CLEAVE_VECTOR, from a line of `n_from` operand
 * elements. A tap reads one operand element for each result. Returns FALSE if the elements that one
 * of the taps reads do not fit into one vector of contiguous elements. */
static inline gboolean
cleave_resize_block_init (
    CleaveResizeBlock *block, const CleaveResizeTaps *taps, gint64 n, guint n_taps, gint64 n_from)
{
  *block = (CleaveResizeBlock){ 0 };
  for (guint t = 0; t < n_taps; t++)
    {
      gint64 first = G_MAXINT64, last = 0;

      for (gint64 i = 0; i < n; i++)
        {
          gint64 at = taps[i].at[MIN (t, taps[i].n - 1)];

          first = MIN (first, at);
          last = MAX (last, at);
        }
      if (last - first >= CLEAVE_VECTOR)
        return FALSE;
      first = MAX (0, MIN (first, n_from - CLEAVE_VECTOR));
      block->first[t] = first;
      for (gint64 i = 0; i < n; i++)
        {
          block->index[t][i] = (gint32) (taps[i].at[MIN (t, taps[i].n - 1)] - first);
          block->weight[t][i] = t < taps[i].n ? (float) taps[i].weight[t] : 0;
          block->is_there[t][i] = t < taps[i].n ? -1 : 0;
        }
    }
  return TRUE;
}

/* `n` lines that are interpolated with the same taps. The distances of adjacent lines, `x_step` in
 * the operand and `y_step` in the result, are in floats. */
typedef struct
{
  gint64 n, x_step, y_step;
} CleaveResizeLines;

/* Computes, for each line, the vector of results of a block. If a result has fewer taps than
 * `n_taps`, adds -0 for each missing tap, which changes nothing. */
static inline __attribute__ ((always_inline)) void
cleave_resize_block (const CleaveResizeBlock *block,
                     const CleaveResizeLines *lines,
                     const float *x,
                     float *y,
                     gint64 n,
                     gint64 n_from,
                     const guint n_taps,
                     const gboolean is_mixed)
{
  for (gint64 line = 0; line < lines->n; line++, x += lines->x_step, y += lines->y_step)
    {
      CleaveVector sum = { 0 };

      CLEAVE_EACH (t, (int) n_taps)
        {
          CleaveVector from = n_from >= CLEAVE_VECTOR ? cleave_vector_load (x + block->first[t])
                                                      : cleave_vector_load_some (x, (int) n_from);
          CleaveMask index;
          CleaveVector term;

          memcpy (&index, block->index[t], sizeof index);
          term = cleave_vector_permute (from, index) * cleave_vector_load (block->weight[t]);

          if (is_mixed && t > 0)
            {
              CleaveMask mask;

              memcpy (&mask, block->is_there[t], sizeof mask);
              term = cleave_vector_select (mask, term, cleave_vector_all (-0.0F));
            }
          sum = t == 0 ? term : sum + term;
        }
      if (n >= CLEAVE_VECTOR)
        cleave_vector_store (y, sum);
      else
        cleave_vector_store_some (y, sum, (int) n);
    }
}

static inline __attribute__ ((always_inline)) void
cleave_resize_blocks (const CleaveResizeBlock *blocks,
                      const CleaveResizeLines *lines,
                      const float *x,
                      float *y,
                      gint64 n,
                      gint64 n_from,
                      const guint n_taps,
                      const gboolean is_mixed)
{
  if (!CLEAVE_RESIZE_HAS_BLOCKS)
    return;
  for (gint64 i = 0; i < n; i += CLEAVE_VECTOR, blocks++)
    if (n_from >= CLEAVE_VECTOR && n - i >= CLEAVE_VECTOR)
      cleave_resize_block (blocks, lines, x, y + i, CLEAVE_VECTOR, CLEAVE_VECTOR, n_taps, is_mixed);
    else
      cleave_resize_block (blocks, lines, x, y + i, n - i, n_from, n_taps, is_mixed);
}

/* Computes a weighted sum of n_lines lines of n floats. */
static inline __attribute__ ((always_inline)) void
sum_some (
    const float *const *lines, const float *weights, guint n_lines, float *restrict y, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    {
      float sum = weights[0] * lines[0][i];

      for (guint k = 1; k < n_lines; k++)
        sum += weights[k] * lines[k][i];
      y[i] = sum;
    }
}

static inline __attribute__ ((always_inline)) void
sum_two (
    const float *restrict a, const float *restrict b, float u, float v, float *restrict y, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    y[i] = u * a[i] + v * b[i];
}

static inline __attribute__ ((always_inline)) void
sum_four (const float *const *lines, const float *w, float *restrict y, gint64 n)
{
  const float *restrict a = lines[0], *restrict b = lines[1];
  const float *restrict c = lines[2], *restrict d = lines[3];

  for (gint64 i = 0; i < n; i++)
    {
      float sum = w[0] * a[i];

      sum += w[1] * b[i];
      sum += w[2] * c[i];
      sum += w[3] * d[i];
      y[i] = sum;
    }
}

static inline void
cleave_resize_sum_lines (const float *const *lines,
                         const CleaveResizeTaps *taps,
                         float *y,
                         gint64 n)
{
  float weights[CLEAVE_RESIZE_MAX] = { 0 };

  for (guint k = 0; k < taps->n; k++)
    weights[k] = (float) taps->weight[k];
  if (taps->n == 2)
    sum_two (lines[0], lines[1], weights[0], weights[1], y, n);
  else if (taps->n == 4)
    sum_four (lines, weights, y, n);
  else
    sum_some (lines, weights, taps->n, y, n);
}
