/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes, for each column of a product, the constants that convert the column's sums to bytes,
 * and the error bounds of the column (qdq.h). */

#include "qdq.h"

#include <math.h>

/* Returns FALSE if a value is so large or so small that float operations with it may overflow or
 * underflow. The error of these operations could then exceed a rounding error. */
static gboolean
is_tame (double value)
{
  return fabs (value) >= 0x1p-60 && fabs (value) <= 0x1p60;
}

/* Limit on the term of the error bound that depends on the growth of a sum (qdq.h), in units of
 * 2^-16. The term must fit into a 32-bit integer. */
#define MAX_GROWTH 0x1p30

#define UNIT 0x1p-24
#define WORD 0x1p16
#define HALF 0.5
/* Number that is added to each error bound, in units of 2^-16. It covers two rounding errors:
 * results and the terms of the error bound are rounded to multiples of 2^-16. */
#define WORDS_ROUND 4
/* Largest magnitude of a quantized result for which the error bound must hold, rounding errors
 * included. Larger results are clamped to a byte, so their errors do not matter. */
#define BYTE_MOST 384.

/* Alignment of arrays in bytes. A vector that crosses a cache line would need two loads. */
#define ALIGNMENT 64

void
cleave_qdq_columns_init (CleaveQdqColumns *columns, const CleaveQdqSums *sums, gint64 n)
{
  gsize n_all = ((gsize) n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  double zero = sums->conv->y_zero + HALF;

  columns->factor = g_aligned_alloc0 (n_all, 3 * sizeof (float) + 2 * sizeof (guint16), ALIGNMENT);
  columns->addend = columns->factor + n_all;
  columns->by_growth = columns->addend + n_all;
  columns->margin = (gpointer) (columns->by_growth + n_all);
  columns->by_norm = columns->margin + n_all;
  columns->least = (float) ((sums->conv->least + zero) * WORD);
  columns->most = (float) ((sums->conv->most + zero) * WORD);
}

/* Rounds a value up to a 16-bit integer. Returns FALSE if the value is too large. */
static gboolean
set_word (double value, guint16 *to)
{
  *to = (guint16) MIN (ceil (value), G_MAXUINT16);
  return value <= G_MAXUINT16;
}

gboolean
cleave_qdq_columns_set (CleaveQdqColumns *columns,
                        const CleaveQdqSums *sums,
                        CleaveQdqColumn numbers,
                        gint64 channel,
                        gint64 column)
{
  const CleaveQdqConv *conv = sums->conv;
  double scale = (double) conv->x_scale * conv->w_scale[channel], by = scale / conv->y_scale;
  double bias = fabs ((double) conv->bias[channel] / conv->y_scale);
  double addend = (double) conv->bias[channel] / conv->y_scale + numbers.zero * by, rest, by_growth;
  double length = (double) sums->length + 2 * (double) sums->half + 16;

  if (!is_tame (conv->x_scale) || !is_tame (conv->y_scale) || !is_tame (conv->w_scale[channel]) ||
      !is_tame (scale) || !is_tame (by) || !(bias <= 0x1p30) || !(fabs (addend) <= 0x1p30))
    return FALSE;
  columns->factor[column] = (float) (by * WORD);
  columns->addend[column] = (float) ((addend + conv->y_zero + HALF) * WORD);
  by = CLEAVE_QDQ_MORE * UNIT * fabs (by);
  by_growth = by * 2 * (double) sums->half * WORD;
  columns->by_growth[column] = (float) by_growth;
  rest = CLEAVE_QDQ_MORE * UNIT * (bias * length + 5 * (fabs (addend) + BYTE_MOST)) +
         by * numbers.norm * sums->x_norm;
  if (by_growth * numbers.most * (double) sums->n_chunks > MAX_GROWTH ||
      (sums->x_norm == 0 &&
       !set_word (by * numbers.norm * sums->x_norm_most / G_MAXUINT16 * WORD * WORD,
                  &columns->by_norm[column])))
    rest = 1; /* with an error bound of 1, every sum is ambiguous */
  set_word (rest * WORD + WORDS_ROUND, &columns->margin[column]);
  return TRUE;
}

void
cleave_qdq_columns_clear (CleaveQdqColumns *columns)
{
  g_aligned_free (columns->factor);
}

void
cleave_qdq_columns_add_memory (const CleaveQdqColumns *columns, GArray *lines)
{
  gsize n_all = (gsize) (columns->addend - columns->factor);

  cleave_memory_lines_add (lines, columns->factor,
                           n_all * (3 * sizeof (float) + 2 * sizeof (guint16)));
}
