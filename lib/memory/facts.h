/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"
#include "../ir/pool.h"
#include "memory-format.h"
#include "placement.h"

/* Caches the properties of a graph that buffer assignment needs and that do not depend on the order
 * of nodes. A search assigns buffers some ten times in each of some ten orders; the cache computes
 * these properties once. */

/* The range of the join's result that each operand fills. */
typedef struct
{
  gboolean overlap; /* operands overlap or leave gaps: the sum of their numbers of elements is not
                       that of the join */
  CleaveRange ranges[];
} CleaveJoinFacts;

/* How a result of a view is read from operand 0, by dimensions of that operand. */
typedef struct
{
  gboolean is_view; /* whether strides can express the result; FALSE: it must be copied */
  const CleaveViewDim *dims;
} CleaveViewFacts;

/* The cache of one graph, which must not change as long as it exists. */
typedef struct _CleaveGraphFacts CleaveGraphFacts;

CleaveGraphFacts *cleave_graph_facts_new (const CleaveGraph *graph);
void cleave_graph_facts_free (CleaveGraphFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveGraphFacts, cleave_graph_facts_free)

const CleaveJoinFacts *cleave_graph_facts_of_join (CleaveGraphFacts *facts, const CleaveNode *join);
/* Returns the preferred memory order of each of the node's results. */
const CleaveMemoryOrder *cleave_graph_facts_of_orders (const CleaveGraphFacts *facts,
                                                       const CleaveNode *node);
/* Describes a result of an op that is a VIEW or a BROADCAST. */
const CleaveViewFacts *
cleave_graph_facts_of_view (CleaveGraphFacts *facts, const CleaveNode *view, guint result);
