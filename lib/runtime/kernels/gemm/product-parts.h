/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The parts of a product of floats: product.c plans them, product-run.c computes them. */

#include "gemm.h"
#include "xsmm.h"

typedef CleaveXsmmKernel Kernel;

/* A piece of a line: `n` pixels that one call computes, and their offsets in x and y. */
typedef struct
{
  gint64 x_offset, y_offset, n;
} Piece;

/* The code that computes the columns of a panel for a region. BY_DIRECT reads whole vectors of
 * columns: with fewer columns, it needs readable memory after the last column. Without this memory,
 * LIBXSMM or a loop over elements computes the columns. */
typedef enum { BY_ELEMENTS, BY_DIRECT, BY_LIBXSMM } Method;

typedef struct
{
  gint64 y_offset, x_offset;
  /* for the two outer axes: number of lines, and distances of adjacent lines in x and in y, in
   * elements */
  gint64 extent[2], x_step[2], y_step[2];
  gint64 x_line_step, y_line_step; /* distances of adjacent pixels of a piece in x and in y, in
                                    * elements */
  /* `n`: number of pixels of a line. `x_step_in_line`, `y_step_in_line`: distances of adjacent
   * pixels of a line in x and in y, in elements. If LIBXSMM needs larger distances, each piece of
   * the line has only every second pixel, every third pixel, or fewer (set_pieces()) */
  gint64 n, x_step_in_line, y_step_in_line;
  gint64 k;
  guint n_taps, n_taps_per_call;
  unsigned long long *a_offset, *x_tap_offset; /* indexed by tap: byte offsets in a and in x */
  guint n_pieces;
  Piece *pieces;
  Method *method;  /* method[i]: the code that computes panels of widths[i] columns (`widths` of the
                      product) */
  Kernel *kernels; /* kernels[2 * (i * n_pieces + p)]: LIBXSMM's code for panels of widths[i]
                      columns and piece p. This code runs the first taps; the next element of the
                      array runs all later taps */
} Region;

typedef struct
{
  CleaveColumns columns;
  guint width; /* index in `widths` of the panel's number of columns; panels with equal numbers of
                  columns share code */
} Panel;

typedef struct
{
  guint end_region;
  CleaveBand part;
} Band;

struct _CleaveProduct
{
  gint64 lda;
  gboolean padded, has_bias;
  GArray *panels, *widths, *regions;
  GArray *bands;
};
