/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_cmsis_max_pool_s8 (const CleaveCall *call)
{
  const CleaveCmsisPool *p = call->params;
  const cmsis_nn_context context = cleave_cmsis_context_of (call, p->context_bytes);

  (void) arm_max_pool_s8 (&context, &p->params, &p->x, (const int8_t *) call->x[0].data, &p->w,
                          &p->y, (int8_t *) call->y);
}
