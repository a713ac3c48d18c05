/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../footprints.h"
#include "panels.h"

#define cleave_product_new CLEAVE_LEVELLED (cleave_product_new)
#define cleave_product_free CLEAVE_LEVELLED (cleave_product_free)
#define cleave_product_add_columns CLEAVE_LEVELLED (cleave_product_add_columns)
#define cleave_product_add_zone CLEAVE_LEVELLED (cleave_product_add_zone)
#define cleave_product_end_band CLEAVE_LEVELLED (cleave_product_end_band)
#define cleave_product_n_bands CLEAVE_LEVELLED (cleave_product_n_bands)
#define cleave_product_get_band CLEAVE_LEVELLED (cleave_product_get_band)
#define cleave_product_prepare CLEAVE_LEVELLED (cleave_product_prepare)
#define cleave_product_add_memory CLEAVE_LEVELLED (cleave_product_add_memory)
#define cleave_product_run CLEAVE_LEVELLED (cleave_product_run)
#define cleave_product_run_band CLEAVE_LEVELLED (cleave_product_run_band)

/* What convolutions and matrix products have in common, as a plan made once:
 *
 *   y[p][m] = bias[m] + sum over taps t, then k, of x[p + t][k] * a[t][k][m]
 *
 * where p runs over pixels (or rows of a matrix), each sum in exactly this order, one fused
 * multiply-add per term. Distances are in elements. */
typedef struct _CleaveProduct CleaveProduct;

typedef struct
{
  gint64 x, a; /* from the first tap of the first pixel, and from the first row of a panel */
} CleaveTap;

/* Pixels that all read the same taps: a box of them, innermost axis last. */
typedef struct
{
  gint64 x_offset, y_offset;
  gint64 extent[3], x_step[3], y_step[3];
  gint64 k; /* of one tap */
  guint n_taps;
  const CleaveTap *taps;
} CleaveZone;

/* Columns that lie in one panel of a. */
typedef struct
{
  gint64 m, a_offset;
  gint64 x_offset; /* of the group that they read */
  gint64 y_offset; /* of the first column, in a pixel of y and in the bias */
} CleaveColumns;

/* What zones that are worked on together read of x, where they read one after the other, and which
 * part of y they make, if parts nest. */
typedef struct
{
  gint64 x_begin, x_end;
  gint64 y_begin, y_end;
} CleaveBand;

/* `lda`: how far apart the rows of a panel are.  `padded`: a vector may be read at any column of a
 * panel. */
CleaveProduct *cleave_product_new (gint64 lda, gboolean padded, gboolean has_bias);
void cleave_product_free (CleaveProduct *product);
void cleave_product_add_columns (CleaveProduct *product, const CleaveColumns *columns);
/* All columns before all zones. */
void cleave_product_add_zone (CleaveProduct *product, const CleaveZone *zone);
/* The zones added since the last band are worked on together, panel by panel. */
void cleave_product_end_band (CleaveProduct *product, const CleaveBand *band);
guint cleave_product_n_bands (const CleaveProduct *product);
const CleaveBand *cleave_product_get_band (const CleaveProduct *product, guint band);
/* Makes the code.  FALSE: there is none for this. */
gboolean cleave_product_prepare (CleaveProduct *product);
/* Adds what runs read of it. */
void cleave_product_add_memory (const CleaveProduct *product, GArray *lines);
/* One band, with the epilogue of the instance; y begins `y_at` elements after the first result's
 * first. */
void cleave_product_run (const CleaveProduct *product,
                         guint band,
                         const float *x,
                         const float *a,
                         const float *bias,
                         const CleaveKernelInstance *instance,
                         gint64 y_at);
/* The same without an epilogue; x and y are where the first elements of all would be. */
void cleave_product_run_band (const CleaveProduct *product,
                              guint band,
                              const float *x,
                              const float *a,
                              const float *bias,
                              float *y);
