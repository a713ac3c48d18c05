/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"
#include "../ir/pool.h"
#include "memory-format.h"
#include "placement.h"

/* Caches three properties of a graph that do not depend on the order of nodes: ranges of joins,
 * strides of views, and preferred memory orders. Buffer assignment needs these properties. The
 * search in ordering.c assigns buffers about ten times in each of about ten orders. With the cache,
 * the search computes these properties once. */

/* The ranges of a join's result that its operands fill. */
typedef struct
{
  gboolean overlap; /* TRUE: the operands overlap or leave gaps, so their numbers of elements do not
                     * add up to the number of elements of the result */
  CleaveRange ranges[];
} CleaveJoinFacts;

/* For each dimension of operand 0: how a result of a VIEW or BROADCAST op reads this dimension. */
typedef struct
{
  gboolean is_view; /* whether strides can express the result; FALSE: the result is a copy */
  const CleaveViewDim *dims;
} CleaveViewFacts;

/* The cache of one graph. The graph must not change as long as the cache exists. */
typedef struct _CleaveGraphFacts CleaveGraphFacts;

CleaveGraphFacts *cleave_graph_facts_new (const CleaveGraph *graph);
void cleave_graph_facts_free (CleaveGraphFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveGraphFacts, cleave_graph_facts_free)

const CleaveJoinFacts *cleave_graph_facts_of_join (CleaveGraphFacts *facts, const CleaveNode *join);
/* Returns the preferred memory order of each result of the node. */
const CleaveMemoryOrder *cleave_graph_facts_of_orders (const CleaveGraphFacts *facts,
                                                       const CleaveNode *node);
/* Returns the view facts of a result of a VIEW or BROADCAST op. */
const CleaveViewFacts *
cleave_graph_facts_of_view (CleaveGraphFacts *facts, const CleaveNode *view, guint result);
