/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

/* What the plans of both kinds of convolution begin with. */
typedef struct
{
  gboolean is_transposed;
  const float *w; /* packed for good; NULL: by each run */
} CleaveDepthwisePlan;

#define cleave_depthwise_transpose_prepare CLEAVE_LEVELLED (cleave_depthwise_transpose_prepare)
#define cleave_depthwise_transpose_run CLEAVE_LEVELLED (cleave_depthwise_transpose_run)

/* As those of a family; the state is freed with g_free(). */
gboolean cleave_depthwise_transpose_prepare (const CleaveKernelInstance *instance,
                                             CleaveWeights *weights,
                                             gpointer *state,
                                             gsize *n_scratch);
void cleave_depthwise_transpose_run (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     gpointer scratch);
