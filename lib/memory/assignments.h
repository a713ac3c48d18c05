/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Buffers are assigned in three walks.  Forwards: a view lies in its operand's buffer, every other
 * value has a buffer of its own.  Backwards, from results to operands (settle.c): a part moves into
 * its join, and an operand that dies moves to where the result that overwrites it will lie.
 * Forwards again: views follow their operands. */

void cleave_storage_find_assignments (CleaveStorage *storage, const CleaveGraph *graph);

/* settle.c: the backward walk at one node. */
void cleave_storage_settle (CleaveStorage *storage, CleaveNode *node);
