/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "byte-panels.h"

#define cleave_byte_product_run CLEAVE_LEVELLED (cleave_byte_product_run)
#define cleave_byte_finish_tile CLEAVE_LEVELLED (cleave_byte_finish_tile)
#define cleave_byte_has_odd_scales CLEAVE_LEVELLED (cleave_byte_has_odd_scales)
#define cleave_byte_dot2_run CLEAVE_LEVELLED (cleave_byte_dot2_run)
#define cleave_byte_dot4_run CLEAVE_LEVELLED (cleave_byte_dot4_run)
#define cleave_byte_small_dot4_run CLEAVE_LEVELLED (cleave_byte_small_dot4_run)

/* Products of bytes, the common part of integer-conv.c and integer-matmul.c. Both files fill a
 * CleaveByteProduct and call one of the functions below for each panel of weights.
 *
 * The conversion of integer sums to elements of the result. Each array has one element for each
 * column, and memory for one more panel after the last column, which kernels may read. */
typedef struct
{
  CleaveElement element; /* element type of the result: int32, or an 8-bit type */
  const gint32 *bias;    /* integers that are added to the sums */
  const float *scale;    /* scales by which the sums are multiplied, for results of 8 bits */
  /* zero points of the weights; NULL: packing has subtracted the zero points */
  const gint32 *w_zero;
  gint32 zero;                      /* zero point of the result */
  gboolean has_odd_scales;          /* TRUE: at least one scale is infinite or a NaN */
  const gint32 *multiplier, *shift; /* multipliers and shifts: fixed-point factors that replace
                                       `scale` (fixed-point.h); NULL: there are none */
  gint32 min, max;                  /* bounds of the result, if there are fixed-point factors */
} CleaveByteFinish;

/* A product of bytes: pixels, or rows of a matrix, times columns of panels:
 *
 *   y[p][m] = finish (sum over taps t, then k, of x[p + t][k] * w[t][k][m])
 *
 * Sums are integers that wrap around, so their order does not matter. x is stored as 16-bit
 * integers for CLEAVE_DOT2 and as unsigned bytes for CLEAVE_DOT4. A kernel may read up to a whole
 * group of 4 bytes beyond the end of a tap. */
typedef struct
{
  const CleaveBytePanels *panels;
  const gint8 *w;   /* packed weights */
  gint64 first;     /* index that the product's first column has in the packed weights */
  gint64 n_columns; /* number of columns of the product */
  const char *x;
  gint32 flip; /* XOR mask for each group of four bytes of x: 0x80808080 if x is read in place and
                  has signed bytes, which become unsigned; otherwise 0 */
  const gint64 *x_at; /* `x_at` is indexed by pixel: byte offset of the pixel in x; `tap_at` is
                         indexed by tap: byte offset of the tap */
  const gint64 *tap_at;
  gint64 n_pixels;
  char *y;
  const gint64 *y_at;   /* indexed by pixel: offset in y, in elements */
  gint64 column_step;   /* distance of adjacent columns of y, in elements */
  gint64 column;        /* index that the product's first column has in y */
  const gint32 *x_sums; /* indexed by pixel: sum of the elements of x that the pixel reads; used
                           only with `w_zero` */
  const struct _CleaveQdq *qdq; /* constants that convert sums to QDQ-exact results (qdq.h); NULL:
                                   results are computed from the integer sums alone */
  gpointer qdq_scratch;
  gint64 n_pixels_most; /* largest value of `n_pixels` in any run; scratch has memory for this
                           number of pixels */
  CleaveByteFinish finish;
} CleaveByteProduct;

/* A tile of y: the pixels [pixel, pixel + n_pixels), and in each pixel the columns (such as
 * channels) [column, column + n). In `sums`, each pixel has a row of CLEAVE_BYTE_PANEL integer
 * sums. */
typedef struct
{
  gint64 pixel, n_pixels, column, n;
  gint32 *sums;
} CleaveByteTile;

/* Returns whether one of n scales is infinite or a NaN. */
gboolean cleave_byte_has_odd_scales (const float *scale, gint64 n);
void cleave_byte_product_run (const CleaveByteProduct *product);
void cleave_byte_finish_tile (const CleaveByteProduct *product, const CleaveByteTile *tile);
/* Computes the product for columns [begin, end) of the packed matrix, which must be in one panel.
 * cleave_byte_dot4_run() computes the product of dot-4 groups. */
void cleave_byte_dot2_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
void cleave_byte_dot4_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
/* Computes the same result as cleave_byte_dot4_run() on processors without VNNI. The weights must
 * be so small that the sum of two products fits into 16 bits. */
void cleave_byte_small_dot4_run (const CleaveByteProduct *product, gint64 begin, gint64 end);
