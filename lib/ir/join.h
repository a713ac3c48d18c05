/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Joins: ops such as Concat and Assemble, each operand of which fills a range of the result. */

#include "op.h"

/* Returns the range of the result that an operand of a join fills. */
CleaveRange cleave_join_range (const CleaveCall *call, guint operand);
/* Returns, for each operand of a join, the range of the result that it fills. The caller frees the
 * array. */
CleaveRange *cleave_join_ranges (const CleaveNode *node);
/* Writes, for each operand of a join, the range of the result that it fills to an array of the
 * caller. */
void cleave_join_get_ranges (const CleaveNode *node, CleaveRange *ranges);
