/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"

#define cleave_winograd_n_bytes CLEAVE_LEVELLED (cleave_winograd_n_bytes)
#define cleave_winograd_pack CLEAVE_LEVELLED (cleave_winograd_pack)
#define cleave_winograd_pack_for_good CLEAVE_LEVELLED (cleave_winograd_pack_for_good)
#define cleave_winograd_cut_columns CLEAVE_LEVELLED (cleave_winograd_cut_columns)

/* The transformed weights of F(2x2, 3x3), as panels of columns. winograd.c multiplies transformed
 * tiles of x by them. A panel has 16 matrices, one for each element of a transformed tile of 4 x 4
 * elements. Each matrix has a row for each operand channel and a column for each channel of y in
 * the panel. */
typedef struct
{
  CleaveElement element; /* element type of W */
  gint64 n_columns, width, n_in;
  gint64 stride[4]; /* strides of W, in elements */
} CleaveWinogradFactors;

/* `m` adjacent columns of one panel; each column computes one channel of the result. `at`: offset
 * of the first column in the packed weights, in floats. `y`: index, in a pixel of the result, of
 * the channel that the first column computes. */
typedef struct
{
  gint64 at, y, m;
} CleaveWinogradColumns;

/* Returns the bytes of the packed weights. The unused bytes at the end are included, so that a
 * whole vector can be read from any column on. */
gsize cleave_winograd_n_bytes (const CleaveWinogradFactors *factors);
void cleave_winograd_pack (const CleaveWinogradFactors *factors, gconstpointer w, float *to);
/* Returns the packed copy of the base constant of which `constant` is a slice; all pieces share
 * this copy. Sets `first` to the packed column at which the slice begins. */
const float *cleave_winograd_pack_for_good (CleaveWeights *weights,
                                            CleaveTensor *constant,
                                            CleaveWinogradFactors *factors,
                                            gint64 *first);
/* Returns an array of CleaveWinogradColumns for n columns of the packed weights, from column
 * `first` on. Each entry of the array covers the columns in one panel. */
GArray *cleave_winograd_cut_columns (const CleaveWinogradFactors *factors, gint64 first, gint64 n);
