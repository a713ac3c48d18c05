/* SPDX-License-Identifier: 0BSD */

#include "log-f32.h"

CLEAVE_DEFINE_UNARY_F32 (cleave_log_f32, log_f32_of (a))
