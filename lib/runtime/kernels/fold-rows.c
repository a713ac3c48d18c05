/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What makes one element of a row: its sum, its best element, where that is. */

#include "several.h"

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_reduce),
    CLEAVE_LEVELLED (cleave_kernel_arg);

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  static const CleaveKernelFamily *const families[] = { &CLEAVE_LEVELLED (cleave_kernel_reduce),
                                                        &CLEAVE_LEVELLED (cleave_kernel_arg) };

  return cleave_several_prepare (families, G_N_ELEMENTS (families), instance, weights, state,
                                 n_scratch);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_fold_rows); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_fold_rows) = {
  .prepare = prepare, .run = cleave_several_run, .free = cleave_several_free
};
