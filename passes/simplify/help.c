/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks whether nodes are element-wise, or have attributes that name dimensions. Infers types of
 * changed nodes. Replaces a node by a value: all readers of the node's result 0 then read the
 * value. If the value is new, its node takes the names of the replaced node. */

#include "help.h"

static gboolean
maps_equal (const CleaveDimMap *a, const CleaveDimMap *b)
{
  return a->from == b->from && a->shift == b->shift && a->block == b->block &&
         a->stride == b->stride && a->times == b->times && a->offset == b->offset &&
         a->window == b->window;
}

gboolean
cleave_node_is_elementwise (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) node_call = { 0 };
  const CleaveCall *call;

  if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0 || node->op->maps == NULL ||
      node->n_results != 1 || node->n_operands == 0)
    return FALSE;
  call = cleave_node_call_init (&node_call, node);
  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveDimMap map[CLEAVE_MAX_RANK], expected[CLEAVE_MAX_RANK];
      const CleaveShape *shape = &call->operands[i].shape;

      if (node->operands[i].result == NULL || shape->rank > call->results[0].shape.rank)
        return FALSE;
      node->op->maps (call, i, map);
      cleave_maps_broadcast (shape, &call->results[0].shape, expected);
      for (guint d = 0; d < shape->rank; d++)
        if (shape->dim[d] != 1 && !maps_equal (&map[d], &expected[d]))
          return FALSE;
    }
  return TRUE;
}

gboolean
cleave_node_has_axes (const CleaveNode *node)
{
  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    if ((attr->flags & CLEAVE_ATTR_AXIS) != 0)
      return TRUE;
  return node->op->layout != NULL;
}

gboolean
cleave_node_infer_with (const CleaveNode *node,
                        guint index,
                        const CleaveTensorType *with,
                        guint n_results,
                        CleaveTensorType *results)
{
  g_auto (CleaveNodeCall) node_call = { 0 };
  CleaveCall call = *cleave_node_call_init (&node_call, node);
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, node->n_operands + 1);
  gpointer attrs = cleave_attrs_copy (node->op, node->attrs);
  gboolean good;

  for (guint i = 0; i < node->n_operands; i++)
    types[i] = i == index && with != NULL ? *with : call.operands[i];
  call.operands = types;
  call.n_results = n_results;
  call.results = NULL;
  call.attrs = attrs;
  call.cursor = NULL;
  good = cleave_call_infer (&call, attrs, results, NULL);
  cleave_attrs_free (node->op, attrs);
  return good;
}

gboolean
cleave_node_give_way (CleaveNode *node, CleaveResult *value, guint first_new)
{
  if (value == NULL)
    return FALSE;
  cleave_result_replace_uses (&node->results[0], value);
  if (value->node->id >= first_new)
    cleave_node_take_names (value->node, node);
  return TRUE;
}

/* Infers the type of the node's only result as if the node had other operands and attributes.
 * Returns FALSE if the node would not be legal. */
static gboolean
infer_as (const CleaveNode *node,
          CleaveResult *const *operands,
          gconstpointer attrs,
          CleaveTensorType *type)
{
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, node->n_operands + 1);
  gpointer own = cleave_attrs_copy (node->op, attrs);
  const CleaveCall call = {
    .op = node->op, .attrs = own, .n_operands = node->n_operands, .n_results = 1, .operands = types
  };
  gboolean good;

  for (guint i = 0; i < node->n_operands; i++)
    if (operands[i] != NULL)
      types[i] = operands[i]->type;
  good = cleave_call_infer (&call, own, type, NULL);
  cleave_attrs_free (node->op, own);
  return good;
}

gboolean
cleave_node_replace (CleaveNode *node, CleaveResult *const *operands, gconstpointer attrs)
{
  guint first_new = node->graph->n_ids;
  CleaveTensorType type;
  CleaveNode *other;

  if (node->n_results != 1 || !infer_as (node, operands, attrs, &type) ||
      !cleave_tensor_type_equal (&type, &node->results[0].type))
    return FALSE;
  other = cleave_graph_add (node->graph, node->op, node->name, operands, node->n_operands, 1, attrs,
                            NULL);
  if (other == NULL)
    return FALSE;
  return cleave_node_give_way (node, &other->results[0], first_new);
}
