/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
leaky_relu_f32_of (const CleaveUnaryF32 *p, float a)
{
  return a < 0 ? a * p->a : a;
}

void
cleave_leaky_relu_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = leaky_relu_f32_of (p, *from++);
}
