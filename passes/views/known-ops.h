/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* The ops that rewrites add to a graph, and the ops whose attributes rewrites read. Each op is
 * looked up by its name once, so that a rewrite compares pointers.
 *
 * General properties of ops are not in this list: an op's record has them as flags and dimension
 * maps. */

/* clang-format off */
#define CLEAVE_KNOWN_OPS(X)                                                                        \
  X (ADD, "Add")                                                                                   \
  X (ASSEMBLE, "Assemble")                                                                         \
  X (AVERAGE_POOL, "AveragePool")                                                                  \
  X (BATCH_NORMALIZATION, "BatchNormalization")                                                    \
  X (CLIP, "Clip")                                                                                 \
  X (CONCAT, "Concat")                                                                             \
  X (CONV, "Conv")                                                                                 \
  X (DEQUANTIZE_LINEAR, "DequantizeLinear")                                                        \
  X (DIV, "Div")                                                                                   \
  X (EXPAND, "Expand")                                                                             \
  X (GATHER, "Gather")                                                                             \
  X (HARD_SIGMOID, "HardSigmoid")                                                                  \
  X (HARD_SWISH, "HardSwish")                                                                      \
  X (LAYER_NORMALIZATION, "LayerNormalization")                                                    \
  X (MATMUL, "MatMul")                                                                             \
  X (MAX_POOL, "MaxPool")                                                                          \
  X (MUL, "Mul")                                                                                   \
  X (PAD, "Pad")                                                                                   \
  X (POW, "Pow")                                                                                   \
  X (QLINEAR_CONV, "QLinearConv")                                                                  \
  X (QLINEAR_MATMUL, "QLinearMatMul")                                                              \
  X (QUANTIZE_LINEAR, "QuantizeLinear")                                                            \
  X (REDUCE_MEAN, "ReduceMean")                                                                    \
  X (RELU, "Relu")                                                                                 \
  X (SLICE, "Slice")                                                                               \
  X (SPLIT, "Split")                                                                               \
  X (SQRT, "Sqrt")                                                                                 \
  X (SUB, "Sub")                                                                                   \
  X (TILE, "Tile")                                                                                 \
  X (TRANSPOSE, "Transpose")

typedef enum
{
#define X(word, name) CLEAVE_KNOWN_##word,
  CLEAVE_KNOWN_OPS (X)
#undef X
  CLEAVE_N_KNOWN_OPS
} CleaveKnownOp;
/* clang-format on */

const CleaveOp *cleave_known_op (CleaveKnownOp op);

static inline gboolean
cleave_node_is (const CleaveNode *node, CleaveKnownOp op)
{
  return node->op == cleave_known_op (op);
}
