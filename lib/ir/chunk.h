/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Finds the node that computes one chunk of a result: the operand slices that it reads, its
 * attributes and its result types. `passes/split` plans every chunk of a split this way before it
 * changes the graph. `lib/onnx/import/pieces.c` and the passes that move Slices ask for the piece
 * of a node, too.
 *
 *   Conv 3x3, pad 1, 8 rows    chunk: rows [0, 4) of Y -> X [0, 5), pads 1 and 0 */

#include "op.h"

/* Plans a node that computes only the range `range` of result 0. If no such node exists, returns
 * FALSE and appends the reason to `why`, unless `why` is NULL. After FALSE, the chunk needs no
 * cleave_chunk_clear(). */
gboolean cleave_chunk_init (CleaveChunk *chunk,
                            const CleaveCall *call,
                            const CleaveRange *range,
                            GString *why);
void cleave_chunk_clear (CleaveChunk *chunk, const CleaveOp *op);

/* Returns whether a node can compute only the range `range` of result 0. */
gboolean cleave_chunk_is_possible (const CleaveCall *call, const CleaveRange *range);

/* Moves the ends of a range of result 0 outwards, so that the range cuts no block of an operand's
 * dimension map. A block is the elements that every chunk contains together, such as the channels
 * of one group. Elements that read only padding are in one block with the nearest element that
 * reads more. */
void cleave_chunk_align (const CleaveCall *call, CleaveRange *range);
/* Returns the number of elements of a block along dimension `dim` of result 0. A chunk that begins
 * or ends inside of a block cannot be computed. Returns 1 if chunks may begin at each element.
 * Example: DepthToSpace with a block size of 2 has blocks of 2 rows and of 2 columns. */
gint64 cleave_node_get_block (const CleaveNode *node, guint dim);
