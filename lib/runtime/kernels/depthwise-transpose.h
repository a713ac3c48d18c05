/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "depthwise-rows.h"

/* First fields of the plans of both convolutions of the family: ordinary and transposed. */
typedef struct
{
  gboolean is_transposed;
  const float *w; /* weights packed when the program was made; NULL: each run packs them */
} CleaveDepthwisePlan;

#define cleave_depthwise_transpose_prepare CLEAVE_LEVELLED (cleave_depthwise_transpose_prepare)
#define cleave_depthwise_transpose_run CLEAVE_LEVELLED (cleave_depthwise_transpose_run)

/* Functions of a kernel family for transposed convolutions (runtime/kernels.h). The state is freed
 * with g_free(). */
gboolean cleave_depthwise_transpose_prepare (const CleaveKernelInstance *instance,
                                             CleaveWeights *weights,
                                             gpointer *state,
                                             gsize *n_scratch);
void cleave_depthwise_transpose_run (gconstpointer state,
                                     const CleaveKernelInstance *instance,
                                     gpointer scratch);
