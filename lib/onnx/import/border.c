/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the dynamic part (CleaveOnnxDynamic) from the dynamic nodes, after all nodes were read. The
 * values of the static part that dynamic nodes read become outputs of the graph. */

#include "dynamic.h"

#include "lists.h"
#include "texts.h"

#include "../../ir/defaults.h"
#include "../../ir/graph-private.h"
#include "../dynamic.h"

typedef struct
{
  CleaveOnnxImport *import;
  CleaveOnnxDynamic *dynamic;
  GHashTable *seen; /* set of the names that add_read() has handled */
  GError *error;
} Border;

static CleaveTensor *
find_constant (CleaveOnnxImport *import, const CleaveOnnxValue *value)
{
  CleaveTensor *tensor = value->constant != NULL || value->result == NULL
                             ? value->constant
                             : cleave_node_get_constant (cleave_result_get_node (value->result));

  if (tensor != NULL)
    cleave_onnx_fix_default (import, tensor);
  return tensor;
}

/* Lets the dynamic part read the value `name` of the static part. A constant becomes a constant of
 * the dynamic part. Any other value becomes an output of the graph, unless it is an input of the
 * model or already an output. */
static void
add_read (const char *name, gpointer data)
{
  Border *border = data;
  CleaveOnnxImport *import = border->import;
  CleaveOnnxValue *value = g_hash_table_lookup (import->values, name);
  CleaveTensor *constant;

  if (value == NULL || border->error != NULL ||
      g_hash_table_lookup (import->dynamic, name) != NULL ||
      !g_hash_table_add (border->seen, (gpointer) name))
    return;
  if (value->form != CLEAVE_ONNX_FORM_SAME)
    {
      cleave_fail (&border->error, CLEAVE_ERROR_MODEL,
                   "'%s' has elements of 4 bits or floats of 8 bits, which a node whose shapes "
                   "depend on data cannot read",
                   name);
      return;
    }
  constant = find_constant (import, value);
  if (constant != NULL)
    {
      cleave_onnx_dynamic_add_constant (border->dynamic, name, constant);
      return;
    }
  g_ptr_array_add (border->dynamic->reads, g_strdup (name));
  if (!cleave_node_is_input (cleave_result_get_node (value->result)) &&
      !g_hash_table_contains (import->output_names, name))
    cleave_graph_add_output (import->graph, name, value->result, &border->error);
}

static gboolean
check_operands (CleaveOnnxImport *import, const CleaveOnnxDeferred *deferred, GError **error)
{
  const Onnx__NodeProto *proto = deferred->proto;

  for (size_t i = 0; i < proto->n_input; i++)
    if (*proto->input[i] != '\0' && !g_hash_table_contains (import->dynamic, proto->input[i]) &&
        g_hash_table_lookup (import->values, proto->input[i]) == NULL)
      {
        g_autofree char *text = g_utf8_make_valid (proto->input[i], -1);

        return cleave_fail (error, CLEAVE_ERROR_MODEL, "%s '%s': its operand '%s' is not defined",
                            proto->op_type, cleave_onnx_name_of_node (proto), text);
      }
  return TRUE;
}

static gboolean
find_border (CleaveOnnxImport *import, CleaveOnnxDynamic *dynamic, GError **error)
{
  g_autoptr (GHashTable) seen = g_hash_table_new (g_str_hash, g_str_equal);
  Border border = { import, dynamic, seen, NULL };

  for (guint i = 0; i < import->deferred->len; i++)
    {
      const CleaveOnnxDeferred *deferred = import->deferred->pdata[i];

      if (!check_operands (import, deferred, error))
        return FALSE;
      cleave_onnx_each_read (deferred->proto, add_read, &border);
      if (border.error != NULL)
        {
          g_propagate_error (error, border.error);
          return FALSE;
        }
    }
  return TRUE;
}

/* The functions below make the dynamic part. */

static void
add_nodes (const CleaveOnnxImport *import, CleaveOnnxDynamic *dynamic)
{
  for (guint i = 0; i < import->deferred->len; i++)
    {
      const CleaveOnnxDeferred *deferred = import->deferred->pdata[i];
      const Onnx__NodeProto *proto = deferred->proto;
      CleaveOnnxDynamicNode node = { cleave_onnx_name_of_node (proto),
                                     proto->op_type,
                                     deferred->value,
                                     deferred->reason,
                                     deferred->is_cause,
                                     deferred->max_bytes };

      cleave_onnx_dynamic_add_node (dynamic, &node, deferred->opset);
      for (size_t k = 0; k < proto->n_output; k++)
        if (*proto->output[k] != '\0')
          g_hash_table_add (dynamic->made, g_strdup (proto->output[k]));
    }
}

/* Returns a serialized graph. The graph has the dynamic nodes, the initializers that are strings,
 * and the model's outputs. Its inputs are the inputs that are strings, sequences or optional
 * values. */
static GBytes *
pack_graph (const CleaveOnnxImport *import, const Onnx__GraphProto *whole)
{
  g_autofree Onnx__NodeProto **nodes = g_new0 (Onnx__NodeProto *, import->deferred->len + 1);
  g_autofree Onnx__TensorProto **texts = g_new0 (Onnx__TensorProto *, whole->n_initializer + 1);
  g_autofree Onnx__ValueInfoProto **inputs = g_new0 (Onnx__ValueInfoProto *, whole->n_input + 1);
  Onnx__GraphProto graph = ONNX__GRAPH_PROTO__INIT;
  guint8 *data;
  gsize n;

  for (guint i = 0; i < import->deferred->len; i++)
    {
      const CleaveOnnxDeferred *deferred = import->deferred->pdata[i];
      gsize size;
      gconstpointer bytes =
          deferred->packed == NULL ? NULL : g_bytes_get_data (deferred->packed, &size);

      nodes[i] = bytes == NULL ? (Onnx__NodeProto *) deferred->proto
                               : onnx__node_proto__unpack (NULL, size, bytes);
    }
  graph.n_node = import->deferred->len;
  graph.node = nodes;
  graph.n_output = whole->n_output;
  graph.output = whole->output;
  graph.initializer = texts;
  for (size_t i = 0; i < whole->n_initializer; i++)
    if (g_hash_table_contains (import->dynamic, whole->initializer[i]->name))
      texts[graph.n_initializer++] = whole->initializer[i];
  graph.input = inputs;
  for (size_t i = 0; i < whole->n_input; i++)
    if (cleave_onnx_is_list (whole->input[i]) ||
        (cleave_onnx_is_text_input (import, whole->input[i]) &&
         g_hash_table_contains (import->values, whole->input[i]->name)))
      inputs[graph.n_input++] = whole->input[i];
  n = onnx__graph_proto__get_packed_size (&graph);
  data = g_malloc (n + 1);
  onnx__graph_proto__pack (&graph, data);
  for (guint i = 0; i < import->deferred->len; i++)
    if (nodes[i] != ((const CleaveOnnxDeferred *) import->deferred->pdata[i])->proto)
      onnx__node_proto__free_unpacked (nodes[i], NULL);
  return g_bytes_new_take (data, n);
}

/* Removes static nodes that compute the tensors of sequences, if no node of the graph reads these
 * tensors. Only dynamic nodes read the sequences, and the dynamic part computes all tensors of its
 * sequences itself. Then removes nodes that computed only operands of removed nodes. */
static void
remove_items (CleaveOnnxImport *import)
{
  g_autoptr (GHashTable) items = g_hash_table_new (NULL, NULL);

  for (guint i = 0; import->all_values != NULL && i < import->all_values->len; i++)
    {
      const CleaveOnnxValue *value = import->all_values->pdata[i];

      if (value->items == NULL)
        continue;
      for (guint k = 0; k < value->items->len; k++)
        {
          const CleaveOnnxValue *item = value->items->pdata[k];

          if (item->result != NULL)
            g_hash_table_add (items, cleave_result_get_node (item->result));
        }
    }
  for (CleaveNode *node = import->graph->last, *prev; node != NULL; node = prev)
    {
      prev = node->prev;
      if (cleave_node_is_used (node) || !g_hash_table_contains (items, node) ||
          cleave_node_is_input (node) || cleave_node_get_constant (node) != NULL)
        continue;
      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL)
          g_hash_table_add (items, node->operands[i].result->node);
      cleave_graph_remove (import->graph, node);
    }
}

/* Removes constants that no node of the graph reads. The import added these constants for nodes
 * that it made dynamic later. */
static void
remove_unread_constants (CleaveOnnxImport *import)
{
  for (CleaveNode *node = import->graph->last, *prev; node != NULL; node = prev)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);

      prev = node->prev;
      if (tensor != NULL && !cleave_node_is_used (node) &&
          (import->default_index == NULL || !g_hash_table_contains (import->default_index, tensor)))
        cleave_graph_remove (import->graph, node);
    }
}

gboolean
cleave_onnx_finish_dynamic (CleaveOnnxImport *import, const Onnx__GraphProto *whole, GError **error)
{
  g_autoptr (CleaveOnnxDynamic) dynamic = cleave_onnx_dynamic_new ();

  if (!find_border (import, dynamic, error) || !cleave_onnx_keep_lists (dynamic, whole, error))
    return FALSE;
  add_nodes (import, dynamic);
  dynamic->graph = pack_graph (import, whole);
  dynamic->outputs = g_new0 (char *, whole->n_output + 1);
  for (size_t i = 0; i < whole->n_output; i++)
    {
      const Onnx__TypeProto *type = whole->output[i]->type;

      dynamic->outputs[i] = g_strdup (whole->output[i]->name);
      if (type != NULL && type->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE &&
          type->tensor_type->elem_type == ONNX__TENSOR_PROTO__DATA_TYPE__STRING)
        g_hash_table_add (dynamic->texts, g_strdup (whole->output[i]->name));
    }
  for (size_t i = 0; i < whole->n_input; i++)
    if (cleave_onnx_is_text_input (import, whole->input[i]))
      g_hash_table_add (dynamic->texts, g_strdup (whole->input[i]->name));
  remove_items (import);
  remove_unread_constants (import);
  import->origin->dynamic = g_steal_pointer (&dynamic);
  return TRUE;
}
