/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns e^a - 1 for a below 0. */
static float
elu_f32_of (float a)
{
  const CleaveExp e = cleave_exp_parts (-88.0f > a ? -88.0f : a);

  return cleave_fma (e.fraction, e.scale, e.scale - 1.0f);
}

CLEAVE_DEFINE_UNARY_F32 (cleave_elu_f32, a < 0 ? p->a * elu_f32_of (a) : a)
