/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Makes a random legal node of each op: small, with every variation that its attributes allow.
 * Suites that must hold for every op, such as tests/ops/op-properties.c, make nodes with these
 * lists. Each list is in a file, such as random-ops-conv.c. */

#include <cleave/cleave.h>

typedef struct
{
  const char *op; /* name of the op, as in ONNX */
  /* Adds the operands of the node as inputs of the graph, and the node. */
  CleaveNode *(*make) (CleaveGraph *graph, GRand *rand);
} CleaveRandomOp;

/* All lists of random ops; the last entry is NULL. Each list ends with an entry whose op is NULL.
 */
extern const CleaveRandomOp *const cleave_random_op_lists[];
extern const CleaveRandomOp cleave_random_ops_axes[];
extern const CleaveRandomOp cleave_random_ops_conv[];
extern const CleaveRandomOp cleave_random_ops_index[];
extern const CleaveRandomOp cleave_random_ops_move[];
extern const CleaveRandomOp cleave_random_ops_quantized[];
extern const CleaveRandomOp cleave_random_ops_elementwise[];
extern const CleaveRandomOp cleave_random_ops_signal[];
extern const CleaveRandomOp cleave_random_ops_tflite[];

/* Nodes for the kernels of bundles (tests/bundle/kernels.c). The array cleave_random_op_lists does
 * not contain this list. */
extern const CleaveRandomOp cleave_random_ops_bundle[];
