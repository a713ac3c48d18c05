/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
neg_f32_of (float a)
{
  return -a;
}

void
cleave_neg_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = neg_f32_of (*from++);
}
