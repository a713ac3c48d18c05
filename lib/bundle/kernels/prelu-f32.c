/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_BINARY_F32 (cleave_prelu_f32, a < 0 ? a * b : a)
