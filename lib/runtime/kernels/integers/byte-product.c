/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "byte-product.h"
#include "written.h"

#include <math.h>
#include <string.h>

typedef void (*RunColumns) (const CleaveByteProduct *product, gint64 begin, gint64 end);

static RunColumns
find_run (const CleaveByteProduct *product)
{
#if defined(CLEAVE_HAS_QUADS)
  if (product->written != NULL)
    return cleave_written_run;
  if (product->panels->unit == CLEAVE_QUAD && __builtin_cpu_supports ("avx512vnni"))
    return cleave_byte_quads_run;
#endif
#if defined(__AVX2__)
  if (product->panels->unit == CLEAVE_QUAD)
    return cleave_byte_small_quads_run;
#endif
  return cleave_byte_pairs_run;
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

void
cleave_byte_finish_tile (const CleaveByteProduct *product, const CleaveByteTile *tile)
{
  const CleaveByteFinish *f = &product->finish;

  if (f->w_zero != NULL)
    take_w_zeros (product, tile);
  if (f->element == CLEAVE_INT32)
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
