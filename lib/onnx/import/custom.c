/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Keeps nodes of unknown domains as Custom nodes. Cleave cannot compute a Custom node. The model
 * must declare the types of the results of these nodes (value_info). */

#include "dynamic.h"
#include "node.h"

#include "../../ops/custom.h"

static gboolean
fail (const CleaveOnnxNode *node, const Onnx__NodeProto *proto, const char *what, GError **error)
{
  return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s:%s '%s': %s", proto->domain, node->op,
                      node->name, what);
}

/* Fails if an attribute of the node is a graph, since such a graph could read any value of the
 * model. */
static gboolean
check_attrs (const CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  for (size_t i = 0; i < proto->n_attribute; i++)
    if (proto->attribute[i]->g != NULL || proto->attribute[i]->n_graphs > 0)
      return fail (node, proto, "a node that is not known here cannot hold graphs", error);
  return TRUE;
}

static gboolean
find_type (CleaveOnnxImport *import, const char *name, CleaveTensorType *type, GError **error)
{
  const Onnx__ValueInfoProto *info = g_hash_table_lookup (import->infos, name);

  return info != NULL && cleave_onnx_value_info_type (import, info, type, error);
}

/* Lists the types of the node's outputs in `attrs`. Fails if the model does not declare the type of
 * an output that a node reads. */
static gboolean
list_outputs (CleaveOnnxNode *node,
              const Onnx__NodeProto *proto,
              CleaveCustomAttrs *attrs,
              GError **error)
{
  attrs->outputs = g_array_new (FALSE, FALSE, sizeof (gint64));
  node->n_results = 0;
  for (size_t i = 0; i < proto->n_output; i++)
    {
      const char *name = proto->output[i];
      g_autoptr (GError) why = NULL;
      g_autofree char *what = NULL;
      CleaveTensorType type;
      gboolean is_known = *name != '\0' && find_type (node->import, name, &type, &why);

      cleave_custom_add_output (attrs->outputs, is_known ? &type : NULL);
      node->n_results += is_known ? 1 : 0;
      if (is_known || *name == '\0' || !cleave_onnx_is_read (node->import, name))
        continue;
      cleave_onnx_note_unknown (
          node->import, NULL, "gives '%s', whose type and shape the model does not declare", name);
      what = g_strdup_printf ("the type of its result '%s' is not known: %s", name,
                              why != NULL ? why->message
                                          : "value_info must have its element type and shape");
      return fail (node, proto, what, error);
    }
  return node->n_results > 0 ||
         fail (node, proto, "value_info has the type of none of its results", error);
}

static CleaveTensor *
pack (const Onnx__NodeProto *proto)
{
  gsize n = onnx__node_proto__get_packed_size (proto);
  CleaveTensor *tensor = cleave_tensor_new (&CLEAVE_TYPE (CLEAVE_UINT8, (gint64) n), NULL);

  onnx__node_proto__pack (proto, cleave_tensor_get_mutable_data (tensor));
  return tensor;
}

static gboolean
add (CleaveOnnxNode *node, CleaveCustomAttrs *attrs, GError **error)
{
  g_autoptr (GPtrArray) operands = g_ptr_array_new ();
  CleaveNode *added;
  CleaveTensorType type;

  for (guint i = 0; i < node->operands->len; i++)
    if (node->operands->pdata[i] != NULL)
      g_ptr_array_add (operands, cleave_onnx_value_result (node->import, node->operands->pdata[i]));
  added = cleave_graph_add (node->import->graph, &cleave_op_custom, node->name,
                            (CleaveResult **) operands->pdata, operands->len, node->n_results,
                            attrs, error);
  node->values = g_ptr_array_new ();
  for (guint at = 0, r = 0;
       added != NULL && cleave_custom_next_output (attrs->outputs, &at, &type);)
    {
      CleaveOnnxValue *value = cleave_onnx_value_new (node->import, NULL);

      if (type.element != CLEAVE_NONE)
        value->result = cleave_node_get_result (added, r++);
      g_ptr_array_add (node->values, value);
    }
  return added != NULL;
}

gboolean
cleave_onnx_read_custom (CleaveOnnxNode *node, const Onnx__NodeProto *proto, GError **error)
{
  CleaveCustomAttrs attrs = { 0 };
  gboolean good;

  if (node->import->interprets)
    return fail (node, proto, "it cannot be run, since its op is not known here", error);
  if (!cleave_onnx_check_name (proto->domain, "a domain", error) ||
      !check_attrs (node, proto, error))
    return FALSE;
  good = list_outputs (node, proto, &attrs, error);
  if (good)
    {
      attrs.op = g_strdup_printf ("%s:%s", proto->domain, proto->op_type);
      attrs.node = pack (proto);
      good = add (node, &attrs, error);
    }
  g_free (attrs.op);
  g_clear_pointer (&attrs.outputs, g_array_unref);
  g_clear_pointer (&attrs.node, cleave_tensor_unref);
  return good;
}
