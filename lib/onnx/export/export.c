/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts a graph to an ONNX model and serializes it. Contains the public functions of the
 * exporter, except the functions that write files (lib/onnx/save.c). */

#include "export.h"

#include <string.h>

#include "../wire.h"

/* first opset whose DequantizeLinear reads elements of 4 bits */
#define PACKED_OPSET 21

/* The functions below set up and clear the state of an export. */

static void
number_values (CleaveOnnxExport *export)
{
  guint n = 0;

  export->first_value = g_new (guint, export->graph->n_ids + 1);
  for (const CleaveNode *node = export->graph->first; node != NULL; node = node->next)
    {
      export->first_value[node->id] = n;
      n += node->n_results;
    }
  export->values = g_new0 (const char *, n + 1);
}

static void
export_init (CleaveOnnxExport *export, const CleaveGraph *graph)
{
  Onnx__OperatorSetIdProto *set = g_new (Onnx__OperatorSetIdProto, 1);

  export->graph = graph;
  export->origin = graph->origin;
  export->opset = cleave_onnx_find_opset (graph);
  if (export->origin != NULL && export->origin->dynamic != NULL)
    export->opset =
        MAX (export->opset, (guint) cleave_onnx_dynamic_get_opset (export->origin->dynamic));
  export->packed = cleave_onnx_find_packed (graph);
  if (export->packed != NULL)
    export->opset = MAX (export->opset, PACKED_OPSET);
  export->assemble = cleave_op_lookup ("Assemble");
  export->custom = cleave_op_lookup ("Custom");
  export->where = cleave_op_lookup ("Where");
  export->pool = cleave_pool_new ();
  export->operands = g_ptr_array_new ();
  export->results = g_ptr_array_new ();
  export->value_names = g_hash_table_new (g_str_hash, g_str_equal);
  export->node_names = g_hash_table_new (g_str_hash, g_str_equal);
  export->suffixes = g_hash_table_new (g_str_hash, g_str_equal);
  number_values (export);
  export->small =
      g_hash_table_new_full (g_bytes_hash, g_bytes_equal, (GDestroyNotify) g_bytes_unref, NULL);
  export->tensors = g_ptr_array_new_with_free_func ((GDestroyNotify) cleave_tensor_unref);
  export->model = g_new (Onnx__ModelProto, 1);
  onnx__model_proto__init (export->model);
  export->model->has_ir_version = 1;
  export->model->ir_version = cleave_onnx_ir_version (export->opset);
  export->model->producer_name = g_strdup ("cleave");
  onnx__operator_set_id_proto__init (set);
  set->domain = g_strdup ("");
  set->has_version = 1;
  set->version = export->opset;
  cleave_wire_append (&export->model->opset_import, &export->model->n_opset_import, set);
  export->model->graph = g_new (Onnx__GraphProto, 1);
  onnx__graph_proto__init (export->model->graph);
  export->model->graph->name = g_strdup (cleave_graph_get_name (graph));
  export->scope = export->model->graph;
  if (export->origin != NULL)
    cleave_onnx_origin_write (export->origin, export->model);
  if (graph->keeps_order)
    cleave_onnx_add_metadata (export->model, CLEAVE_ONNX_ORDER, CLEAVE_ONNX_LISTED);
}

void
cleave_onnx_export_clear (CleaveOnnxExport *export)
{
  Onnx__GraphProto *graph;

  if (export->model == NULL)
    return;
  graph = export->model->graph;
  cleave_onnx_end_export_dynamic (export);
  cleave_onnx_free_nodes (graph);
  onnx__model_proto__free_unpacked (export->model, NULL);
  cleave_pool_free (export->pool);
  g_hash_table_unref (export->value_names);
  g_hash_table_unref (export->node_names);
  g_hash_table_unref (export->suffixes);
  g_ptr_array_unref (export->operands);
  g_ptr_array_unref (export->results);
  g_free (export->first_value);
  g_free (export->values);
  g_clear_pointer (&export->packed, g_hash_table_unref);
  g_hash_table_unref (export->small);
  g_clear_pointer (&export->default_names, g_hash_table_unref);
  g_ptr_array_unref (export->tensors);
  g_clear_pointer (&export->choices, g_ptr_array_unref);
  g_free (export->choice_of);
  g_free (export->branch);
}

/* The function below reserves the names of the model's inputs and outputs. */

/* Reserves the names of inputs, then of outputs. A value that is an output gets the output's name.
 * Fails if an input and an output have the same name but are different values. */
static gboolean
reserve_names (CleaveOnnxExport *export, GError **error)
{
  for (guint i = 0; i < export->graph->inputs->len; i++)
    cleave_onnx_result_name (export, export->graph->inputs->pdata[i]);
  cleave_onnx_name_defaults (export);
  cleave_onnx_reserve_dynamic (export);
  for (guint i = 0; i < export->graph->outputs->len; i++)
    {
      const CleaveResult *value =
          cleave_operand_get_result (cleave_graph_get_output (export->graph, i));
      const char *name = cleave_graph_get_output_name (export->graph, i);

      if (g_strcmp0 (*cleave_onnx_value_name (export, value), name) == 0)
        continue;
      if (g_hash_table_contains (export->value_names, name))
        return cleave_fail (error, CLEAVE_ERROR_MODEL, "output '%s' has the name of an input",
                            name);
      name = cleave_onnx_name_value (export, name);
      if (*cleave_onnx_value_name (export, value) == NULL &&
          cleave_node_get_constant (value->node) == NULL)
        *cleave_onnx_value_name (export, value) = name;
    }
  return TRUE;
}

/* The functions below write the inputs, nodes and outputs of the model. */

static void
export_inputs (CleaveOnnxExport *export)
{
  Onnx__GraphProto *proto = export->model->graph;

  for (guint i = 0; i < export->graph->inputs->len; i++)
    {
      const CleaveResult *input = export->graph->inputs->pdata[i];

      cleave_wire_append (
          &proto->input, &proto->n_input,
          cleave_onnx_info_new (export, cleave_onnx_result_name (export, input), &input->type));
    }
  cleave_onnx_export_defaults (export);
}

/* Adds the outputs of the model. If the value of an output already has another name, because the
 * value is also an input, a constant or another output, adds an Identity. */
static void
export_outputs (CleaveOnnxExport *export)
{
  Onnx__GraphProto *proto = export->model->graph;

  for (guint i = 0; i < export->graph->outputs->len; i++)
    {
      const CleaveResult *value =
          cleave_operand_get_result (cleave_graph_get_output (export->graph, i));
      const char *name = cleave_graph_get_output_name (export->graph, i);
      const char *own = cleave_onnx_result_name (export, value);

      if (strcmp (own, name) != 0)
        cleave_onnx_add_node (export, "Identity", name, &own, 1, &name, 1);
      cleave_wire_append (&proto->output, &proto->n_output,
                          cleave_onnx_info_new (export, name, &value->type));
    }
}

/* Writes the types of the intermediate values whose types the imported model declared. */
static void
export_value_infos (CleaveOnnxExport *export)
{
  Onnx__GraphProto *proto = export->model->graph;
  g_autoptr (GHashTable) border = g_hash_table_new (g_str_hash, g_str_equal);

  if (export->origin == NULL || g_hash_table_size (export->origin->value_infos) == 0)
    return;
  for (size_t i = 0; i < proto->n_input; i++)
    g_hash_table_add (border, proto->input[i]->name);
  for (size_t i = 0; i < proto->n_output; i++)
    g_hash_table_add (border, proto->output[i]->name);
  for (const CleaveNode *node = export->graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_results; i++)
      {
        const char *name = *cleave_onnx_value_name (export, &node->results[i]);

        if (name != NULL && export->branch[node->id] == 0 &&
            g_hash_table_contains (export->origin->value_infos, name) &&
            g_hash_table_add (border, (gpointer) name))
          cleave_wire_append (&proto->value_info, &proto->n_value_info,
                              cleave_onnx_info_new (export, name, &node->results[i].type));
      }
}

static gboolean
export_nodes (CleaveOnnxExport *export, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_onnx_export_order (export, error);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (cleave_node_is_input (node) || cleave_node_get_constant (node) != NULL)
        continue;
      export->node = node;
      if (export->choice_of[node->id] != NULL ? !cleave_onnx_export_choice (export, node, error)
                                              : !cleave_onnx_export_node (export, node, error))
        return FALSE;
    }
  export->node = NULL;
  return TRUE;
}

/* The functions below build and serialize the whole model. */

gsize
cleave_onnx_export_size (const CleaveOnnxExport *export)
{
  return onnx__model_proto__get_packed_size (export->model);
}

gboolean
cleave_onnx_export_check_size (gsize size, GError **error)
{
  return size <= G_MAXINT32 || cleave_fail (error, CLEAVE_ERROR_MODEL,
                                            "the model takes %" G_GSIZE_FORMAT
                                            " bytes, but an ONNX file holds at most %d",
                                            size, G_MAXINT32);
}

/* Returns the serialized model. `size` is the result of cleave_onnx_export_size(). */
static GBytes *
pack_model (const CleaveOnnxExport *export, gsize size, GError **error)
{
  guint8 *data;

  if (!cleave_onnx_export_check_size (size, error))
    return NULL;
  data = g_malloc (size);
  onnx__model_proto__pack (export->model, data);
  return g_bytes_new_take (data, size);
}

/* The exporter hides shapes: leaves the shapes of intermediate values out of the file (hide.c). It
 * does so if the estimated peak falls below HIDDEN_PART of the peak with shapes, and by
 * HIDDEN_BYTES bytes or more. In small networks this saves nothing: without shapes, ONNX Runtime
 * does not write the result of an Add over an operand. */
#define HIDDEN_PART 0.9
#define HIDDEN_BYTES (1 << 20)

/* Returns whether a graph has QDQ groups. ONNX Runtime fuses the nodes of each group, so a run has
 * fewer values than cleave_onnx_export_estimate() assumes. For such a graph, a file without the
 * shapes of intermediate values takes more memory than a file with these shapes. */
static gboolean
is_quantized (const CleaveGraph *graph)
{
  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (strcmp (node->op->name, "DequantizeLinear") == 0)
      return TRUE;
  return FALSE;
}

static void
hide_shapes (CleaveOnnxExport *export)
{
  const gint64 known = cleave_onnx_export_estimate (export, TRUE);
  const gint64 hidden = cleave_onnx_export_estimate (export, FALSE);

  export->known_bytes = known;
  export->is_hidden = !is_quantized (export->graph) &&
                      (double) hidden < HIDDEN_PART * (double) known &&
                      hidden + HIDDEN_BYTES <= known;
  if (export->is_hidden)
    cleave_onnx_export_hide (export);
}

gboolean
cleave_onnx_export_build (CleaveOnnxExport *export, const CleaveGraph *graph, GError **error)
{
  export_init (export, graph);
  if (!cleave_onnx_begin_export_dynamic (export, error) || !reserve_names (export, error))
    return FALSE;
  export_inputs (export);
  cleave_onnx_export_constants (export);
  if (!export_nodes (export, error))
    return FALSE;
  export_outputs (export);
  if (export->origin != NULL && export->origin->has_loops)
    {
      cleave_onnx_export_loops (export);
      hide_shapes (export);
    }
  if (!export->is_hidden)
    export_value_infos (export);
  return TRUE;
}

/**
 * cleave_onnx_serialize:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Makes an ONNX model of a graph. The opset of the model is the first opset, from 17 on, that
 * supports all ops of the graph. A graph always gives the same bytes.
 *
 * Inputs and outputs keep their names. Other values keep their names unless the name is in use.
 * Assembles become Concats and Slices, and a node with the layout NHWC stands between Transposes.
 * If constants are parts of one tensor, they take at most as many bytes in the file as the tensor.
 *
 * Fails with %CLEAVE_ERROR_MODEL if a node has no form in ONNX, or if the model would take 2 GiB
 * or more; with %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: (transfer full) (nullable): a serialized `ModelProto`
 *
 * Since: 0.1
 */
GBytes *
cleave_onnx_serialize (const CleaveGraph *graph, GError **error)
{
  g_auto (CleaveOnnxExport) export = { 0 };

  g_return_val_if_fail (graph != NULL, NULL);
  if (!cleave_onnx_export_build (&export, graph, error) ||
      !cleave_onnx_export_dynamic (&export, error))
    return NULL;
  return pack_model (&export, cleave_onnx_export_size (&export), error);
}
