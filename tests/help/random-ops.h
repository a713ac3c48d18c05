/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* How to make a random legal node of each op: small, with every variety that its attributes allow.
 */

#include <cleave/cleave.h>

typedef struct
{
  const char *op; /* as in ONNX */
  /* Adds the inputs that the node reads, as inputs of the graph, and the node. */
  CleaveNode *(*make) (CleaveGraph *graph, GRand *rand);
} CleaveRandomOp;

/* All lists, up to a NULL; each ends with an entry whose op is NULL. */
extern const CleaveRandomOp *const cleave_random_op_lists[];
extern const CleaveRandomOp cleave_random_ops_conv[];
extern const CleaveRandomOp cleave_random_ops_index[];
extern const CleaveRandomOp cleave_random_ops_move[];
extern const CleaveRandomOp cleave_random_ops_quantized[];
extern const CleaveRandomOp cleave_random_ops_elementwise[];
extern const CleaveRandomOp cleave_random_ops_signal[];
