/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs a product of bytes panel by panel, with the fastest code for this processor. The file also
 * converts integer sums to elements of the result; the files that compute the sums call this code
 * for each tile. */

#include "byte-product.h"
#include "qdq.h"

#include <math.h>
#include <string.h>

typedef void (*RunColumns) (const CleaveByteProduct *product, gint64 begin, gint64 end);

static RunColumns
find_run (const CleaveByteProduct *product)
{
#if defined(CLEAVE_HAS_QDQ)
  if (product->qdq != NULL)
    return cleave_qdq_run;
#endif
#if defined(CLEAVE_HAS_DOT4)
  if (product->panels->unit == CLEAVE_DOT4 && __builtin_cpu_supports ("avx512vnni"))
    return cleave_byte_dot4_run;
#endif
#if defined(CLEAVE_DOT)
  if (product->panels->unit == CLEAVE_DOT4)
    return cleave_byte_dot4_run;
#endif
#if defined(CLEAVE_AVX2)
  if (product->panels->unit == CLEAVE_DOT4)
    return cleave_byte_small_dot4_run;
#endif
  return cleave_byte_dot2_run;
}

void
cleave_byte_product_run (const CleaveByteProduct *product)
{
  RunColumns run = find_run (product);
  gint64 last = product->first + product->n_columns;

  for (gint64 begin = product->first, end; begin < last; begin = end)
    {
      end = MIN ((begin / CLEAVE_BYTE_PANEL + 1) * CLEAVE_BYTE_PANEL, last);
      run (product, begin, end);
    }
}

/* The following functions convert sums to elements of the result. */

static void
take_w_zeros (const CleaveByteProduct *product, const CleaveByteTile *tile)
{
  const gint32 *zero = product->finish.w_zero + tile->column;
  gint32 *sums = tile->sums;

  for (gint64 p = 0; p < tile->n_pixels; p++, sums += CLEAVE_BYTE_PANEL)
    for (gint64 j = 0; j < tile->n; j++)
      sums[j] = (gint32) ((guint32) sums[j] -
                          (guint32) zero[j] * (guint32) product->x_sums[tile->pixel + p]);
}

static void
store_ints (const CleaveByteProduct *product, const CleaveByteTile *tile)
{
  const gint32 *bias = product->finish.bias + tile->column;
  gint64 step = product->column_step, n = tile->n;

  for (gint64 p = 0; p < tile->n_pixels; p++)
    {
      gint32 *y =
          (gint32 *) (void *) product->y + product->y_at[tile->pixel + p] + tile->column * step;
      gint32 sums[CLEAVE_BYTE_PANEL];

      for (gint64 v = 0; v < CLEAVE_BYTE_PANEL; v += CLEAVE_LANES)
        cleave_ints_store (
            sums + v, cleave_ints_add (cleave_ints_load (tile->sums + p * CLEAVE_BYTE_PANEL + v),
                                       cleave_ints_load (bias + v)));
      if (step == 1 && n == CLEAVE_BYTE_PANEL)
        memcpy (y, sums, sizeof sums);
      else if (step == 1 && n == CLEAVE_LANES)
        memcpy (y, sums, CLEAVE_LANES * sizeof *sums);
      else
        for (gint64 j = 0; j < n; j++)
          y[j * step] = sums[j];
    }
}

static inline __attribute__ ((always_inline)) void
store_bytes (const CleaveByteProduct *product,
             const CleaveByteTile *tile,
             gboolean is_signed,
             gboolean odd)
{
  const gint32 *sums = tile->sums, zero = product->finish.zero;
  const float *scale = product->finish.scale + tile->column;
  const gint64 *y_at = product->y_at + tile->pixel;
  gint64 step = product->column_step, n = tile->n, n_pixels = tile->n_pixels;
  char *y = product->y + tile->column * step;
  CleaveIntVector low = cleave_ints_load (product->finish.bias + tile->column);
  CleaveIntVector high = cleave_ints_load (product->finish.bias + tile->column + CLEAVE_LANES);

  for (gint64 p = 0; p < n_pixels; p++, sums += CLEAVE_BYTE_PANEL)
    {
      guint8 bytes[CLEAVE_BYTE_PANEL];
      char *to = y + y_at[p];

      cleave_ints_narrow (
          cleave_ints_round (cleave_ints_add (cleave_ints_load (sums), low), scale, odd),
          cleave_ints_round (cleave_ints_add (cleave_ints_load (sums + CLEAVE_LANES), high),
                             scale + CLEAVE_LANES, odd),
          zero, is_signed, bytes);
      if (step == 1 && n == CLEAVE_BYTE_PANEL)
        memcpy (to, bytes, CLEAVE_BYTE_PANEL);
      else if (step == 1 && n == CLEAVE_LANES)
        memcpy (to, bytes, CLEAVE_LANES);
      else
        for (gint64 j = 0; j < n; j++)
          to[j * step] = (char) bytes[j];
    }
}

/* Replaces `n_rows` rows of sums by results: adds the bias, multiplies by the fixed-point factor of
 * the column, clamps, and adds the zero point. The products have the bits of
 * cleave_fixed_multiply(), but the loop has no branches. The low 32 bits of `product >> 31` are the
 * same for a logical and an arithmetic shift. The last shift rounds halves away from zero. */
static void
multiply_fixed (const CleaveByteFinish *f, gint64 column, gint32 *sums, gint64 n_rows)
{
  const gint32 *bias = f->bias + column, *multiplier = f->multiplier + column;
  const gint32 *shift = f->shift + column;
  gint32 left[CLEAVE_BYTE_PANEL], right[CLEAVE_BYTE_PANEL], mask[CLEAVE_BYTE_PANEL];
  gint32 lowest[CLEAVE_BYTE_PANEL];

  for (gint64 j = 0; j < CLEAVE_BYTE_PANEL; j++)
    {
      left[j] = CLAMP (shift[j], 0, 31);
      right[j] = -CLAMP (shift[j], -31, 0);
      lowest[j] = multiplier[j] == G_MININT32;
      mask[j] = (gint32) ((1u << right[j]) - 1);
    }
  for (gint64 p = 0; p < n_rows; p++, sums += CLEAVE_BYTE_PANEL)
    for (gint64 j = 0; j < CLEAVE_BYTE_PANEL; j++)
      {
        gint32 x = (gint32) (((guint32) sums[j] + (guint32) bias[j]) << left[j]);
        guint64 product = (guint64) ((gint64) x * multiplier[j] + (1 << 30));
        gint32 saturates =
            lowest[j] &
            (x == G_MININT32); /* 1 if the product is 2^31, which saturates to 2^31 - 1; otherwise
                                * 0 */
        gint32 high = (gint32) ((guint32) (product >> 31) - (guint32) saturates);
        gint32 rest = high & mask[j], half = (mask[j] >> 1) + (high < 0);
        gint32 value = (high >> right[j]) + (rest > half);

        value = MAX (value, f->min - f->zero);
        sums[j] = MIN (value, f->max - f->zero) + f->zero;
      }
}

static void
store_fixed (const CleaveByteProduct *product, const CleaveByteTile *tile)
{
  gint64 step = product->column_step;
  gint32 *sums = tile->sums;

  multiply_fixed (&product->finish, tile->column, sums, tile->n_pixels);
  for (gint64 p = 0; p < tile->n_pixels; p++, sums += CLEAVE_BYTE_PANEL)
    {
      char *y = product->y + product->y_at[tile->pixel + p] + tile->column * step;
      gint8 bytes[CLEAVE_BYTE_PANEL];

      for (gint64 j = 0; j < CLEAVE_BYTE_PANEL; j++)
        bytes[j] = (gint8) sums[j];
      if (step == 1)
        memcpy (y, bytes, (gsize) tile->n);
      else
        for (gint64 j = 0; j < tile->n; j++)
          y[j * step] = (char) bytes[j];
    }
}

void
cleave_byte_finish_tile (const CleaveByteProduct *product, const CleaveByteTile *tile)
{
  const CleaveByteFinish *f = &product->finish;

  if (f->w_zero != NULL)
    take_w_zeros (product, tile);
  if (f->multiplier != NULL)
    store_fixed (product, tile);
  else if (f->element == CLEAVE_INT32)
    store_ints (product, tile);
  else if (f->has_odd_scales)
    store_bytes (product, tile, f->element == CLEAVE_INT8, TRUE);
  else if (f->element == CLEAVE_INT8)
    store_bytes (product, tile, TRUE, FALSE);
  else
    store_bytes (product, tile, FALSE, FALSE);
}

gboolean
cleave_byte_has_odd_scales (const float *scale, gint64 n)
{
  for (gint64 i = 0; i < n; i++)
    if (!isfinite (scale[i]))
      return TRUE;
  return FALSE;
}
