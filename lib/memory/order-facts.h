/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Where each node, by id, is in an order that has every node of the graph. */
guint *cleave_order_positions (const CleaveGraph *graph, const GPtrArray *order);

/* What all storages of an order have in common, found once. */
struct _CleaveOrderFacts
{
  CleaveGraphFacts *graph; /* until all storages are made */
  CleaveNode *const *nodes;
  guint n_nodes, n_values;
  guint *position, *done, *first_value;
  GPtrArray *joins;
  CleaveMemoryOrder *orders;
  CleaveAssignment *first[2]; /* after the first walk, without and with what is materialised; NULL:
                                 not known */
  CleavePool *strides;        /* of those */
};

CleaveOrderFacts *cleave_order_facts_new (const CleaveGraph *graph,
                                          CleaveGraphFacts *of_graph,
                                          const GPtrArray *order);
void cleave_order_facts_unref (CleaveOrderFacts *facts);
/* Gives up one, of which no more storages are made. */
void cleave_order_facts_finish (CleaveOrderFacts *facts);
