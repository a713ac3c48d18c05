/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../footprints.h"
#include "panels.h"

#define cleave_product_new CLEAVE_LEVELLED (cleave_product_new)
#define cleave_product_free CLEAVE_LEVELLED (cleave_product_free)
#define cleave_product_add_columns CLEAVE_LEVELLED (cleave_product_add_columns)
#define cleave_product_add_region CLEAVE_LEVELLED (cleave_product_add_region)
#define cleave_product_end_band CLEAVE_LEVELLED (cleave_product_end_band)
#define cleave_product_n_bands CLEAVE_LEVELLED (cleave_product_n_bands)
#define cleave_product_get_band CLEAVE_LEVELLED (cleave_product_get_band)
#define cleave_product_prepare CLEAVE_LEVELLED (cleave_product_prepare)
#define cleave_product_add_memory CLEAVE_LEVELLED (cleave_product_add_memory)
#define cleave_product_run CLEAVE_LEVELLED (cleave_product_run)
#define cleave_product_run_band CLEAVE_LEVELLED (cleave_product_run_band)

/* A product of a matrix x (pixels, or rows of a matrix) and packed weights a: the common part of
 * convolutions and matrix products. conv.c, conv-transpose.c and matmul.c plan a product once per
 * kernel instance; families.c runs it.
 *
 *   y[p][m] = bias[m] + sum over taps t, then k, of x[p + t][k] * a[t][k][m]
 *
 * p is a pixel, or a row of a matrix; m is a column, such as a channel of y. A tap t is one
 * position of the convolution's kernel; a matrix product has one tap. Each sum has exactly this
 * order, with one fused multiply-add per term. Distances are in elements.
 *
 * A region is a box of pixels of y for which the same taps read data, not padding. A band is
 * several regions that a run computes together, panel by panel; they are small enough for the
 * cache.
 *
 * To plan a product: add all columns; for each band, add its regions and then end the band; at
 * last, prepare the product. To run a product: call cleave_product_run() for each band. */
typedef struct _CleaveProduct CleaveProduct;

typedef struct
{
  gint64 x, a; /* offset of the tap's data in x, relative to the data of the first tap for the first
                  pixel; offset of the tap's first row in a panel */
} CleaveTap;

/* A region: a box of pixels of y for which the same taps read data, not padding. The last of the
 * three axes is the innermost. */
typedef struct
{
  gint64 x_offset, y_offset;
  gint64 extent[3], x_step[3], y_step[3];
  gint64 k; /* number of terms that one tap adds to a sum */
  guint n_taps;
  const CleaveTap *taps;
} CleaveTapRegion;

/* A range of `m` columns within one panel of `a` (panels.h). Each column computes one element of
 * each pixel of y. `a_offset` is the offset of the first column in `a`. */
typedef struct
{
  gint64 m, a_offset;
  gint64 x_offset; /* offset in x, in elements, of the first channel that the columns read */
  gint64 y_offset; /* index, in a pixel of y and in the bias, of the element that the first column
                      computes */
} CleaveColumns;

/* The memory of a band, in elements: the range of x that the band's regions read, and the range of
 * y that the regions write. The range of y is set only if the bands follow each other in memory. */
typedef struct
{
  gint64 x_begin, x_end;
  gint64 y_begin, y_end;
} CleaveBand;

/* Returns an empty product, to which the caller adds columns, regions and bands. `lda` is the
 * distance of adjacent rows of a panel, in elements. `padded`: a vector that begins at any column
 * of a panel may be read as a whole, even if it reaches beyond the panel. */
CleaveProduct *cleave_product_new (gint64 lda, gboolean padded, gboolean has_bias);
void cleave_product_free (CleaveProduct *product);
void cleave_product_add_columns (CleaveProduct *product, const CleaveColumns *columns);
/* Adds a region. Call this function only after all columns are added. */
void cleave_product_add_region (CleaveProduct *product, const CleaveTapRegion *region);
/* Ends a band. The band consists of the regions (boxes of pixels of y) that were added since the
 * last call of this function. */
void cleave_product_end_band (CleaveProduct *product, const CleaveBand *band);
guint cleave_product_n_bands (const CleaveProduct *product);
const CleaveBand *cleave_product_get_band (const CleaveProduct *product, guint band);
/* Chooses the code that computes each region (a box of pixels of y), for each number of columns of
 * a panel. Generates this code if LIBXSMM runs it. */
void cleave_product_prepare (CleaveProduct *product);
/* Appends to `lines` (CleaveMemoryLines) the cache lines of the struct `product` and of its tables,
 * which runs read besides values. */
void cleave_product_add_memory (const CleaveProduct *product, GArray *lines);
/* Computes one band of y and applies the instance's epilogue ops. y begins `y_at` elements after
 * the first element of result 0. */
void cleave_product_run (const CleaveProduct *product,
                         guint band,
                         const float *x,
                         const float *a,
                         const float *bias,
                         const CleaveKernelInstance *instance,
                         gint64 y_at);
/* Computes one band without epilogue ops. x and y are the addresses of the first elements of the
 * whole operand and result. */
void cleave_product_run_band (const CleaveProduct *product,
                              guint band,
                              const float *x,
                              const float *a,
                              const float *bias,
                              float *y);
