/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Custom: a node of another domain than ONNX's. Cleave does not know the meaning of the node. The
 * exporter writes the node as the importer read it. The node can neither be split nor run. */

#include "custom.h"

#include <cleave/cleave-onnx.h>

void
cleave_custom_add_output (GArray *outputs, const CleaveTensorType *type)
{
  gint64 head[] = { type == NULL ? CLEAVE_NONE : type->element,
                    type == NULL ? 0 : type->shape.rank };

  g_array_append_vals (outputs, head, type == NULL ? 1 : 2);
  if (type != NULL)
    g_array_append_vals (outputs, type->shape.dim, type->shape.rank);
}

gboolean
cleave_custom_next_output (const GArray *outputs, guint *at, CleaveTensorType *type)
{
  const gint64 *list = (const gint64 *) (gconstpointer) outputs->data;

  *type = (CleaveTensorType){ 0 };
  if (*at >= outputs->len)
    return FALSE;
  type->element = (CleaveElement) list[(*at)++];
  if (type->element == CLEAVE_NONE)
    return TRUE;
  if (*at < outputs->len)
    type->shape.rank = (guint) CLAMP (list[*at], 0, CLEAVE_MAX_RANK);
  (*at)++;
  for (guint d = 0; d < type->shape.rank && *at < outputs->len; d++)
    type->shape.dim[d] = list[(*at)++];
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveCustomAttrs *a = call->attrs;
  CleaveTensorType type;
  guint n = 0, at = 0;

  if (a->op == NULL || a->node == NULL || a->outputs == NULL)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "op, outputs and node are needed");
  while (cleave_custom_next_output (a->outputs, &at, &type))
    if (type.element != CLEAVE_NONE && n++ < call->n_results)
      results[n - 1] = type;
  return n == call->n_results ||
         cleave_fail (error, CLEAVE_ERROR_OPTION, "has %u results, not %u", n, call->n_results);
}

static void
print (gconstpointer attrs, GString *out)
{
  const CleaveCustomAttrs *a = attrs;

  g_string_append_printf (out, " op=%s", a->op);
}

static const CleaveAttr custom_attrs[] = {
  { "op", CLEAVE_ATTR_STRING, CLEAVE_FIELD (CleaveCustomAttrs, op), .flags = CLEAVE_ATTR_NOT_ONNX },
  { "outputs", CLEAVE_ATTR_ARRAY, CLEAVE_FIELD (CleaveCustomAttrs, outputs),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { "node", CLEAVE_ATTR_TENSOR, CLEAVE_FIELD (CleaveCustomAttrs, node),
    .flags = CLEAVE_ATTR_NOT_ONNX },
  { 0 },
};

const CleaveOp cleave_op_custom = {
  .name = "Custom",
  .operands = (const char *const[]){ "operand", NULL },
  .results = (const char *const[]){ "result", NULL },
  .flags = CLEAVE_OP_NOT_ONNX | CLEAVE_OP_VARIADIC,
  .attrs_size = sizeof (CleaveCustomAttrs),
  .attrs = custom_attrs,
  .infer = infer,
  .print = print,
};

/**
 * cleave_node_get_custom_op:
 * @node: a node
 *
 * Returns the operator of a custom node: a node whose operator Cleave does not know, and which
 * Cleave writes unchanged. A custom node is not split, has no multiply-accumulates, and cannot be
 * run.
 *
 * Returns: (nullable): the operator in the model, `domain:op`, or %NULL for any other node
 *
 * Since: 0.1
 */
const char *
cleave_node_get_custom_op (const CleaveNode *node)
{
  g_return_val_if_fail (node != NULL, NULL);
  return cleave_node_get_op (node) == &cleave_op_custom
             ? ((const CleaveCustomAttrs *) cleave_node_get_attrs (node))->op
             : NULL;
}
