/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"

#define cleave_winograd_n_bytes CLEAVE_LEVELLED (cleave_winograd_n_bytes)
#define cleave_winograd_pack CLEAVE_LEVELLED (cleave_winograd_pack)
#define cleave_winograd_pack_for_good CLEAVE_LEVELLED (cleave_winograd_pack_for_good)
#define cleave_winograd_cut_columns CLEAVE_LEVELLED (cleave_winograd_cut_columns)

/* What the weights of F(2x2, 3x3) become: panels of columns, in each of which are 16 matrices, one
 * after the other, with a row for each input channel. */
typedef struct
{
  CleaveElement element; /* of W */
  gint64 n_columns, width, n_in;
  gint64 stride[4]; /* of W */
} CleaveWinogradFactors;

/* Columns of y that lie in one panel, where the first one lies there and in a pixel of y. */
typedef struct
{
  gint64 at, y, m;
} CleaveWinogradColumns;

/* With room to read a whole vector at the end. */
gsize cleave_winograd_n_bytes (const CleaveWinogradFactors *factors);
void cleave_winograd_pack (const CleaveWinogradFactors *factors, gconstpointer w, float *to);
/* `first` gets the packed column at which the constant begins. */
const float *cleave_winograd_pack_for_good (CleaveWeights *weights,
                                            CleaveTensor *constant,
                                            CleaveWinogradFactors *factors,
                                            gint64 *first);
/* CleaveWinogradColumns: n of them, from the packed column `first` on, cut where panels end. */
GArray *cleave_winograd_cut_columns (const CleaveWinogradFactors *factors, gint64 first, gint64 n);
