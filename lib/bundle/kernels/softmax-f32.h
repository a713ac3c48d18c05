/* SPDX-License-Identifier: 0BSD */

/* The computations that are common to a softmax along the channels (softmax-f32.c) and its
 * logarithm (log-softmax-f32.c): the maximum, and the sum of exponentials. */

#ifndef CLEAVE_SOFTMAX_F32_H
#define CLEAVE_SOFTMAX_F32_H

#include "cleave-kernels.h"

static inline float
softmax_f32_exp (float a)
{
  const CleaveExp e = cleave_exp_parts (cleave_bound (a, -88.0f, 89.0f));

  return (1.0f + e.fraction) * e.scale;
}

static inline float
softmax_f32_max (const float *x, int32_t channels)
{
  float max = -INFINITY;

  for (int32_t c = 0; c < channels; c++)
    if (x[c] > max || cleave_is_nan (x[c]))
      max = x[c];
  return max;
}

/* Returns the sum of exp (x - max) over the channels, in 8 lanes. Pairs of neighboring lanes are
 * added, until one lane is left. */
static inline float
softmax_f32_sum (const float *x, float max, int32_t channels)
{
  float lanes[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };

  for (int32_t c = 0; c < channels; c++)
    lanes[c & 7] += softmax_f32_exp (x[c] - max);
  for (int step = 1; step < 8; step *= 2)
    for (int j = 0; j < 8; j += 2 * step)
      lanes[j] += lanes[j + step];
  return lanes[0];
}

#endif
