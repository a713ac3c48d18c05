/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_UNARY_F32 (cleave_reciprocal_f32, 1.0f / a)
