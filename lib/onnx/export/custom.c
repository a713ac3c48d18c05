/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes Custom nodes, whose ops Cleave does not know. The import kept each node as a NodeProto;
 * only the names of the operands and results are new. */

#include "export.h"

#include "../../ir/graph-private.h"
#include "../../ops/custom.h"

static Onnx__NodeProto *
unpack (const CleaveCustomAttrs *attrs)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (attrs->node);

  return onnx__node_proto__unpack (
      NULL, (size_t) cleave_tensor_type_n_bytes (cleave_tensor_get_type (dense)),
      cleave_tensor_get_data (dense));
}

static GPtrArray *
list_operands (CleaveOnnxExport *export, const CleaveNode *node, const Onnx__NodeProto *proto)
{
  GPtrArray *names = g_ptr_array_new ();
  guint at = 0;

  for (size_t i = 0; i < proto->n_input; i++)
    g_ptr_array_add (
        names, *proto->input[i] == '\0' || at == node->n_operands
                   ? NULL
                   : (gpointer) cleave_onnx_result_name (export, node->operands[at++].result));
  return names;
}

/* Returns the names of a node's outputs in the file. If the graph has no result for an output, the
 * output keeps its name from the imported file. If another value has this name, the output gets a
 * new name. */
static GPtrArray *
list_results (CleaveOnnxExport *export, const CleaveNode *node, const Onnx__NodeProto *proto)
{
  const CleaveCustomAttrs *attrs = node->attrs;
  GPtrArray *names = g_ptr_array_new ();
  guint at = 0, r = 0;

  for (size_t i = 0; i < proto->n_output; i++)
    {
      CleaveTensorType type;
      const char *name = proto->output[i];

      if (cleave_custom_next_output (attrs->outputs, &at, &type) && type.element != CLEAVE_NONE)
        name = cleave_onnx_result_name (export, &node->results[r++]);
      else if (*name != '\0')
        name = cleave_onnx_name_value (export, name);
      g_ptr_array_add (names, (gpointer) name);
    }
  return names;
}

gboolean
cleave_onnx_export_custom (CleaveOnnxExport *export, const CleaveNode *node, GError **error)
{
  Onnx__NodeProto *proto = unpack (node->attrs), *made;
  g_autoptr (GPtrArray) operands = NULL, results = NULL;

  if (proto == NULL)
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "Custom '%s': its bytes are not a node",
                        node->name);
  operands = list_operands (export, node, proto);
  results = list_results (export, node, proto);
  made = cleave_onnx_add_node (export, cleave_pool_strdup (export->pool, proto->op_type),
                               node->name, (const char *const *) operands->pdata, operands->len,
                               (const char *const *) results->pdata, results->len);
  made->domain = cleave_pool_strdup (export->pool, proto->domain);
  made->n_attribute = proto->n_attribute;
  made->attribute = proto->attribute;
  made->base.n_unknown_fields = proto->base.n_unknown_fields;
  made->base.unknown_fields = proto->base.unknown_fields;
  proto->n_attribute = 0;
  proto->attribute = NULL;
  proto->base.n_unknown_fields = 0;
  proto->base.unknown_fields = NULL;
  onnx__node_proto__free_unpacked (proto, NULL);
  return TRUE;
}
