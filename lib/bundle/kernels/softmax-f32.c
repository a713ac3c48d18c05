/* SPDX-License-Identifier: 0BSD */

/* Softmax along the channels. */

#include "softmax-f32.h"

static void
softmax_f32_pixel (const float *x, float *y, int32_t channels)
{
  const float max = softmax_f32_max (x, channels);
  const float inverse = 1 / softmax_f32_sum (x, max, channels);

  for (int32_t c = 0; c < channels; c++)
    y[c] = softmax_f32_exp (x[c] - max) * inverse;
}

void
cleave_softmax_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      softmax_f32_pixel (from, y, p->channels);
      from += p->channels;
      y += p->channels;
    }
}
