/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Moves dequantization behind data movement, so that kernels find 8-bit values even where a split
 * has cut or joined the values:
 *
 *     DequantizeLinear ── Slice ── Conv      =>      Slice ── DequantizeLinear ── Conv
 *
 * Moves dequantization of two kinds of values: values that convolutions and matrix products read,
 * and values that are quantized again, so that a table of bytes can replace both conversions. */

#include "../ir/extract.h"
#include "quantized-group.h"

/* Whether to move a value as bytes, which depends on its readers. BY_NONE: no, since a reader needs
 * floats. BY_TABLES: yes, since the readers quantize the value again; a table of 256 bytes can
 * replace both conversions. BY_SUMS: yes, since the readers are products, poolings or means
 * (is_sum()), which read bytes. If the readers differ, the first of these answers counts. */
typedef enum { BY_NONE, BY_TABLES, BY_SUMS } MoveReason;

typedef struct
{
  CleaveGraph *to;
  CleaveNode **nodes; /* indexed by node id, as all further arrays of this struct: the node in `to`
                       * that replaces the node, or NULL */
  CleaveResult **bytes;  /* value of the graph `to`: the 8-bit value that stands for the node's
                          * result until a reader needs floats */
  const CleaveNode **by; /* the DequantizeLinear that turns `bytes` into the result; NULL: no bytes
                          * stand for the result */
  MoveReason *wanted;    /* whether to move the node's result as bytes; a node that only moves data
                          * (is_mover()) takes the answer from its readers */
  guint n_moved;
} DequantizeSink;

static gboolean
is_mover (const CleaveNode *node)
{
  return (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0 &&
         node->n_results == 1 && node->n_operands > 0 && node->op->maps != NULL &&
         !cleave_node_is_fixed (node);
}

/* Returns whether a node is a product, a pooling or a mean. The kernels of these ops read 8-bit
 * values. */
static gboolean
is_sum (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveKernel kernel;

  if (node->op->kernel == NULL)
    return cleave_node_get_macs (node) > 0;
  kernel = node->op->kernel (cleave_node_call_init (&call, node));
  return kernel == CLEAVE_KERNEL_POOL || kernel == CLEAVE_KERNEL_REDUCE ||
         cleave_node_get_macs (node) > 0;
}

enum { SCALE = 1 };

/* Returns whether a node quantizes to 8 bits with one scale for all elements. A table of bytes can
 * then replace this node and the dequantization before it. */
static gboolean
quantizes_by_one_scale (const CleaveNode *node)
{
  return cleave_node_widens (node) < 0 && node->n_operands > SCALE &&
         node->operands[SCALE].result->type.shape.rank == 0 &&
         cleave_element_size (node->results[0].type.element) == 1;
}

/* Returns whether a node should move bytes instead of floats, and the reason (the type MoveReason).
 * The caller visits the nodes from the last to the first, so that the answers for the readers are
 * known. A join moves bytes if a sum (is_sum()) reads its result, even if other nodes also read the
 * result: no kernel joins and sums bytes in one step. A QuantizeLinear that reads a join is no
 * reason for the join to move bytes. The operands of the join lie in its buffer as short separate
 * rows, and a table of bytes is slow for short rows. */
static MoveReason
find_move_reason (const DequantizeSink *s, const CleaveNode *node)
{
  gboolean is_join = (node->op->flags & CLEAVE_OP_JOIN) != 0;
  MoveReason wanted = BY_SUMS, most = BY_NONE;

  if (!is_mover (node) || node->results[0].n_uses == 0)
    return BY_NONE;
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    {
      MoveReason by = use->node == NULL                    ? BY_NONE
                      : is_sum (use->node)                 ? BY_SUMS
                      : quantizes_by_one_scale (use->node) ? (is_join ? BY_NONE : BY_TABLES)
                                                           : s->wanted[use->node->id];

      wanted = MIN (wanted, by);
      most = MAX (most, by);
    }
  return is_join && most == BY_SUMS ? BY_SUMS : wanted;
}

/* Returns whether a node dequantizes with one scale for all elements. */
static gboolean
dequantizes_by_one_scale (const CleaveNode *node)
{
  return cleave_node_widens (node) > 0 && node->n_operands > SCALE &&
         node->operands[SCALE].result->type.shape.rank == 0;
}

static gboolean
is_same_number (const CleaveNode *a, const CleaveNode *b, guint operand)
{
  const CleaveResult *x = operand < a->n_operands ? a->operands[operand].result : NULL;
  const CleaveResult *y = operand < b->n_operands ? b->operands[operand].result : NULL;
  CleaveTensor *m = x == NULL ? NULL : cleave_node_get_constant (x->node);
  CleaveTensor *n = y == NULL ? NULL : cleave_node_get_constant (y->node);

  return x == y || (m != NULL && n != NULL && cleave_tensor_equal (m, n));
}

static gboolean
is_same (const CleaveNode *a, const CleaveNode *b)
{
  return a->op == b->op && is_same_number (a, b, 1) && is_same_number (a, b, 2) &&
         a->operands[0].result->type.element == b->operands[0].result->type.element;
}

/* Returns a DequantizeLinear that can dequantize all operands of a node. Returns NULL if the
 * scales, zero points or element types of the operands differ. Also returns NULL if no 8-bit value
 * stands for an operand (`by` of the operand is NULL). */
static const CleaveNode *
find_dequantize (const DequantizeSink *s, const CleaveNode *node)
{
  const CleaveNode *by = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;
      const CleaveNode *other = x == NULL ? NULL : s->by[x->node->id];

      if (x == NULL)
        continue;
      if (other == NULL || (by != NULL && !is_same (by, other)))
        return NULL;
      by = other;
    }
  return by;
}

/* Returns the value of the new graph for a value of the old graph. If the value was moved as bytes,
 * the first call adds a node that dequantizes the bytes. */
static CleaveResult *
find_value (gpointer data, CleaveResult *value)
{
  DequantizeSink *s = data;
  guint id = value->node->id;
  const CleaveNode *by = s->by[id];

  if (by != NULL && (s->nodes[id] == NULL || s->nodes[id]->op != by->op))
    {
      g_autofree CleaveResult **operands = g_new0 (CleaveResult *, by->n_operands);

      operands[0] = s->bytes[id];
      for (guint i = 1; i < by->n_operands; i++)
        if (by->operands[i].result != NULL)
          operands[i] = find_value (s, by->operands[i].result);
      s->nodes[id] = cleave_graph_add_checked (s->to, by->op, by == value->node ? by->name : NULL,
                                               operands, by->n_operands, &value->type, 1,
                                               cleave_attrs_copy (by->op, by->attrs));
      if (value->name != NULL)
        cleave_result_set_name (&s->nodes[id]->results[0], value->name);
    }
  return &s->nodes[id]->results[value->index];
}

static void
add_moved (DequantizeSink *s, const CleaveNode *node, const CleaveNode *by)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands);
  CleaveTensorType type = node->results[0].type;
  CleaveNode *moved;

  type.element = by->operands[0].result->type.element;
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      operands[i] = s->bytes[node->operands[i].result->node->id];
  moved = cleave_graph_add_checked (s->to, node->op, node->name, operands, node->n_operands, &type,
                                    1, cleave_attrs_copy (node->op, node->attrs));
  s->nodes[node->id] = moved;
  s->bytes[node->id] = &moved->results[0];
  s->by[node->id] = by;
  s->n_moved++;
  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveNode **before =
          node->operands[i].result == NULL ? NULL : &s->nodes[node->operands[i].result->node->id];

      if (before != NULL && *before == NULL) /* `to` has no float value for this operand yet. If a
                                              * node needs one, find_value() replaces this entry */
        *before = moved;
    }
}

static void
add_node (DequantizeSink *s, const CleaveNode *node)
{
  const CleaveNode *by = s->wanted[node->id] != BY_NONE ? find_dequantize (s, node) : NULL;

  if (by != NULL)
    {
      add_moved (s, node, by);
      return;
    }
  if (dequantizes_by_one_scale (node))
    {
      s->bytes[node->id] = find_value (s, node->operands[0].result);
      s->by[node->id] = node;
      if (cleave_node_is_used (node) && node->results[0].n_uses > 0)
        return;
    }
  s->nodes[node->id] = cleave_extract_node (s->to, node, find_value, s);
}

CleaveGraph *
cleave_sink_dequantize (const CleaveGraph *graph, const GPtrArray *order, CleaveNode ***nodes)
{
  guint n = graph->n_ids + 1;
  g_autofree CleaveResult **bytes = g_new0 (CleaveResult *, n);
  g_autofree const CleaveNode **by = g_new0 (const CleaveNode *, n);
  g_autofree MoveReason *wanted = g_new0 (MoveReason, n);
  DequantizeSink s = { .bytes = bytes, .by = by, .wanted = wanted };
  gboolean any = FALSE;

  *nodes = NULL;
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];

      wanted[node->id] = find_move_reason (&s, node);
      any |= wanted[node->id] != BY_NONE;
    }
  if (!any)
    return NULL;
  s.to = cleave_graph_new (graph->name);
  s.nodes = g_new0 (CleaveNode *, n);
  for (guint i = 0; i < order->len; i++)
    add_node (&s, order->pdata[i]);
  cleave_extract_ends (s.to, graph, find_value, &s);
  if (s.n_moved > 0)
    {
      *nodes = s.nodes;
      return s.to;
    }
  cleave_graph_unref (s.to);
  g_free (s.nodes);
  return NULL;
}
