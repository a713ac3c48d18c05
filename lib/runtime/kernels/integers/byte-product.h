/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-panels.h"

#define cleave_byte_product_run CLEAVE_LEVELLED (cleave_byte_product_run)
#define cleave_byte_finish_tile CLEAVE_LEVELLED (cleave_byte_finish_tile)
#define cleave_byte_has_odd_scales CLEAVE_LEVELLED (cleave_byte_has_odd_scales)
#define cleave_byte_dot2_run CLEAVE_LEVELLED (cleave_byte_dot2_run)
#define cleave_byte_dot4_run CLEAVE_LEVELLED (cleave_byte_dot4_run)
#define cleave_byte_small_dot4_run CLEAVE_LEVELLED (cleave_byte_small_dot4_run)

/* How integer sums become elements of the result. Arrays have one element for each column, and a
 * panel more that may be read. */
typedef struct
{
  CleaveElement element; /* int32, or a byte type */
  const gint32 *bias;    /* added to the sums */
  const float *scale;    /* scales for results of bytes */
  const gint32
      *w_zero; /* zero points of the weights; NULL: all are those that packing subtracted */
  gint32 zero; /* zero point of a byte result */
  gboolean has_odd_scales;          /* some scale is infinite or a NaN */
  const gint32 *multiplier, *shift; /* fixed-point factors instead of scales (fixed-point.h); NULL:
                                       none */
  gint32 min, max;                  /* bounds of the result, if there are fixed-point factors */
} CleaveByteFinish;

/* A product of bytes: pixels, or rows of a matrix, times columns of panels:
 *
 *   y[p][m] = finish (sum over taps t, then k, of x[p + t][k] * w[t][k][m])
 *
 * Sums are integers that wrap around, so their order does not matter. x is stored as 16-bit
 * integers for CLEAVE_DOT2 and as unsigned bytes for CLEAVE_DOT4. A kernel may read beyond the end
 * of a tap, up to a whole group of 4 bytes. */
typedef struct
{
  const CleaveBytePanels *panels;
  const gint8 *w;   /* packed */
  gint64 first;     /* packed column at which the weights begin */
  gint64 n_columns; /* number of columns, from column `first` on */
  const char *x;
  gint32
      flip; /* XOR mask for each 4 bytes of x: makes signed bytes that are read in place unsigned */
  const gint64 *x_at; /* offset of each pixel, in bytes; tap_at and x are in bytes, too */
  const gint64 *tap_at;
  gint64 n_pixels;
  char *y;
  const gint64 *y_at;           /* offset of each pixel in y, in elements */
  gint64 column_step;           /* elements between columns of y */
  gint64 column;                /* the first column, in y */
  const gint32 *x_sums;         /* sum of each pixel's x; used with w_zero */
  const struct _CleaveQdq *qdq; /* constants of float-exact results (qdq.h); NULL: integer sums are
                                 * exact */
  gpointer qdq_scratch;
  gint64 n_pixels_most; /* number of pixels for which the scratch is large enough */
  CleaveByteFinish finish;
} CleaveByteProduct;

/* A tile: pixels [pixel, pixel + n_pixels) of columns [column, column + n) of y. Its sums are in
 * rows of CLEAVE_BYTE_PANEL. */
typedef struct
{
  gint64 pixel, n_pixels, column, n;
  gint32 *sums;
} CleaveByteTile;

/* Returns whether any scale is infinite or a NaN. */
gboolean cleave_byte_has_odd_scales (const float *scale, gint64 n);
void cleave_byte_product_run (const CleaveByteProduct *product);
void cleave_byte_finish_tile (const CleaveByteProduct *product, const CleaveByteTile *tile);
/* Compute columns [begin, end) of the packed form, which are in one panel. */
void cleave_byte_dot2_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
void cleave_byte_dot4_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
/* For weights whose sums of two products fit into 16 bits, on processors without VNNI. */
void cleave_byte_small_dot4_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
