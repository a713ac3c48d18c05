/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"

/* Whether a node can compute this range of result 0 alone.  FALSE: none can, and `why` (unless
 * NULL) says what stands against it; nothing is to be cleared then. */
gboolean cleave_chunk_init (CleaveChunk *chunk,
                            const CleaveCall *call,
                            const CleaveRange *range,
                            GString *why);
void cleave_chunk_clear (CleaveChunk *chunk, const CleaveOp *op);
