/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns e^a - 1 for a below 0. */
static float
selu_f32_of (float a)
{
  const CleaveExp e = cleave_exp_parts (-88.0f > a ? -88.0f : a);

  return cleave_fma (e.fraction, e.scale, e.scale - 1.0f);
}

CLEAVE_DEFINE_UNARY_F32 (cleave_selu_f32, p->b *(a < 0 ? p->a * selu_f32_of (a) : a))
