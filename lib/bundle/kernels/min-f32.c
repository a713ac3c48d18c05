/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_BINARY_F32 (cleave_min_f32, a != a ? a : b < a || b != b ? b : a)
