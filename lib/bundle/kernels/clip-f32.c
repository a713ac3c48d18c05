/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
clip_f32_of (const CleaveUnaryF32 *p, float a)
{
  return cleave_bound (a, p->a, p->b);
}

void
cleave_clip_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = clip_f32_of (p, *from++);
}
