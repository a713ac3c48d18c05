/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

/* The kernel functions of transposed depthwise convolutions. depthwise.c puts them into its kernel
 * families, beside the functions of ordinary depthwise convolutions.
 *
 * The plan of every depthwise convolution, ordinary or transposed, begins with this struct. */
typedef struct
{
  gboolean is_transposed;
  /* weights that were packed when the program was made; NULL: each run packs the weights */
  const float *w;
} CleaveDepthwisePlan;

#define cleave_depthwise_transpose_prepare CLEAVE_LEVELLED (cleave_depthwise_transpose_prepare)
#define cleave_depthwise_transpose_run CLEAVE_LEVELLED (cleave_depthwise_transpose_run)

/* Functions of the kernel family of transposed depthwise convolutions (runtime/kernels.h). The
 * state is freed with g_free(). */
gboolean cleave_depthwise_transpose_prepare (const CleaveKernelInstance *instance,
                                             CleaveWeights *weights,
                                             gpointer *state,
                                             gsize *n_scratch);
void cleave_depthwise_transpose_run (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     gpointer scratch);
