/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_UNARY_F32 (cleave_sign_f32, fabsf (a) > 0 ? copysignf (1.0f, a) : fabsf (a))
