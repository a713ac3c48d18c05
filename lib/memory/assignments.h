/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Finds the location of every value, as the first part of making a CleaveStorage, in three walks:
 * 1. forwards: a view shares its operand's buffer, every other value has a buffer of its own;
 * 2. backwards, from results to operands (move-operands.c): an operand of a join moves into the
 * join's buffer. An operand that dies moves to where the result that overwrites it will be;
 * 3. forwards: views follow their operands. */

void cleave_storage_find_assignments (CleaveStorage *storage, const CleaveGraph *graph);

/* move-operands.c: does the second walk's work at one node: moves the node's operands into the
 * buffers of its results. */
void cleave_storage_move_operands (CleaveStorage *storage, CleaveNode *node);
