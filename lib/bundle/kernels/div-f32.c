/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_BINARY_F32 (cleave_div_f32, a / b)
