/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Compares the graphs of one model for two combinations of input shapes.
 *
 *     part:   x [3,8] ─► MatMul ─► Relu ─► y [3,4]        rows 0, 1, 2 of
 *     whole:  x [8,8] ─► MatMul ─► Relu ─► y [8,4]        rows 0 … 7
 *
 * The partner of a node of `part` is the node at the same position of `whole`. A node of `part`
 * must be the piece of its partner that computes the first elements. The function compares the node
 * with the piece that a split of the partner would make. A Softmax along the rows is no such piece:
 * each element of its result depends on all rows. */

#include "prefix.h"

#include "../ir/chunk.h"
#include "../ir/graph-private.h"

/* Returns the range from 0 to the extent in each dimension of `shape`. */
static CleaveRange
first_of (const CleaveShape *shape)
{
  CleaveRange range = { .rank = shape->rank };

  for (guint d = 0; d < shape->rank; d++)
    range.dim[d].end = shape->dim[d];
  return range;
}

static gboolean
is_first_of (const CleaveRange *range, const CleaveShape *shape)
{
  CleaveRange first = first_of (shape);

  return cleave_ranges_equal (range, &first);
}

/* Returns whether a tensor of type `part` can be the first elements of a tensor of type `whole`:
 * the element types and ranks are equal, and no extent is larger. */
static gboolean
types_fit (const CleaveTensorType *part, const CleaveTensorType *whole)
{
  if (part->element != whole->element || part->shape.rank != whole->shape.rank)
    return FALSE;
  for (guint d = 0; d < part->shape.rank; d++)
    if (part->shape.dim[d] > whole->shape.dim[d])
      return FALSE;
  return TRUE;
}

static gboolean
constants_fit (const CleaveTensor *part, CleaveTensor *whole)
{
  CleaveRange range = first_of (&cleave_tensor_get_type (part)->shape);
  g_autoptr (CleaveTensor) first = NULL;

  if (part == whole)
    return TRUE;
  if (!types_fit (cleave_tensor_get_type (part), cleave_tensor_get_type (whole)))
    return FALSE;
  first = cleave_tensor_new_slice (whole, &range);
  return cleave_tensor_equal (part, first);
}

static gboolean
types_equal (const CleaveCall *a, const CleaveCall *b)
{
  for (guint i = 0; i < a->n_operands; i++)
    if (!cleave_tensor_type_equal (&a->operands[i], &b->operands[i]))
      return FALSE;
  for (guint i = 0; i < a->n_results; i++)
    if (!cleave_tensor_type_equal (&a->results[i], &b->results[i]))
      return FALSE;
  return TRUE;
}

/* Returns whether `part` is exactly the piece that a split of `whole` makes for `chunk`. */
static gboolean
is_chunk (const CleaveCall *part, const CleaveCall *whole, const CleaveChunk *chunk)
{
  for (guint i = 0; i < part->n_operands; i++)
    if (cleave_call_has (part, i) != chunk->has[i] ||
        (chunk->has[i] && !is_first_of (&chunk->slices[i].range, &part->operands[i].shape)))
      return FALSE;
  for (guint r = 0; r < part->n_results; r++)
    {
      CleaveRange range = cleave_call_result_range (whole, r, &chunk->range);

      if (!is_first_of (&range, &part->results[r].shape) ||
          !cleave_tensor_type_equal (&chunk->results[r], &part->results[r]))
        return FALSE;
    }
  return cleave_attrs_equal (part->op, part->attrs, chunk->attrs);
}

static gboolean
calls_fit (const CleaveCall *part, const CleaveCall *whole)
{
  CleaveRange range = first_of (&part->results[0].shape);
  CleaveChunk chunk;
  gboolean fits;

  if (types_equal (part, whole))
    return cleave_attrs_equal (part->op, part->attrs, whole->attrs);
  if (!types_fit (&part->results[0], &whole->results[0]) ||
      !cleave_chunk_init (&chunk, whole, &range, NULL))
    return FALSE;
  fits = is_chunk (part, whole, &chunk);
  cleave_chunk_clear (&chunk, whole->op);
  return fits;
}

/* Returns whether two nodes read the same operands. `partners` maps each node of the smaller graph
 * to its partner, the node at the same position of the larger graph. Operand i is the same if
 * `part` reads result r of a node, and `whole` reads result r of the partner of this node. */
static gboolean
operands_fit (const CleaveNode *part, const CleaveNode *whole, GHashTable *partners)
{
  for (guint i = 0; i < part->n_operands; i++)
    {
      const CleaveResult *a = part->operands[i].result, *b = whole->operands[i].result;

      if ((a == NULL) != (b == NULL) ||
          (a != NULL && (cleave_result_get_index (a) != cleave_result_get_index (b) ||
                         g_hash_table_lookup (partners, a->node) != b->node)))
        return FALSE;
    }
  return TRUE;
}

static gboolean
nodes_fit (const CleaveNode *part, const CleaveNode *whole, GHashTable *partners)
{
  g_auto (CleaveNodeCall) a = { 0 }, b = { 0 };
  CleaveTensor *constant = cleave_node_get_constant (part);

  if (constant != NULL)
    return constants_fit (constant, cleave_node_get_constant (whole));
  if (cleave_node_is_input (part))
    return g_str_equal (cleave_node_get_name (part), cleave_node_get_name (whole)) &&
           types_fit (cleave_result_get_type (cleave_node_get_result (part, 0)),
                      cleave_result_get_type (cleave_node_get_result (whole, 0)));
  return operands_fit (part, whole, partners) &&
         calls_fit (cleave_node_call_init (&a, part), cleave_node_call_init (&b, whole));
}

/* Returns a table that maps each node of `part` to its partner, the node at the same position of
 * `whole`. Returns NULL if the graphs have different numbers of nodes. Returns NULL if a node and
 * its partner have different ops, or different numbers of operands or results. */
static GHashTable *
pair_nodes (const CleaveGraph *part, const CleaveGraph *whole)
{
  g_autoptr (GHashTable) partners = g_hash_table_new (NULL, NULL);
  CleaveNode *b = whole->first;

  for (CleaveNode *a = part->first; a != NULL; a = a->next, b = b->next)
    {
      if (b == NULL || a->op != b->op || a->n_operands != b->n_operands ||
          a->n_results != b->n_results)
        return NULL;
      g_hash_table_insert (partners, a, b);
    }
  return b == NULL ? g_steal_pointer (&partners) : NULL;
}

static gboolean
outputs_fit (const CleaveGraph *part, const CleaveGraph *whole, GHashTable *partners)
{
  guint n = cleave_graph_get_n_outputs (part);

  for (guint i = 0; i < n && n == cleave_graph_get_n_outputs (whole); i++)
    {
      const CleaveResult *a = cleave_operand_get_result (cleave_graph_get_output (part, i)),
                         *b = cleave_operand_get_result (cleave_graph_get_output (whole, i));

      if (cleave_result_get_index (a) != cleave_result_get_index (b) ||
          g_hash_table_lookup (partners, a->node) != b->node)
        return FALSE;
    }
  return n == cleave_graph_get_n_outputs (whole);
}

gboolean
cleave_graph_is_prefix (const CleaveGraph *part, const CleaveGraph *whole, GString *why)
{
  g_autoptr (GHashTable) partners = pair_nodes (part, whole);

  if (partners == NULL || !outputs_fit (part, whole, partners))
    return cleave_refuse (why, "the graphs have different nodes");
  for (const CleaveNode *node = part->first; node != NULL; node = node->next)
    if (!nodes_fit (node, g_hash_table_lookup (partners, node), partners))
      return cleave_refuse (why,
                            "%s '%s' does not compute its first elements from the first "
                            "elements of its operands alone",
                            node->op->name, cleave_node_get_name (node));
  return TRUE;
}
