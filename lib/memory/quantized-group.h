/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/chunk.h"
#include "../ir/graph-private.h"

/* What lies between values in a smaller form of storage, as one node: DequantizeLinear, an op, what
 * follows it element by element, QuantizeLinear.  It is done tile by tile, so that the values in
 * between are never there whole. */

#define CLEAVE_BODY_ABSENT G_MAXUINT

/* One of the calls that a group is made of, each after those it reads; the last makes the result.
 * `from` says what each operand is: an operand of the group, or, counted on from those, what an
 * earlier call makes. */
typedef struct
{
  const CleaveOp *op;
  gpointer attrs;
  guint n_operands;
  guint *from;
  CleaveTensorType *operands;
  CleaveTensorType result;
  gboolean by_elements; /* an element of the result comes of those at the same index */
  gboolean is_main;     /* of those for which that is not so, the one that is no mere move */
  guint n_readers;      /* operands of later calls that it is */
  CleaveTensor *w_bytes, *w_scale, *w_zero; /* what operand 1 was dequantised from, along w_axis, if
                                             * these are constants; each may be NULL */
  gint64 w_axis;
} CleaveBodyCall;

typedef struct
{
  GArray *calls;
  guint n_outer; /* operands of the group */
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

/* Whether a value is between, by its number; which call makes it, to `call`. */
static inline gboolean
cleave_body_makes (const CleaveBody *body, guint from, guint *call)
{
  *call = from - body->n_outer;
  return from != CLEAVE_BODY_ABSENT && from >= body->n_outer;
}

/* The ops of such a node, which have no compute; the second may overwrite an operand. */
extern const CleaveOp cleave_op_quantized_group, cleave_op_quantized_group_in_place;
gboolean cleave_node_is_group (const CleaveNode *node);
/* Takes the calls. */
CleaveNode *cleave_group_add (CleaveGraph *graph,
                              const char *name,
                              GArray *calls,
                              CleaveResult *const *operands,
                              guint n_operands);
CleaveBody cleave_group_get_body (const CleaveCall *call);
GArray *cleave_body_calls_new (void);

/* What a tile of the result needs of what a call makes, and the call that makes that. */
typedef struct
{
  gboolean is_needed;
  CleaveRange range;
  CleaveChunk chunk;
} CleaveTilePart;

/* One for each call; NULL: there is no such tile. */
CleaveTilePart *cleave_tile_new (const CleaveBody *body, const CleaveRange *range);
void cleave_tile_free (CleaveTilePart *parts, const CleaveBody *body);
/* Bytes of what is in between, and where each of it lies. */
gint64 cleave_tile_place (const CleaveTilePart *parts, const CleaveBody *body, gint64 *offsets);
/* The i-th tile of such extents; FALSE: there are no more. */
gboolean cleave_tile_range (const CleaveShape *whole,
                            const CleaveShape *tile,
                            gint64 index,
                            CleaveRange *range);

/* The extents of tiles that stay in the cache; those of `dims` that come first are cut first.
 * `weights` says of each operand the bytes that it has as a constant, 0 if it is none.  FALSE:
 * there are none that are small. */
gboolean cleave_tile_choose (const CleaveBody *body,
                             const gint64 *weights,
                             const guint *dims,
                             CleaveShape *tile);

/* Whether an element of the result comes of what is at the same index of the operands. */
gboolean cleave_node_goes_by_elements (const CleaveNode *node);
/* By id, of nodes in order: the value of bytes that the result is a function of, element by
 * element, as far back as there is one; NULL: there is none. */
CleaveResult **cleave_byte_functions_find (const CleaveGraph *graph, const GPtrArray *order);

/* The graph with such groups as nodes; NULL: it has none, or a cycle. */
CleaveGraph *cleave_group_quantized (const CleaveGraph *graph);
/* The same; and, by the id of each node of the graph, the node that does its work there. */
CleaveGraph *cleave_group_quantized_nodes (const CleaveGraph *graph, CleaveNode ***nodes);
/* The graph, of which `order` is one, in which what sums read is moved as bytes, and then
 * dequantised; and, by the id of each node, the node that does its work.  NULL: nothing is moved.
 */
CleaveGraph *
cleave_sink_dequantize (const CleaveGraph *graph, const GPtrArray *order, CleaveNode ***nodes);
