/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/op.h"

/* Enlarges ranges to legal chunks. If some demands on a node are not legal chunks, pieces.c
 * enlarges the demands. For example, with blocks of 4 rows, rows [1, 3) become [0, 4). */

/* Enlarges a range of result 0 to the smallest chunk around it that is legal and cuts no block
 * (cleave_chunk_align()). Makes as few dimensions whole as necessary. Does not change the range if
 * only the whole result is such a chunk. */
void cleave_chunk_widen (const CleaveCall *call, CleaveRange *range);
