/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

CLEAVE_DEFINE_UNARY_F32 (cleave_softsign_f32, a / (1 + fabsf (a)))
