/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "byte-product.h"

#include <string.h>

gint64
cleave_byte_product_unit (void)
{
#if defined(CLEAVE_HAS_QUADS)
  return __builtin_cpu_supports ("avx512vnni") ? CLEAVE_QUAD : CLEAVE_PAIR;
#else
  return CLEAVE_PAIR;
#endif
}

void
cleave_byte_product_run (const CleaveByteProduct *product)
{
  gint64 last = product->first + product->n_columns;

  for (gint64 begin = product->first, end; begin < last; begin = end)
    {
      end = MIN ((begin / CLEAVE_BYTE_PANEL + 1) * CLEAVE_BYTE_PANEL, last);
#if defined(CLEAVE_HAS_QUADS)
      if (product->panels->unit == CLEAVE_QUAD)
        {
          cleave_byte_quads_run (product, begin, end);
          continue;
        }
#endif
      cleave_byte_pairs_run (product, begin, end);
    }
}

/* Finishing. */

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
  const gint32 *bias = product->finish.bias + tile->column, *sums = tile->sums;
  gint64 step = product->column_step;

  for (gint64 p = 0; p < tile->n_pixels; p++, sums += CLEAVE_BYTE_PANEL)
    {
      gint32 *y =
          (gint32 *) (void *) product->y + product->y_at[tile->pixel + p] + tile->column * step;

      for (gint64 j = 0; j < tile->n; j++)
        y[j * step] = (gint32) ((guint32) sums[j] + (guint32) bias[j]);
    }
}

/* Up to a vector of columns, from the tile's column `at` on. */
static void
store_bytes (const CleaveByteProduct *product, const CleaveByteTile *tile, gint64 at)
{
  const CleaveByteFinish *f = &product->finish;
  gint64 column = tile->column + at, n = MIN (CLEAVE_LANES, tile->n - at);
  gint64 step = product->column_step;
  CleaveIntVector bias = cleave_ints_load (f->bias + column);
  gboolean is_signed = f->element == CLEAVE_INT8;

  for (gint64 p = 0; p < tile->n_pixels; p++)
    {
      guint8 *y = (guint8 *) product->y + product->y_at[tile->pixel + p] + column * step;
      CleaveIntVector sum = cleave_ints_load (tile->sums + p * CLEAVE_BYTE_PANEL + at);
      guint8 bytes[CLEAVE_LANES];

      cleave_ints_quantize (cleave_ints_add (sum, bias), f->scale + column, f->zero, is_signed,
                            bytes);
      if (step != 1)
        for (gint64 j = 0; j < n; j++)
          y[j * step] = bytes[j];
      else if (n == CLEAVE_LANES)
        memcpy (y, bytes, CLEAVE_LANES);
      else
        memcpy (y, bytes, (gsize) n);
    }
}

void
cleave_byte_finish_tile (const CleaveByteProduct *product, const CleaveByteTile *tile)
{
  if (product->finish.w_zero != NULL)
    take_w_zeros (product, tile);
  if (product->finish.element == CLEAVE_INT32)
    store_ints (product, tile);
  else
    for (gint64 at = 0; at < tile->n; at += CLEAVE_LANES)
      store_bytes (product, tile, at);
}
