/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-split.h>

#include "../../lib/ir/chunk.h"
#include "../../lib/ir/graph-private.h"

/* The plan of one node: its chunks, checked for legality, and their costs. A search compares plans
 * without building nodes. constraint.h compares a plan with limits, and build.h builds the pieces
 * of the chosen plan. */

typedef struct
{
  CleaveChunk chunk;
  gint64 n_bytes, macs;
} CleavePlanned;

/* The chunks of a node, all of them legal, and the cost of each. No node is built. */
struct _CleavePlan
{
  CleaveNode *node;
  /* the op, the attributes and the types of the node; leaves out trailing results that have no
   * users, since pieces do not compute these results */
  CleaveNodeCall call;
  guint n_chunks;
  CleavePlanned *chunks;
};

/* Returns the plan of a node whose result 0 is cut into `ranges`. If a chunk is not legal, returns
 * NULL and appends the first such chunk and the reason to `why`. */
CleavePlan *
cleave_plan_new (CleaveNode *node, const CleaveRange *ranges, guint n_ranges, GString *why);
void cleave_plan_free (CleavePlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleavePlan, cleave_plan_free)

const CleaveChunk *cleave_plan_get_chunk (const CleavePlan *plan, guint chunk);
gint64 cleave_plan_get_most_bytes (const CleavePlan *plan);

/* Initializes `call` with the op, the attributes and the types of a node, and returns its
 * CleaveCall. Leaves out trailing results that have no users, since pieces do not compute these
 * results. Clear `call` with cleave_node_call_clear(). */
const CleaveCall *cleave_plan_call_init (CleaveNodeCall *call, const CleaveNode *node);

/* Returns the op and the name of a node for messages, such as "Conv 'stem'". */
char *cleave_node_dup_label (const CleaveNode *node);
