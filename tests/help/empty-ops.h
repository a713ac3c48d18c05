/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "random-ops.h"

/* A random node of an op, with extents of 0 among those of its operands, or zeros among its
 * attributes, so that an operand or a result has no element; NULL if the op had none of what was
 * tried. */
CleaveNode *cleave_random_op_emptied (const CleaveRandomOp *op, CleaveGraph *graph, GRand *rand);
