/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
exp_f32_of (float a)
{
  const float magic = CLEAVE_MAGIC + 127.0f;
  const float bounded = cleave_bound (a, -104.0f, 89.0f);
  const float shifted = cleave_fma (bounded, 1.44269504f, magic);
  const uint32_t exponent = cleave_bits (shifted) - cleave_bits (magic);
  const uint32_t half = (exponent + 512u) / 2u - 256u; /* half of the exponent, rounded down */

  return (1.0f + cleave_exp_parts (bounded).fraction) * cleave_from_bits ((half + 127u) << 23) *
         cleave_from_bits ((exponent - half + 127u) << 23);
}

CLEAVE_DEFINE_UNARY_F32 (cleave_exp_f32, exp_f32_of (a))
