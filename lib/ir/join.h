/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Joins: ops such as Concat and Assemble, each operand of which fills a range of the result. */

#include "op.h"

/* Returns the range of the result that an operand of a JOIN op fills. */
CleaveRange cleave_join_range (const CleaveCall *call, guint operand);
/* Returns the range of each operand of a node, in an array that the caller frees. */
CleaveRange *cleave_join_ranges (const CleaveNode *node);
/* Writes the range of each operand of a node to an array of the caller. */
void cleave_join_get_ranges (const CleaveNode *node, CleaveRange *ranges);
