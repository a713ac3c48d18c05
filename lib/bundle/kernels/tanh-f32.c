/* SPDX-License-Identifier: 0BSD */

#include "gates-f32.h"

void
cleave_tanh_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const float *from =
      (const float *) cleave_row (x, call->row) + (call->begin - x->begin) * p->channels;
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = tanh_f32_of (*from++);
}
