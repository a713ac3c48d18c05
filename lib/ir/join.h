/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Joins: ops such as Concat and Assemble. Each operand of a join fills a range of the result.
 * lib/memory reads these ranges to place the parts of a join in the buffer of the join. lib/dot
 * writes the ranges into drawings.
 *
 *   Assemble (a [1, 8, 8, 16], b [1, 8, 8, 16])   range of b: [0, 1) x [0, 8) x [8, 16) x [0, 16)
 */

#include "op.h"

/* Returns the range of the result that an operand of a join fills. */
CleaveRange cleave_join_range (const CleaveCall *call, guint operand);
/* Returns an array indexed by operand of a join: the range of the result that the operand fills.
 * The caller frees the array. */
CleaveRange *cleave_join_ranges (const CleaveNode *node);
/* Sets ranges[i] to the range of the result that operand i of a join fills. */
void cleave_join_get_ranges (const CleaveNode *node, CleaveRange *ranges);
