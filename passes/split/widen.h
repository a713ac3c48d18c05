/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/op.h"

/* Enlarges ranges to legal chunks. */

/* Enlarges a range of result 0 to the smallest legal chunk around it.  Moves its ends outwards to
 * where blocks of an operand end, and makes as few dimensions whole as necessary.  Leaves the range
 * alone if only the whole result is legal. */
void cleave_chunk_widen (const CleaveCall *call, CleaveRange *range);
