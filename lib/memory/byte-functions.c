/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the values that are element-wise functions of one 8-bit value, so that a table of 256
 * entries can compute them (quantized-group.h). */

#include "quantized-group.h"

gboolean
cleave_node_goes_by_elements (const CleaveNode *node)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveRange one = cleave_range_whole (shape);

  if ((node->op->flags & (CLEAVE_OP_IN_PLACE | CLEAVE_OP_STORAGE)) == 0 || node->op->maps == NULL)
    return FALSE;
  cleave_node_call_init (&call, node);
  for (guint d = 0; d < shape->rank; d++)
    one.dim[d] = (CleaveSpan){ 0, 1 };
  for (guint i = 0; i < node->n_operands; i++)
    if (cleave_call_has (&call.call, i) && cleave_shape_equal (&call.call.operands[i].shape, shape))
      {
        CleaveSlice slice = cleave_call_slice (&call.call, i, &one);

        if (!cleave_range_equal (&slice.range, &one))
          return FALSE;
      }
  return TRUE;
}

static gboolean
is_byte (const CleaveTensorType *type)
{
  return type->element == CLEAVE_INT8 || type->element == CLEAVE_UINT8;
}

/* Returns the 8-bit value of which all operands of a node are element-wise functions. Ignores
 * constants of one element. Returns NULL if there is no such value. */
static CleaveResult *
find_origin (CleaveResult *const *origins, const CleaveNode *node)
{
  CleaveResult *origin = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveResult *x = node->operands[i].result, *of;

      if (x == NULL)
        continue;
      if (cleave_node_is_fixed (x->node))
        {
          if (cleave_shape_n_elements (&x->type.shape) != 1 ||
              cleave_node_get_constant (x->node) == NULL)
            return NULL;
          continue;
        }
      of = origins[x->node->id] == NULL && is_byte (&x->type) ? x : origins[x->node->id];
      if (of == NULL || (origin != NULL && of != origin) ||
          !cleave_shape_equal (&x->type.shape, &node->results[0].type.shape))
        return NULL;
      origin = of;
    }
  return origin;
}

CleaveResult **
cleave_byte_functions_find (const CleaveGraph *graph, const GPtrArray *order)
{
  CleaveResult **origins = g_new0 (CleaveResult *, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      if (node->n_results == 1 && !cleave_node_is_fixed (node) && node->op->compute != NULL &&
          node->op->maps != NULL && cleave_shape_n_elements (&node->results[0].type.shape) > 1 &&
          cleave_node_goes_by_elements (node))
        origins[node->id] = find_origin (origins, node);
    }
  return origins;
}
