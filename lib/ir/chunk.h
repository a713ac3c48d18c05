/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "op.h"

/* A chunk of result 0, as a node of its own: what planning, applying, recursion, cost and tests all
 * ask for. */
typedef struct
{
  CleaveRange range;
  guint n_operands, n_results; /* as of the call */
  CleaveSlice *slices;         /* one for each operand of the call */
  gboolean *kept; /* FALSE: the operand is absent, or its slice was empty and it dropped out */
  CleaveTensorType *results;
  gpointer attrs;
} CleaveChunk;

/* Whether there is such a node.  FALSE: there is not, and `why` (unless NULL) says what stands
 * against it; nothing is to be cleared then. */
gboolean cleave_chunk_init (CleaveChunk *chunk,
                            const CleaveCall *call,
                            const CleaveRange *range,
                            GString *why);
void cleave_chunk_clear (CleaveChunk *chunk, const CleaveOp *op);
