/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Heads: nodes after which a program can fuse steps. Kinds of heads are, for example, matrix
 * products and depthwise convolutions. For each kind, the suite tests/runtime/plan/fusion-pairs.c
 * makes graphs of a head and its consumers. The suite compares the bits of a program with the bits
 * of cleave_interpret(). */

#include <cleave/cleave.h>

/* A kind of node that can have fused consumers. `make` adds a node whose result has about the given
 * shape, and returns the result, or NULL if the kind does not support the rank. Operands of the
 * node are inputs, parts of inputs or constants. */
typedef struct
{
  const char *name;
  CleaveResult *(*make) (CleaveGraph *graph, GRand *rand, const CleaveShape *shape);
} FusionHead;

extern const FusionHead fusion_heads[];
extern const guint fusion_n_heads;

/* Returns a value of this type: an input, or a Slice of a larger input. */
CleaveResult *fusion_input (CleaveGraph *graph, GRand *rand, const CleaveTensorType *type);
