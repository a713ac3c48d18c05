/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* In which order the dimensions of a value lie in memory: four bits for each place, the outermost
 * first, say which dimension is there.  Zero: nobody minds. */
typedef guint32 CleaveMemoryOrder;

#define CLEAVE_ROW_MAJOR ((CleaveMemoryOrder) 0x76543210)

static inline guint
cleave_memory_order_at (CleaveMemoryOrder order, guint place)
{
  return (order >> (4 * place)) & 0xf;
}

/* Strides of a value that fills its memory in this order. */
void
cleave_memory_order_strides (CleaveMemoryOrder order, const CleaveShape *shape, gint64 *stride);
/* Whether a value with these strides lies in this order, gaps allowed.  Extents of 1 do not count.
 */
gboolean
cleave_memory_order_fits (CleaveMemoryOrder order, const CleaveShape *shape, const gint64 *stride);

/* The order that each value wants, by first_value[position[id of its node]] + index.  What an op
 * with a layout makes or reads has its channels innermost, and so has what is related to it element
 * by element; nobody else minds. */
CleaveMemoryOrder *cleave_memory_orders (CleaveNode *const *nodes,
                                         guint n_nodes,
                                         const guint *position,
                                         const guint *first_value);
/* Whether a node computes with the operand in the order of its result: not with weights, which are
 * packed as they are. */
gboolean cleave_memory_order_matters (const CleaveNode *node, guint operand);
