/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
sigmoid_f32_of (float a)
{
  const CleaveExp e = cleave_exp_parts (cleave_bound (-a, -88.0f, 89.0f));

  return 1.0f / cleave_fma (1.0f + e.fraction, e.scale, 1.0f);
}

void
cleave_sigmoid_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const float *from =
      (const float *) cleave_row (x, call->row) + (call->begin - x->begin) * p->channels;
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = sigmoid_f32_of (*from++);
}
