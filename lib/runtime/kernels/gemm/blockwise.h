/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "panels.h"

#include "../../kernels.h"

#define cleave_blockwise_new CLEAVE_LEVELLED (cleave_blockwise_new)
#define cleave_blockwise_n_scratch CLEAVE_LEVELLED (cleave_blockwise_n_scratch)
#define cleave_blockwise_run CLEAVE_LEVELLED (cleave_blockwise_run)

/* A product with constant weights that are, in each block of rows of a column, whole numbers times
 * one scale, as those are that a DequantizeLinear makes.  They are kept as bytes, or as four bits,
 * and become the same floats again where they are read. */
typedef struct _CleaveBlockwise CleaveBlockwise;

/* `n` columns from the packed one on at which `constant` begins; rows of x have their elements side
 * by side.  NULL: its floats are not of this kind, or so few that they are better kept.  To be
 * freed with g_free(). */
CleaveBlockwise *cleave_blockwise_new (CleaveWeights *weights,
                                       CleaveTensor *constant,
                                       guint columns,
                                       const CleavePanels *panels,
                                       gint64 m,
                                       gint64 n,
                                       gint64 x_step,
                                       gint64 y_step);
gsize cleave_blockwise_n_scratch (void);
/* The rows of x times the matrix, from element `y_at` of the result on. */
void cleave_blockwise_run (const CleaveBlockwise *blockwise,
                           const float *x,
                           const CleaveKernelInstance *instance,
                           gint64 y_at,
                           float *scratch);
