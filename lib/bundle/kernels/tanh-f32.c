/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
tanh_f32_of (float a)
{
  const float twice = 2.0f * fabsf (a);
  const CleaveExp e = cleave_exp_parts (20.0f < twice ? 20.0f : twice);
  const float y = cleave_fma (e.fraction, e.scale, e.scale - 1.0f);

  return copysignf (y / (y + 2.0f), a);
}

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
