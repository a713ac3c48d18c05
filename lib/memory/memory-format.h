/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* The memory format of values: the order of dimensions in memory, from outermost to innermost. A
 * CleaveMemoryOrder has 4 bits for each level of nesting, the outermost level in the lowest bits.
 * The 4 bits are the index of a dimension: 0x…1320 is NHWC for a value [N, C, H, W]. 0 means any
 * order. Buffer assignment (assignments.c) stores each value in its preferred order. */
typedef guint32 CleaveMemoryOrder;

#define CLEAVE_ROW_MAJOR ((CleaveMemoryOrder) 0x76543210)

static inline guint
cleave_memory_order_at (CleaveMemoryOrder order, guint place)
{
  return (order >> (4 * place)) & 0xf;
}

/* Writes to `stride` the strides of a dense value that is stored in the memory order `order`. */
void
cleave_memory_order_strides (CleaveMemoryOrder order, const CleaveShape *shape, gint64 *stride);
/* Returns whether strides belong to the memory order `order`. Gaps between rows are allowed;
 * dimensions of extent 1 are ignored. */
gboolean
cleave_memory_order_fits (CleaveMemoryOrder order, const CleaveShape *shape, const gint64 *stride);

/* Returns the preferred order of each value, indexed by first_value[position[node id]] + result
 * index. An op with a layout (Conv, pooling) prefers channels innermost for its operand and result.
 * The preference spreads along nodes that relate elements of an operand to elements of a result,
 * such as Add. All other values have order 0. */
CleaveMemoryOrder *cleave_memory_orders (CleaveNode *const *nodes,
                                         guint n_nodes,
                                         const guint *position,
                                         const guint *first_value);
/* Returns whether a node computes faster if operand `operand` has the memory order of the node's
 * result. FALSE for weights, since kernels pack weights. */
gboolean cleave_memory_order_matters (const CleaveNode *node, guint operand);
