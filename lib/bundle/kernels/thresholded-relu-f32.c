/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_UNARY_F32 (cleave_thresholded_relu_f32, a <= p->a ? 0 : a)
