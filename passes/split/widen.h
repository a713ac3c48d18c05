/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/op.h"

/* Enlarges ranges to legal chunks. */

/* Enlarges a range of result 0 to the smallest legal chunk around it. Moves its ends outwards to
 * the ends of an operand's blocks, and makes as few dimensions whole as necessary. Does not change
 * the range if only the whole result is legal. */
void cleave_chunk_widen (const CleaveCall *call, CleaveRange *range);
