/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes the dynamic part of a model after the static part, so that the file has the whole model
 * again. Names of values do not change in the dynamic part. The values of the static part that
 * dynamic nodes read are outputs of the graph, and also keep their names. */

#include "export.h"

#include "../dynamic.h"
#include "../rename.h"
#include "../wire.h"
#include "newer.h"

#include <string.h>

/* Returns whether the file already has the constant `name` of the dynamic part, because the
 * constant is also an output of the graph. */
static gboolean
is_output (const CleaveOnnxExport *export, const char *name)
{
  for (guint i = 0; i < export->graph->outputs->len; i++)
    if (strcmp (cleave_graph_get_output_name (export->graph, i), name) == 0)
      return TRUE;
  return FALSE;
}

void
cleave_onnx_reserve_dynamic (CleaveOnnxExport *export)
{
  const CleaveOnnxDynamic *dynamic = export->dynamic;
  g_autoptr (GHashTable) names = NULL;
  GHashTableIter iter;
  gpointer name;

  if (dynamic == NULL)
    return;
  names = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  cleave_onnx_note_names (names, export->dynamic_graph);
  for (guint i = 0; i < dynamic->constants->len; i++)
    {
      const char *constant = g_array_index (dynamic->constants, CleaveOnnxDynamicConstant, i).name;

      if (!is_output (export, constant))
        g_hash_table_add (names, g_strdup (constant));
    }
  g_hash_table_iter_init (&iter, names);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_hash_table_add (export->value_names, cleave_pool_strdup (export->pool, name));
  for (guint i = 0; i < dynamic->nodes->len; i++)
    g_hash_table_add (export->node_names,
                      (gpointer) g_array_index (dynamic->nodes, CleaveOnnxDynamicNode, i).name);
}

gboolean
cleave_onnx_begin_export_dynamic (CleaveOnnxExport *export, GError **error)
{
  const CleaveOnnxDynamic *dynamic = export->origin == NULL ? NULL : export->origin->dynamic;

  if (dynamic == NULL)
    return TRUE;
  export->dynamic_graph = cleave_wire_unpack (&onnx__graph_proto__descriptor, dynamic->graph, FALSE,
                                              "ONNX graph", error);
  if (export->dynamic_graph == NULL)
    return FALSE;
  export->dynamic = dynamic;
  return TRUE;
}

/* Renames a node of the dynamic part if a node of the static part, or a node in `seen`, has the
 * same name. For example, both parts may contain nodes that came from one SplitToSequence. ONNX
 * Runtime refuses files with two nodes of one name. */
static void
name_node (const CleaveOnnxExport *export, Onnx__NodeProto *node, GHashTable *seen)
{
  g_autofree char *base = g_strdup (node->name);

  if (base == NULL || *base == '\0')
    return;
  for (guint i = 1; g_hash_table_contains (export->graph->nodes, node->name) ||
                    g_hash_table_contains (seen, node->name);
       i++)
    {
      g_autofree char *name = g_strdup_printf ("%s_%u", base, i);

      cleave_onnx_set_text (&node->name, name);
    }
  g_hash_table_add (seen, node->name);
}

/* Replaces the outputs in the file, which are the outputs of the graph, by the outputs of the
 * model. */
static void
write_outputs (CleaveOnnxExport *export)
{
  Onnx__GraphProto *whole = export->model->graph, *part = export->dynamic_graph;
  Onnx__ValueInfoProto **old = whole->output;
  size_t n_old = whole->n_output;

  whole->output = NULL;
  whole->n_output = 0;
  for (size_t i = 0; i < part->n_output; i++)
    {
      Onnx__ValueInfoProto *info = part->output[i];

      for (size_t k = 0; k < n_old; k++)
        if (old[k] != NULL && strcmp (old[k]->name, info->name) == 0)
          {
            onnx__value_info_proto__free_unpacked (info, NULL);
            info = g_steal_pointer (&old[k]);
            break;
          }
      cleave_wire_append (&whole->output, &whole->n_output, info);
    }
  part->n_output = 0;
  for (size_t k = 0; k < n_old; k++)
    if (old[k] != NULL)
      onnx__value_info_proto__free_unpacked (old[k], NULL);
  g_free (old);
}

/* Declares the element type `string` for inputs that are tensors of strings in the model. Adds the
 * model's inputs that are sequences or optional values, which the graph does not have. */
static void
write_inputs (CleaveOnnxExport *export)
{
  Onnx__GraphProto *whole = export->model->graph, *part = export->dynamic_graph;
  const size_t n_static = whole->n_input;

  for (size_t i = 0; i < part->n_input; i++)
    {
      size_t k = 0;

      while (k < n_static && strcmp (whole->input[k]->name, part->input[i]->name) != 0)
        k++;
      if (k == n_static)
        {
          cleave_wire_append (&whole->input, &whole->n_input, part->input[i]);
          continue;
        }
      onnx__value_info_proto__free_unpacked (whole->input[k], NULL);
      whole->input[k] = part->input[i];
    }
  part->n_input = 0;
}

/* Returns the set of the names of all values in the file. The set owns copies of the names. */
static GHashTable *
list_taken (const CleaveOnnxExport *export)
{
  GHashTable *taken = g_hash_table_new_full (g_str_hash, g_str_equal, g_free, NULL);
  GHashTableIter iter;
  gpointer name;

  g_hash_table_iter_init (&iter, export->value_names);
  while (g_hash_table_iter_next (&iter, &name, NULL))
    g_hash_table_add (taken, g_strdup (name));
  return taken;
}

gboolean
cleave_onnx_export_dynamic (CleaveOnnxExport *export, GError **error)
{
  const CleaveOnnxDynamic *dynamic = export->dynamic;
  Onnx__GraphProto *whole = export->model->graph, *part = export->dynamic_graph;
  g_autoptr (GHashTable) taken = NULL, seen = g_hash_table_new (g_str_hash, g_str_equal);

  if (dynamic == NULL)
    return TRUE;
  taken = list_taken (export);
  if (!cleave_onnx_convert_nodes (part, dynamic->opsets, export->opset, taken, error))
    return FALSE;
  for (guint i = 0; i < dynamic->constants->len; i++)
    {
      const CleaveOnnxDynamicConstant *constant =
          &g_array_index (dynamic->constants, CleaveOnnxDynamicConstant, i);
      g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (constant->tensor);

      if (!is_output (export, constant->name))
        cleave_onnx_add_initializer (export, constant->name, dense);
    }
  for (size_t i = 0; i < part->n_initializer; i++)
    cleave_wire_append (&whole->initializer, &whole->n_initializer, part->initializer[i]);
  part->n_initializer = 0;
  write_inputs (export);
  write_outputs (export);
  export->n_static_nodes = whole->n_node;
  for (size_t i = 0; i < part->n_node; i++)
    {
      if (g_strcmp0 (part->node[i]->domain, "ai.onnx") == 0)
        cleave_onnx_set_text (&part->node[i]->domain, "");
      name_node (export, part->node[i], seen);
      cleave_wire_append (&whole->node, &whole->n_node, part->node[i]);
    }
  return TRUE;
}

void
cleave_onnx_end_export_dynamic (CleaveOnnxExport *export)
{
  if (export->n_static_nodes > 0 || export->dynamic != NULL)
    export->model->graph->n_node = MIN (export->model->graph->n_node, export->n_static_nodes);
  if (export->dynamic_graph != NULL)
    onnx__graph_proto__free_unpacked (export->dynamic_graph, NULL);
}
