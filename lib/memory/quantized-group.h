/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/chunk.h"
#include "../ir/graph-private.h"

/* A quantized group: the nodes between values stored in few bits, merged into one node.
 *
 *      int8 ── DequantizeLinear ── Conv ── Relu ── QuantizeLinear ── int8
 *
 * cleave_lower() (sequence-lowering.h) merges groups before buffers are assigned. The runtime
 * computes a group tile by tile, so that its intermediate float values never exist whole. */

#define CLEAVE_BODY_ABSENT G_MAXUINT

/* One op (call) of a group. The calls are sorted so that each call comes after the calls whose
 * results it reads; the last call computes the result of the group. `from` is indexed by operand:
 * the number of the value that the operand reads. Numbers below `n_outer` are the operands of the
 * group, and number `n_outer` + i is the result of call i. CLEAVE_BODY_ABSENT: the operand is
 * absent. */
typedef struct
{
  const CleaveOp *op;
  gpointer attrs;
  guint n_operands;
  guint *from;
  CleaveTensorType *operands;
  CleaveTensorType result;
  gboolean by_elements; /* the call is element-wise: each element of the result depends only on the
                         * elements of the operands at the same index */
  gboolean is_main;     /* the call is the main call of the group: neither element-wise nor only a
                         * data movement */
  guint n_readers;      /* number of operands of later calls that read this call's result */
  CleaveTensor *w_bytes, *w_scale, *w_zero; /* if operand 1 is a constant weight that was
                                             * dequantized: its 8-bit values, scale and zero point;
                                             * NULL: absent */
  gint64 w_axis; /* axis of operand 1 along which `w_scale` and `w_zero` lie */
} CleaveBodyCall;

typedef struct
{
  GArray *calls;
  guint n_outer; /* number of operands of the group */
} CleaveBody;

CleaveCall cleave_body_call (const CleaveBody *body, guint index);
static inline const CleaveBodyCall *
cleave_body_at (const CleaveBody *body, guint index)
{
  return &g_array_index (body->calls, CleaveBodyCall, index);
}

static inline gboolean
cleave_body_call_is (const CleaveBodyCall *call, const CleaveOp *op)
{
  return call->op == op;
}

/* Returns whether `from` is the result of a call of the group, and sets `*call` to its index. */
static inline gboolean
cleave_body_makes (const CleaveBody *body, guint from, guint *call)
{
  *call = from - body->n_outer;
  return from != CLEAVE_BODY_ABSENT && from >= body->n_outer;
}

/* The ops of a node that is a quantized group. The ops have no compute function. A node of
 * cleave_op_quantized_group_in_place may overwrite an operand. */
extern const CleaveOp cleave_op_quantized_group, cleave_op_quantized_group_in_place;
gboolean cleave_node_is_group (const CleaveNode *node);
/* Adds the node of a group to `graph` and returns the node. Takes ownership of `calls`. */
CleaveNode *cleave_group_add (CleaveGraph *graph,
                              const char *name,
                              GArray *calls,
                              CleaveResult *const *operands,
                              guint n_operands);
CleaveBody cleave_group_get_body (const CleaveCall *call);
GArray *cleave_body_calls_new (void);

/* The range of a call's result that one tile of the group needs, and the chunk with which a piece
 * of the call computes this range. */
typedef struct
{
  gboolean is_needed;
  CleaveRange range;
  CleaveChunk chunk;
} CleaveTilePart;

/* Returns an array with one CleaveTilePart for each call of the group: the range of the call's
 * result that the tile needs. The tile is the range `range` of the group's result. Returns NULL if
 * `range` cannot be computed separately. */
CleaveTilePart *cleave_tile_new (const CleaveBody *body, const CleaveRange *range);
void cleave_tile_free (CleaveTilePart *parts, const CleaveBody *body);
/* Returns the bytes of scratch memory for the intermediate values of a tile, and writes the offset
 * of each value to `offsets`. */
gint64 cleave_tile_place (const CleaveTilePart *parts, const CleaveBody *body, gint64 *offsets);
/* Writes the range of tile number `index` to `range`. Returns FALSE if there is no such tile. */
gboolean cleave_tile_range (const CleaveShape *whole,
                            const CleaveShape *tile,
                            gint64 index,
                            CleaveRange *range);

/* Sets `tile` to the extents of a tile. Chooses the tile so small that the intermediate values of a
 * tile stay in the cache. Cuts the dimensions in the order of `dims`. `weights`, indexed by operand
 * of the group: bytes of a constant operand, 0 for other operands. Returns FALSE if no tile is
 * small enough. */
gboolean cleave_tile_choose (const CleaveBody *body,
                             const gint64 *weights,
                             const guint *dims,
                             CleaveShape *tile);

/* Returns whether the node is element-wise: each element of its result depends only on elements at
 * the same index of its operands. */
gboolean cleave_node_goes_by_elements (const CleaveNode *node);
/* Returns an array indexed by node id. The entry is an 8-bit value of the graph: the node's result
 * is an element-wise function of this value alone. If several 8-bit values are possible, the entry
 * is the earliest in `order`. NULL: there is no such value. The caller frees the array. */
CleaveResult **cleave_byte_functions_find (const CleaveGraph *graph, const GPtrArray *order);

/* Returns a new graph, in which one node replaces the nodes of each quantized group of `graph`.
 * Returns NULL if `graph` has no quantized group, or has a cycle. */
CleaveGraph *cleave_group_quantized (const CleaveGraph *graph);
/* Merges groups as cleave_group_quantized() does. Sets `*nodes` to an array indexed by the id of a
 * node of `graph`. The entry is the node of the new graph that replaces the node of `graph`; NULL:
 * the new graph does not need the node of `graph`. The caller frees the array. If the function
 * returns NULL, `*nodes` may be NULL. */
CleaveGraph *cleave_group_quantized_nodes (const CleaveGraph *graph, CleaveNode ***nodes);
/* Returns a graph in which DequantizeLinear runs after data movement (views, joins, reshapes), so
 * that 8-bit values are moved. Example: DequantizeLinear, Slice, Conv becomes Slice,
 * DequantizeLinear, Conv. `order` is an order of the graph. Sets `*nodes` as
 * cleave_group_quantized_nodes() does. Returns NULL if no node moves. */
CleaveGraph *
cleave_sink_dequantize (const CleaveGraph *graph, const GPtrArray *order, CleaveNode ***nodes);
