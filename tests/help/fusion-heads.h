/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave.h>

/* Nodes that can have fused consumers. Each makes a result of about this shape, or NULL if its
 * rank is not supported. Operands are inputs, parts of inputs or constants. */
typedef struct
{
  const char *name;
  CleaveResult *(*make) (CleaveGraph *graph, GRand *rand, const CleaveShape *shape);
} FusionHead;

extern const FusionHead fusion_heads[];
extern const guint fusion_n_heads;

/* Returns an input, or part of one. */
CleaveResult *fusion_input (CleaveGraph *graph, GRand *rand, const CleaveTensorType *type);
