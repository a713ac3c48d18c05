/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Chooses the memory order of each value. An op with a layout sets the order of its operand and
 * result. The order then spreads to the values of adjacent nodes (memory-format.h). */

#include "memory-format.h"

#include <string.h>

#include "../ir/memory.h"
#include "uses.h"

void
cleave_memory_order_strides (CleaveMemoryOrder order, const CleaveShape *shape, gint64 *stride)
{
  gint64 next = 1;

  if (order == 0)
    order = CLEAVE_ROW_MAJOR;
  for (guint place = shape->rank; place-- > 0;)
    {
      guint d = cleave_memory_order_at (order, place);

      stride[d] = next;
      next *= MAX (shape->dim[d], 1);
    }
}

gboolean
cleave_memory_order_fits (CleaveMemoryOrder order, const CleaveShape *shape, const gint64 *stride)
{
  gint64 outer = G_MAXINT64;

  for (guint place = 0; order != 0 && place < shape->rank; place++)
    {
      guint d = cleave_memory_order_at (order, place);

      if (shape->dim[d] <= 1)
        continue;
      if (stride[d] > outer)
        return FALSE;
      outer = stride[d];
    }
  return TRUE;
}

static CleaveMemoryOrder
make_order (const guint *dims, guint rank)
{
  CleaveMemoryOrder order = 0;

  for (guint place = 0; place < CLEAVE_MAX_RANK; place++)
    order |= (place < rank ? dims[place] : place) << (4 * place);
  return order;
}

static CleaveMemoryOrder
channels_innermost (const char *letters, guint rank)
{
  const char *c = strchr (letters, 'C');
  guint dims[CLEAVE_MAX_RANK], n = 0;

  if (c == NULL || strlen (letters) != rank)
    return 0;
  for (guint d = 0; d < rank; d++)
    if (d != (guint) (c - letters))
      dims[n++] = d;
  dims[n] = (guint) (c - letters);
  return make_order (dims, rank);
}

typedef struct
{
  const guint *position, *first_value;
  CleaveMemoryOrder *orders;
  GPtrArray *queue; /* CleaveResult: values whose memory order is known, but not yet propagated to
                     * adjacent nodes */
  GPtrArray *uses;  /* CleaveOperand: uses of the value whose memory order is being propagated */
} Spread;

static CleaveMemoryOrder *
order_of (const Spread *spread, const CleaveResult *result)
{
  return &spread->orders[spread->first_value[spread->position[result->node->id]] + result->index];
}

static void
set_order (Spread *spread, CleaveResult *result, CleaveMemoryOrder order)
{
  CleaveMemoryOrder *place = result == NULL ? NULL : order_of (spread, result);

  if (place == NULL || *place != 0 || order == 0)
    return;
  *place = order;
  g_ptr_array_add (spread->queue, result);
}

static void
seed (Spread *spread, CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveMemoryOrder order;
  CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  guint rank = node->results[0].type.shape.rank;
  const char *letters;

  letters = node->op->layout (cleave_node_call_init (&call, node));
  order = letters == NULL ? 0 : channels_innermost (letters, rank);
  for (guint i = 0; i < node->n_results; i++)
    if (node->results[i].type.shape.rank == rank)
      set_order (spread, &node->results[i], order);
  if (x != NULL && x->type.shape.rank == rank)
    set_order (spread, x, order);
}

/* Returns whether each dimension of the operand corresponds to a dimension of the result. Writes
 * the corresponding dimensions of the result to `dims`. */
static gboolean
relate (const CleaveCall *call, guint operand, guint *dims)
{
  const CleaveShape *x = &call->operands[operand].shape, *y = &call->results[call->result].shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];
  guint seen = 0;

  call->op->maps (call, operand, map);
  for (guint d = 0; d < x->rank; d++)
    {
      if (map[d].stride == 0 && x->dim[d] != 1 && x->dim[d] != y->dim[d])
        return FALSE;
      dims[d] = map[d].stride == 0 ? d : map[d].from;
      seen |= 1u << dims[d];
    }
  return seen == (1u << x->rank) - 1;
}

/* Returns whether a preferred memory order spreads from an operand of the node to a result, and
 * from a result to an operand. No memory order spreads through an op that has MACs but no layout.
 * None spreads through a Reshape, which needs row-major order. */
static gboolean
passes_through (const CleaveNode *node)
{
  return node->op->maps != NULL && (node->op->flags & CLEAVE_OP_ROW_MAJOR) == 0 &&
         (node->op->macs == NULL || node->op->layout != NULL);
}

gboolean
cleave_memory_order_matters (const CleaveNode *node, guint operand)
{
  return passes_through (node) && (node->op->layout == NULL || operand == 0);
}

static CleaveMemoryOrder
convert_order (CleaveMemoryOrder order, const guint *dims, guint rank, gboolean forwards)
{
  guint to[CLEAVE_MAX_RANK], back[CLEAVE_MAX_RANK];

  for (guint d = 0; d < rank; d++)
    back[dims[d]] = d;
  for (guint place = 0; place < rank; place++)
    {
      guint d = cleave_memory_order_at (order, place);

      to[place] = forwards ? dims[d] : back[d];
    }
  return make_order (to, rank);
}

/* Returns whether a Reshape only adds or removes dimensions of extent 1. */
static gboolean
keeps_dims (const CleaveShape *x, const CleaveShape *y)
{
  guint i = 0;

  for (guint d = 0; d < x->rank; d++)
    {
      if (x->dim[d] == 1)
        continue;
      for (; i < y->rank && y->dim[i] == 1; i++)
        ;
      if (i == y->rank || y->dim[i++] != x->dim[d])
        return FALSE;
    }
  for (; i < y->rank && y->dim[i] == 1; i++)
    ;
  return i == y->rank;
}

/* Converts a memory order across a Reshape: returns the memory order of the value of shape `to`, if
 * the value of shape `from` has the memory order `order`. Dimensions of extent 1 become outermost,
 * so that values stacked along these dimensions stay contiguous. */
static CleaveMemoryOrder
past_reshape (CleaveMemoryOrder order, const CleaveShape *from, const CleaveShape *to)
{
  guint dims[CLEAVE_MAX_RANK], same[CLEAVE_MAX_RANK], n = 0;

  for (guint d = 0, i = 0; d < to->rank; d++)
    if (to->dim[d] == 1)
      dims[n++] = d;
    else
      {
        for (; from->dim[i] == 1; i++)
          ;
        same[i++] = d;
      }
  for (guint place = 0; place < from->rank; place++)
    {
      guint d = cleave_memory_order_at (order, place);

      if (from->dim[d] != 1)
        dims[n++] = same[d];
    }
  return make_order (dims, to->rank);
}

/* Passes the memory order of `from` to `to`: from the operand of a Reshape to its result, or
 * back. */
static void
pass_reshape (Spread *spread, const CleaveNode *node, CleaveResult *from, CleaveResult *to)
{
  if ((node->op->flags & CLEAVE_OP_ROW_MAJOR) != 0 && to != NULL &&
      keeps_dims (&from->type.shape, &to->type.shape))
    set_order (spread, to,
               past_reshape (*order_of (spread, from), &from->type.shape, &to->type.shape));
}

/* Returns whether the node that computes y broadcasts its operand x. A result takes over the memory
 * order of an operand only if the operand is not broadcast. */
static gboolean
is_broadcast (const CleaveResult *x, const CleaveResult *y, const guint *dims)
{
  for (guint d = 0; d < x->type.shape.rank; d++)
    if (x->type.shape.dim[d] == 1 && y->type.shape.dim[dims[d]] != 1)
      return (y->node->op->flags & CLEAVE_OP_JOIN) == 0;
  return FALSE;
}

/* Passes the memory order of an operand to the result (`forwards` TRUE), or of the result to an
 * operand. Does nothing if the receiver already has an order, or if the ranks differ. */
static void
pass_on (Spread *spread, const CleaveCall *call, CleaveNode *node, guint operand, gboolean forwards)
{
  CleaveResult *x = node->operands[operand].result, *y = &node->results[call->result];
  CleaveResult *from = forwards ? x : y, *to = forwards ? y : x;
  guint dims[CLEAVE_MAX_RANK];

  if (x == NULL || x->type.shape.rank != y->type.shape.rank || *order_of (spread, to) != 0)
    return;
  if (relate (call, operand, dims) && !(forwards && is_broadcast (x, y, dims)))
    set_order (spread, to,
               convert_order (*order_of (spread, from), dims, x->type.shape.rank, forwards));
}

static void
spread_to_operands (Spread *spread, CleaveResult *result)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveNode *node = result->node;

  if (node->n_operands > 0)
    pass_reshape (spread, node, result, node->operands[0].result);
  if (!passes_through (node) || node->n_operands == 0)
    return;
  cleave_node_call_init (&call, node);
  call.call.result = result->index;
  for (guint i = 0; i < node->n_operands; i++)
    pass_on (spread, &call.call, node, i, FALSE);
}

static void
spread_to_results (Spread *spread, CleaveNode *node, guint operand)
{
  for (guint i = 0; i < node->n_results; i++)
    if (*order_of (spread, &node->results[i]) == 0)
      {
        g_auto (CleaveNodeCall) call = { 0 };

        cleave_node_call_init (&call, node);
        call.call.result = i;
        pass_on (spread, &call.call, node, operand, TRUE);
      }
}

static gboolean
is_product (const CleaveResult *x)
{
  const CleaveNode *node = x->node;

  return node->op->macs != NULL && node->op->layout == NULL && x->n_uses == 1;
}

/* Returns whether a value is the result of a matrix product such as MatMul, or a join of results of
 * matrix products. The value and each operand of the join must have a single reader. The kernels of
 * matrix products can write rows with any strides. */
static gboolean
has_free_rows (const CleaveResult *x)
{
  const CleaveNode *node = x->node;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || x->n_uses != 1)
    return is_product (x);
  for (guint i = 0; i < node->n_operands; i++)
    if (!is_product (node->operands[i].result))
      return FALSE;
  return node->n_operands > 0;
}

/* Follow at most this many views from a node that needs row-major order up to the product that it
 * reads. */
#define MAX_VIEWS 4

/* If `node` needs its operand in row-major order, and the operand is a transposed matrix product,
 * sets the memory order of the product. The kernel of the product then writes its result so that
 * the transposed value is in row-major order:
 *
 *   MatMul ── Transpose ── Reshape        heads of attention become one row again */
static void
seed_transposed (Spread *spread, CleaveNode *node)
{
  CleaveResult *x;
  CleaveMemoryOrder order = CLEAVE_ROW_MAJOR;
  guint dims[CLEAVE_MAX_RANK], rank;

  if ((node->op->flags & CLEAVE_OP_ROW_MAJOR) == 0 || node->n_operands == 0)
    return;
  x = node->operands[0].result;
  rank = x == NULL ? 0 : x->type.shape.rank;
  if (rank == 0)
    return;
  for (guint i = 0; i < MAX_VIEWS && (x->node->op->flags & CLEAVE_OP_VIEW) != 0; i++)
    {
      g_auto (CleaveNodeCall) call = { 0 };
      CleaveResult *y = x->node->operands[0].result;

      cleave_node_call_init (&call, x->node);
      call.call.result = x->index;
      if (*order_of (spread, x) != 0 || y->type.shape.rank != rank ||
          !relate (&call.call, 0, dims) || dims[rank - 1] != rank - 1)
        return;
      order = convert_order (order, dims, rank, FALSE);
      x = y;
    }
  if (order != CLEAVE_ROW_MAJOR && has_free_rows (x))
    set_order (spread, x, order);
}

static void
spread_queued (Spread *spread, guint begin)
{
  for (guint i = begin; i < spread->queue->len; i++)
    {
      CleaveResult *result = spread->queue->pdata[i];

      spread_to_operands (spread, result);
      cleave_uses_list (spread->uses, result);
      for (guint u = 0; u < spread->uses->len; u++)
        {
          const CleaveOperand *use = spread->uses->pdata[u];

          if (passes_through (use->node))
            spread_to_results (spread, use->node, use->index);
          else if (use->index == 0 && use->node->n_results > 0)
            pass_reshape (spread, use->node, result, &use->node->results[0]);
        }
    }
}

CleaveMemoryOrder *
cleave_memory_orders (CleaveNode *const *nodes,
                      guint n_nodes,
                      const guint *position,
                      const guint *first_value)
{
  g_autoptr (GPtrArray) queue = g_ptr_array_new (), uses = g_ptr_array_new ();
  Spread spread = { position, first_value, CLEAVE_NEW0 (CleaveMemoryOrder, first_value[n_nodes]),
                    queue, uses };
  guint n_seeded;

  for (guint i = 0; i < n_nodes; i++)
    if (nodes[i]->op->layout != NULL)
      seed (&spread, nodes[i]);
  spread_queued (&spread, 0);
  n_seeded = queue->len;
  for (guint i = 0; i < n_nodes; i++)
    seed_transposed (&spread, nodes[i]);
  spread_queued (&spread, n_seeded);
  return spread.orders;
}
