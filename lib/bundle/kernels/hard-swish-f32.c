/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
hard_swish_f32_of (float a)
{
  const float product = a * (1.0f / 6), sum = product + 0.5f;
  const float below = 1 < sum ? 1 : sum;

  return a * (0 > below ? 0 : below);
}

void
cleave_hard_swish_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = hard_swish_f32_of (*from++);
}
