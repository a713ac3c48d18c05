/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#include "../../kernels.h"

#define cleave_blockwise_new CLEAVE_LEVELLED (cleave_blockwise_new)
#define cleave_blockwise_n_scratch CLEAVE_LEVELLED (cleave_blockwise_n_scratch)
#define cleave_blockwise_run CLEAVE_LEVELLED (cleave_blockwise_run)

/* A product with constant weights that are integers times a scale in each block of rows of a
 * column, as DequantizeLinear computes them. Weights are kept as integers of 8 or 4 bits. When
 * they are used, they are converted back to the same floats. */
typedef struct _CleaveBlockwise CleaveBlockwise;

/* Returns a product with `n` columns, from the packed column at which `constant` begins. Rows of
 * x must be contiguous. Returns NULL if the floats have no such form, or are so few that floats
 * are faster. Free it with g_free(). */
CleaveBlockwise *cleave_blockwise_new (CleaveWeights *weights,
                                       CleaveTensor *constant,
                                       guint columns,
                                       const CleavePanels *panels,
                                       gint64 m,
                                       gint64 n,
                                       gint64 x_step,
                                       gint64 y_step);
gsize cleave_blockwise_n_scratch (void);
/* Multiplies the rows of x by the matrix. The result begins at element `y_at`. */
void cleave_blockwise_run (const CleaveBlockwise *blockwise,
                           const float *x,
                           const CleaveKernelInstance *instance,
                           gint64 y_at,
                           float *scratch);
