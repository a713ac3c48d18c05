/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_UNARY_F32 (cleave_root_f32, a <= -INFINITY ? INFINITY : sqrtf (a) + 0.0f)
