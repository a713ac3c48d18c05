/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Computes nothing: the layer only reserves the context buffer of the next layer. */
void
cleave_cmsis_context (const CleaveCall *call)
{
  (void) call;
}
