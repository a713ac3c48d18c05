/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#include "../../kernels.h"

#define cleave_blockwise_new CLEAVE_LEVELLED (cleave_blockwise_new)
#define cleave_blockwise_n_scratch CLEAVE_LEVELLED (cleave_blockwise_n_scratch)
#define cleave_blockwise_run CLEAVE_LEVELLED (cleave_blockwise_run)

/* A product with constant weights that are integers times a scale, for example the result of a
 * DequantizeLinear. In each column, a block of rows shares one scale. matmul.c uses this product
 * instead of a float product (gemm.h), since integers have fewer bytes. The weights are stored as
 * integers of 8 or 4 bits; a run converts the integers back to the same floats. */
typedef struct _CleaveBlockwise CleaveBlockwise;

/* Returns a product with `n` columns of weights, from the column at which `constant` begins in its
 * base. The rows of x must be contiguous. Returns NULL if the floats of a block are not integers of
 * up to 8 bits times one scale, or if the matrix is so small that a float product is faster. Free
 * the product with g_free(). */
CleaveBlockwise *cleave_blockwise_new (CleaveWeights *weights,
                                       CleaveTensor *constant,
                                       guint columns,
                                       const CleavePanels *panels,
                                       gint64 m,
                                       gint64 n,
                                       gint64 x_step,
                                       gint64 y_step);
gsize cleave_blockwise_n_scratch (void);
/* Multiplies the rows of x by the matrix. Stores the products in the instance's result, from
 * element `y_at` on. */
void cleave_blockwise_run (const CleaveBlockwise *blockwise,
                           const float *x,
                           const CleaveKernelInstance *instance,
                           gint64 y_at,
                           float *scratch);
