/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* The data of one order of nodes, computed once. The search in buffers.c makes several
 * CleaveStorage of one order, which differ in their choices and share this data. */

/* Returns, by node id, the position of each node in an order that has every node of the graph. */
guint *cleave_order_positions (const CleaveGraph *graph, const GPtrArray *order);

/* Caches the properties of one order that every CleaveStorage of that order uses. */
struct _CleaveOrderFacts
{
  CleaveGraphFacts *graph; /* facts of the graph; NULL once all storages are made */
  CleaveNode *const *nodes;
  guint n_nodes, n_values;
  guint *position, *done, *first_value;
  GPtrArray *joins;
  CleaveMemoryOrder *orders;
  CleaveAssignment *first[2]; /* assignments after the first walk, without and with materialized
                                 views; NULL: not computed yet */
  CleavePool *strides;        /* strides of the locations in `first` */
};

CleaveOrderFacts *cleave_order_facts_new (const CleaveGraph *graph,
                                          CleaveGraphFacts *of_graph,
                                          const GPtrArray *order);
void cleave_order_facts_unref (CleaveOrderFacts *facts);
/* Releases a reference and frees the data that is needed only to make more storages. */
void cleave_order_facts_finish (CleaveOrderFacts *facts);
