/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/op.h"

/* Makes of a range of result 0 the smallest chunk around it that can be a node of its own: its ends
 * put where blocks of an operand end, and as few dimensions whole as will do.  What can only be
 * made as a whole stays as it is. */
void cleave_chunk_widen (const CleaveCall *call, CleaveRange *range);
