/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Collects the lists of random ops that the files random-ops-*.c define. */

#include "random-ops.h"

const CleaveRandomOp *const cleave_random_op_lists[] = {
  cleave_random_ops_conv,   cleave_random_ops_elementwise, cleave_random_ops_axes,
  cleave_random_ops_index,  cleave_random_ops_move,        cleave_random_ops_quantized,
  cleave_random_ops_signal, cleave_random_ops_tflite,      NULL,
};
