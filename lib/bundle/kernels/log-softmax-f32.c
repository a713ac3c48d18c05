/* SPDX-License-Identifier: 0BSD */

/* The logarithm of a softmax along the channels. The sum has 8 lanes; neighbors are added. */

#include "log-f32.h"

static float
log_softmax_f32_exp (float a)
{
  const CleaveExp e = cleave_exp_parts (cleave_bound (a, -88.0f, 89.0f));

  return (1.0f + e.fraction) * e.scale;
}

static void
log_softmax_f32_pixel (const float *x, float *y, int32_t channels)
{
  float lanes[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
  float max = -INFINITY, log;

  for (int32_t c = 0; c < channels; c++)
    if (x[c] > max || isnan (x[c]))
      max = x[c];
  for (int32_t c = 0; c < channels; c++)
    lanes[c & 7] += log_softmax_f32_exp (x[c] - max);
  for (int step = 1; step < 8; step *= 2)
    for (int j = 0; j < 8; j += 2 * step)
      lanes[j] += lanes[j + step];
  log = log_f32_of (lanes[0]);
  for (int32_t c = 0; c < channels; c++)
    {
      const float distance = x[c] - max;

      y[c] = distance - log;
    }
}

void
cleave_log_softmax_f32 (const CleaveCall *call)
{
  const CleaveUnaryF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const float *from =
      (const float *) cleave_row (x, call->row) + (call->begin - x->begin) * p->channels;
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      log_softmax_f32_pixel (from, y, p->channels);
      from += p->channels;
      y += p->channels;
    }
}
