/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* The properties of one order of nodes, computed once. The search in buffers.c makes several
 * CleaveStorage of one order. These storages differ in staged operands, copied views and overlays,
 * and share the properties of the order. */

/* Returns an array indexed by node id: position of the node in `order`, which has every node of the
 * graph. */
guint *cleave_order_positions (const CleaveGraph *graph, const GPtrArray *order);

/* Caches the properties of one order. All CleaveStorages of the order use these properties. */
struct _CleaveOrderFacts
{
  CleaveGraphFacts *graph; /* facts of the graph; NULL after cleave_order_facts_finish() */
  CleaveNode *const *nodes;
  guint n_nodes, n_values;
  guint *position, *done, *first_value;
  GPtrArray *joins;
  CleaveMemoryOrder *orders;
  CleaveAssignment *first[2]; /* assignments after the first of the three walks that assignments.h
                               * describes; first[0] without materialized views, first[1] with
                               * materialized views; NULL: not computed yet */
  CleavePool *strides;        /* strides of the locations in `first` */
};

CleaveOrderFacts *cleave_order_facts_new (const CleaveGraph *graph,
                                          CleaveGraphFacts *of_graph,
                                          const GPtrArray *order);
void cleave_order_facts_unref (CleaveOrderFacts *facts);
/* Releases a reference. Also frees the array `first`, which only cleave_storage_new() and similar
 * functions need, so no further storage can be made with `facts`. Storages that exist keep their
 * references. */
void cleave_order_facts_finish (CleaveOrderFacts *facts);
