/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_cmsis_add_s8 (const CleaveCall *call)
{
  const CleaveCmsisBinary *p = call->params;

  (void) arm_elementwise_add_s8 ((const int8_t *) call->x[0].data, (const int8_t *) call->x[1].data,
                                 p->x_offsets[0], p->x_multipliers[0], p->x_shifts[0],
                                 p->x_offsets[1], p->x_multipliers[1], p->x_shifts[1],
                                 p->left_shift, (int8_t *) call->y, p->y_offset, p->multiplier,
                                 p->shift, p->low, p->high, p->n);
}
