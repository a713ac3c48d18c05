/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static float
erf_f32_of (float a)
{
  const float magic = CLEAVE_MAGIC + 127.0f;
  const float size = fabsf (a), x = 3.93f < size ? 3.93f : size, xx = x * x;
  const float p0 = cleave_fma (x, -0.148277029f, -0.918447614f);
  const float p1 = cleave_fma (x, 0.00022984049f, 0.02763233f);
  const float p2 = cleave_fma (x, 0.000911158917f, -0.00240248977f);
  const float p3 = cleave_fma (x, 1.32759169e-05f, -0.000169103922f);
  const float p = cleave_fma (xx * xx, cleave_fma (xx, p3, p2), cleave_fma (xx, p1, p0));
  const float q = x * cleave_fma (x, p, -1.62790704f), shifted = q + magic;
  const float r = q - (shifted - magic), u = r * r;
  const float scale = cleave_from_bits (cleave_bits (shifted) << 23);
  const float q0 = cleave_fma (r, 0.0555035733f, 0.240226498f);
  const float q1 = cleave_fma (r, 0.00133907355f, 0.00961823749f);
  const float fraction =
      cleave_fma (u, cleave_fma (u, cleave_fma (u, 0.000154035125f, q1), q0), r * 0.693147188f);

  return copysignf (cleave_fma (fraction, scale, scale - 1.0f), a);
}

CLEAVE_DEFINE_UNARY_F32 (cleave_erf_f32, erf_f32_of (a))
