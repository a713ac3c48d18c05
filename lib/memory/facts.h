/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"
#include "../ir/pool.h"
#include "memory-format.h"
#include "placement.h"

/* What buffers are assigned by.  A graph is looked at in some ten orders, and assigned some ten
 * times in each: what does not depend on the order, or on what is tried in it, is found once. */

/* What each operand of a join is of it. */
typedef struct
{
  gboolean overlap; /* the sum of their elements is not that of the join */
  CleaveRange ranges[];
} CleaveJoinFacts;

/* How a result lies in operand 0, by dimensions of that. */
typedef struct
{
  gboolean is_view; /* FALSE: not by strides */
  const CleaveViewDim *dims;
} CleaveViewFacts;

/* Of a graph that does not change meanwhile. */
typedef struct _CleaveGraphFacts CleaveGraphFacts;

CleaveGraphFacts *cleave_graph_facts_new (const CleaveGraph *graph);
void cleave_graph_facts_free (CleaveGraphFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveGraphFacts, cleave_graph_facts_free)

const CleaveJoinFacts *cleave_graph_facts_of_join (CleaveGraphFacts *facts, const CleaveNode *join);
/* In which order each of the node's results would have its dimensions in memory. */
const CleaveMemoryOrder *cleave_graph_facts_of_orders (const CleaveGraphFacts *facts,
                                                       const CleaveNode *node);
/* Of an op that is a VIEW or a BROADCAST. */
const CleaveViewFacts *
cleave_graph_facts_of_view (CleaveGraphFacts *facts, const CleaveNode *view, guint result);
