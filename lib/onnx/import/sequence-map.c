/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads SequenceMap: reads the nodes of its body once for each tensor of the sequence.
 *
 *     SequenceMap ([a, b], t; body: y = Add (x, t)) -> s     y0 = Add (a, t), y1 = Add (b, t)
 *                                                            s is [y0, y1] */

#include "node.h"
#include "sequences.h"

static gboolean
check_body (const CleaveOnnxNode *node,
            const Onnx__NodeProto *proto,
            const Onnx__GraphProto *body,
            GError **error)
{
  if (body == NULL)
    return cleave_onnx_node_fail (node, error, "it has no body");
  if (body->n_input != node->operands->len || body->n_output != proto->n_output)
    return cleave_onnx_node_fail (node, error,
                                  "its body has %" G_GSIZE_FORMAT " inputs and %" G_GSIZE_FORMAT
                                  " outputs, not %u and %" G_GSIZE_FORMAT,
                                  (gsize) body->n_input, (gsize) body->n_output,
                                  node->operands->len, (gsize) proto->n_output);
  for (size_t i = 0; i < body->n_input; i++)
    if (!cleave_onnx_check_name (body->input[i]->name, "an input of a body", error))
      return FALSE;
  return TRUE;
}

/* Defines the inputs of the body for the tensors with index `place` in the sequences. An operand
 * that is a tensor, not a sequence, is the same input for all indices. */
static gboolean
bind_inputs (const CleaveOnnxNode *node, const Onnx__GraphProto *body, guint place, GError **error)
{
  for (guint i = 0; i < body->n_input; i++)
    {
      const CleaveOnnxValue *value = cleave_onnx_node_operand (node, i);

      if (value == NULL)
        return cleave_onnx_node_fail (node, error, "operand %u is missing", i);
      if (value->items != NULL && place >= value->items->len)
        return cleave_onnx_node_fail (node, error, "operand %u has only %u tensors", i,
                                      value->items->len);
      if (value->items != NULL)
        value = value->items->pdata[place];
      if (!cleave_onnx_bind_as (node->import, body->input[i]->name, value, error))
        return FALSE;
    }
  return TRUE;
}

/* Appends the value of each output i of the body to lists[i], the list of the tensors of result
 * i. */
static gboolean
take_outputs (CleaveOnnxNode *node,
              const Onnx__GraphProto *body,
              const GPtrArray *lists,
              GError **error)
{
  for (guint i = 0; i < lists->len; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_find_output (node, body, i, error);

      if (value == NULL)
        return FALSE;
      if (value->items != NULL)
        return cleave_onnx_node_fail (node, error, "output %u of its body is a sequence", i);
      value->is_kept = TRUE;
      g_ptr_array_add (lists->pdata[i], value);
    }
  return TRUE;
}

static gboolean
map_one (CleaveOnnxNode *node,
         const Onnx__GraphProto *body,
         guint place,
         const GPtrArray *lists,
         GError **error)
{
  gboolean good;

  cleave_onnx_begin_scope (node->import);
  good = cleave_onnx_unroll (node, body->n_node + body->n_output, error) &&
         bind_inputs (node, body, place, error) &&
         cleave_onnx_read_nodes (node->import, body, error) &&
         take_outputs (node, body, lists, error);
  cleave_onnx_end_scope (node->import);
  return good;
}

gboolean
cleave_onnx_read_sequence_map (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  const Onnx__GraphProto *body = cleave_onnx_find_graph (proto, "body");
  g_autoptr (GPtrArray) lists = g_ptr_array_new_with_free_func ((GDestroyNotify) g_ptr_array_unref);
  const GPtrArray *items = cleave_onnx_get_items (node, error);
  gboolean good;

  if (items == NULL || !check_body (node, proto, body, error))
    return FALSE;
  for (size_t i = 0; i < body->n_output; i++)
    g_ptr_array_add (lists, g_ptr_array_new ());
  cleave_onnx_begin_scope (node->import);
  good = cleave_onnx_read_initializers (node->import, body, error);
  for (guint place = 0; good && place < items->len; place++)
    good = map_one (node, body, place, lists, error);
  cleave_onnx_end_scope (node->import);
  node->values = g_ptr_array_new ();
  for (guint i = 0; i < lists->len; i++)
    {
      CleaveOnnxValue *value = cleave_onnx_value_new (node->import, NULL);

      value->items = g_ptr_array_ref (lists->pdata[i]);
      g_ptr_array_add (node->values, value);
    }
  return good;
}
