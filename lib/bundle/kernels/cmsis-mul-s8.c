/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_cmsis_mul_s8 (const CleaveCall *call)
{
  const CleaveCmsisBinary *p = call->params;

  (void) arm_elementwise_mul_s8 ((const int8_t *) call->x[0].data, (const int8_t *) call->x[1].data,
                                 p->x_offsets[0], p->x_offsets[1], (int8_t *) call->y, p->y_offset,
                                 p->multiplier, p->shift, p->low, p->high, p->n);
}
