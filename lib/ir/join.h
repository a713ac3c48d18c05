/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"

/* Which part of the result of a JOIN op an operand is. */
CleaveRange cleave_join_range (const CleaveCall *call, guint operand);
/* Likewise, each operand of a node. */
CleaveRange *cleave_join_ranges (const CleaveNode *node);
/* The same, into an array. */
void cleave_join_get_ranges (const CleaveNode *node, CleaveRange *ranges);
