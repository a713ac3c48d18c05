/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

/* The first fields of the plans of both kinds of convolution. */
typedef struct
{
  gboolean is_transposed;
  const float *w; /* weights packed once; NULL: packed in each run */
} CleaveDepthwisePlan;

#define cleave_depthwise_transpose_prepare CLEAVE_LEVELLED (cleave_depthwise_transpose_prepare)
#define cleave_depthwise_transpose_run CLEAVE_LEVELLED (cleave_depthwise_transpose_run)

/* The functions of a kernel family (runtime/kernels.h); the state is freed with g_free(). */
gboolean cleave_depthwise_transpose_prepare (const CleaveKernelInstance *instance,
                                             CleaveWeights *weights,
                                             gpointer *state,
                                             gsize *n_scratch);
void cleave_depthwise_transpose_run (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     gpointer scratch);
