/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/op.h"

/* Enlarges ranges to legal chunks. pieces.c enlarges the demands that are not legal chunks. For
 * example, with blocks of 4 rows, rows [1, 3) become [0, 4). */

/* Enlarges a range of result 0 to the smallest legal chunk around it. Moves the ends of the range
 * outwards to the ends of blocks, and makes as few dimensions whole as necessary. Does not change
 * the range if only the whole result is legal. */
void cleave_chunk_widen (const CleaveCall *call, CleaveRange *range);
