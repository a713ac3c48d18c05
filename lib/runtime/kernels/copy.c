/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of ops that only move elements. The reference kernels of these ops already use
 * the fast copies of lib/ir, so run() calls the op's compute(). */

#include "level.h"

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  return TRUE;
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  instance->call.op->compute (&instance->call, instance->operands, instance->results);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_copy);
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_copy) = { .prepare = prepare, .run = run };
