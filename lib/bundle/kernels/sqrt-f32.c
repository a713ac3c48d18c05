/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
sqrt_f32_of (float a)
{
  return a < 0 ? NAN : sqrtf (a);
}

void
cleave_sqrt_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = sqrt_f32_of (*from++);
}
