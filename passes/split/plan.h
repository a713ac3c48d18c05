/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

#include "../../lib/ir/chunk.h"
#include "../../lib/ir/graph-private.h"

typedef struct
{
  CleaveChunk chunk;
  gint64 n_bytes, macs;
} CleavePlanned;

/* A node's chunks, all of them legal, and what each costs.  Nothing is built. */
struct _CleavePlan
{
  CleaveNode *node;
  CleaveNodeCall
      call; /* with the results that the pieces have: those after the last used one are left out */
  guint n_chunks;
  CleavePlanned *chunks;
};

/* The plan of these ranges of result 0, or NULL and `why`: the first chunk that cannot be a node.
 */
CleavePlan *
cleave_plan_new (CleaveNode *node, const CleaveRange *ranges, guint n_ranges, GString *why);
void cleave_plan_free (CleavePlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePlan, cleave_plan_free)

const CleaveChunk *cleave_plan_get_chunk (const CleavePlan *plan, guint chunk);
gint64 cleave_plan_get_most_bytes (const CleavePlan *plan);

/* The call of a node, as its pieces are to answer it.  To be cleared as any. */
const CleaveCall *cleave_plan_call_init (CleaveNodeCall *call, const CleaveNode *node);
/* Bytes of the operands and of the used results of a chunk. */
gint64
cleave_chunk_n_bytes (const CleaveChunk *chunk, const CleaveCall *call, const CleaveNode *node);

/* "Conv 'stem'", for messages. */
char *cleave_node_dup_label (const CleaveNode *node);
