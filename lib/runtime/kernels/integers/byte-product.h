/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-panels.h"

#define cleave_byte_product_run CLEAVE_LEVELLED (cleave_byte_product_run)
#define cleave_byte_finish_tile CLEAVE_LEVELLED (cleave_byte_finish_tile)
#define cleave_byte_has_odd_scales CLEAVE_LEVELLED (cleave_byte_has_odd_scales)
#define cleave_byte_pairs_run CLEAVE_LEVELLED (cleave_byte_pairs_run)
#define cleave_byte_quads_run CLEAVE_LEVELLED (cleave_byte_quads_run)
#define cleave_byte_small_quads_run CLEAVE_LEVELLED (cleave_byte_small_quads_run)

/* From sums of products of bytes to elements of the result.  Of each column, with a panel more to
 * read: */
typedef struct
{
  CleaveElement element;   /* int32 or a byte */
  const gint32 *bias;      /* added to the sums */
  const float *scale;      /* of bytes */
  const gint32 *w_zero;    /* taken away from all weights; NULL: nothing is */
  gint32 zero;             /* of the result, a byte */
  gboolean has_odd_scales; /* infinite ones or NaNs */
} CleaveByteFinish;

/* Pixels, or rows of a matrix, times columns of panels:
 *
 *   y[p][m] = finish (sum over taps t, then k, of x[p + t][k] * w[t][k][m])
 *
 * in whole numbers that wrap around, so that no order matters.  x is there in units: 16-bit
 * integers for pairs, bytes without sign for quads.  A tap may read beyond its end, up to a unit.
 */
typedef struct
{
  const CleaveBytePanels *panels;
  const gint8 *w;   /* packed */
  gint64 first;     /* the packed column of the first */
  gint64 n_columns; /* from there */
  const char *x;
  gint32 flip;        /* bits of each unit that are the other way round: quads in place */
  const gint64 *x_at; /* of each pixel, in bytes, as are the next two */
  const gint64 *tap_at;
  gint64 n_pixels;
  char *y;
  const gint64 *y_at;                   /* of each pixel, in elements */
  gint64 column_step;                   /* of y */
  gint64 column;                        /* of the first, in y */
  const gint32 *x_sums;                 /* of each pixel, where there is a w_zero */
  const struct _CleaveWritten *written; /* sums are those of floats (written.h); or NULL */
  gpointer written_scratch;
  gint64 n_pixels_most; /* for which that is */
  CleaveByteFinish finish;
} CleaveByteProduct;

/* Pixels [pixel, pixel + n_pixels) of columns [column, column + n) of y, whose sums are rows of a
 * panel's width. */
typedef struct
{
  gint64 pixel, n_pixels, column, n;
  gint32 *sums;
} CleaveByteTile;

/* Whether any is infinite or a NaN. */
gboolean cleave_byte_has_odd_scales (const float *scale, gint64 n);
void cleave_byte_product_run (const CleaveByteProduct *product);
void cleave_byte_finish_tile (const CleaveByteProduct *product, const CleaveByteTile *tile);
/* Columns [begin, end) of the packed form, which lie in one panel. */
void cleave_byte_pairs_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
void cleave_byte_quads_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
/* Of weights whose sums of two products have 16 bits, where there is no VNNI. */
void cleave_byte_small_quads_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
