/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Assigns a location to every value. buffers.c calls this function first when it makes a
 * CleaveStorage. Afterwards, steps.c lists the steps of the run from the locations. Three walks
 * over the nodes:
 *
 *   1. forwards: a view shares its operand's buffer; every other value gets its own buffer;
 *   2. backwards (move-operands.c): an operand of a join moves into the join's buffer; an operand
 *      that dies moves into the buffer of the result that overwrites the operand;
 *   3. forwards: views follow their moved operands.
 *
 * Example: in Concat (Relu (a), c), the values a, Relu (a) and c are all stored in the Concat's
 * buffer. */

void cleave_storage_find_assignments (CleaveStorage *storage, const CleaveGraph *graph);

/* Moves the operands of one node into the buffers of the node's results (move-operands.c).
 * cleave_storage_find_assignments() calls this function for each node, from the last node to the
 * first. */
void cleave_storage_move_operands (CleaveStorage *storage, CleaveNode *node);
