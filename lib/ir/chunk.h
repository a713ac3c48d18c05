/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Finds the node that computes one chunk of a result: the operand slices that it reads, its
 * attributes and its result types. Splitting asks for every chunk before it changes the graph. */

#include "op.h"

/* Plans a node that computes `range` of result 0 alone. If no such node exists, returns FALSE and
 * appends the reason to `why`, unless `why` is NULL; the chunk then needs no cleave_chunk_clear().
 */
gboolean cleave_chunk_init (CleaveChunk *chunk,
                            const CleaveCall *call,
                            const CleaveRange *range,
                            GString *why);
void cleave_chunk_clear (CleaveChunk *chunk, const CleaveOp *op);
