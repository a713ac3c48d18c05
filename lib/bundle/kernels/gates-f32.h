/* SPDX-License-Identifier: 0BSD */

/* The logistic function and tanh of floats. The gates of recurrent layers (recurrent-f32.h), and
 * the kernels sigmoid-f32.c and tanh-f32.c, use them. */

#ifndef CLEAVE_GATES_F32_H
#define CLEAVE_GATES_F32_H

#include "cleave-kernels.h"

static inline float
sigmoid_f32_of (float a)
{
  const CleaveExp e = cleave_exp_parts (cleave_bound (-a, -88.0f, 89.0f));

  return 1.0f / cleave_fma (1.0f + e.fraction, e.scale, 1.0f);
}

static inline float
tanh_f32_of (float a)
{
  const float twice = 2.0f * fabsf (a);
  const CleaveExp e = cleave_exp_parts (20.0f < twice ? 20.0f : twice);
  const float y = cleave_fma (e.fraction, e.scale, e.scale - 1.0f);

  return copysignf (y / (y + 2.0f), a);
}

#endif
