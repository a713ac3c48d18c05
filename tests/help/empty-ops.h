/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Random nodes with an empty value, such as a Relu of shape 2x0x3. The suites tests/ops/empty.c and
 * op-properties.c split and run them. empty-ops.c changes nodes that random-ops.h makes. */

#include "random-ops.h"

/* Returns a random node of an op with an empty operand or result: some extents of its operands, or
 * some numbers in its attributes, are 0. Returns NULL if the op refuses all nodes that were
 * tried. */
CleaveNode *cleave_random_op_emptied (const CleaveRandomOp *op, CleaveGraph *graph, GRand *rand);
