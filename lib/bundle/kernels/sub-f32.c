/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_BINARY_F32 (cleave_sub_f32, a - b)
