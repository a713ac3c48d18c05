/* SPDX-License-Identifier: GPL-2.0-or-later */

/* What normalises along rows or channels. */

#include "several.h"

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_layer_norm),
    CLEAVE_LEVELLED (cleave_kernel_instance_norm), CLEAVE_LEVELLED (cleave_kernel_lrn);

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  static const CleaveKernelFamily *const families[] = {
    &CLEAVE_LEVELLED (cleave_kernel_layer_norm), &CLEAVE_LEVELLED (cleave_kernel_instance_norm),
    &CLEAVE_LEVELLED (cleave_kernel_lrn)
  };

  return cleave_several_prepare (families, G_N_ELEMENTS (families), instance, weights, state,
                                 n_scratch);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_normalise); /* for levels.h */
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_normalise) = {
  .prepare = prepare, .run = cleave_several_run, .free = cleave_several_free
};
