/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Writes inputs with default values: the file has both an input and an initializer of the same
 * name. A constant that is a range of a default value becomes a Slice of the input. So if a program
 * that runs the file feeds another value to the input, the constant has the range of the new
 * value. */

#include "export.h"

#include "../../ir/defaults.h"
#include "../wire.h"

/* Names values after inputs with default values. If a value of the graph is the whole default value
 * of an input, the value gets the input's name. */
void
cleave_onnx_name_defaults (CleaveOnnxExport *export)
{
  const GArray *defaults = export->graph->defaults;
  CleaveRange range;

  for (guint i = 0; defaults != NULL && i < defaults->len; i++)
    {
      const CleaveDefault *entry = &g_array_index (defaults, CleaveDefault, i);

      if (entry->state != CLEAVE_DEFAULT_OPEN)
        continue;
      cleave_onnx_name_value (export, entry->name);
      if (export->default_names == NULL)
        export->default_names = g_hash_table_new (g_str_hash, g_str_equal);
      g_hash_table_add (export->default_names, entry->name);
    }
  for (const CleaveNode *node = export->graph->first; defaults != NULL && node != NULL;
       node = node->next)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);
      const char *name = tensor == NULL ? NULL : cleave_graph_find_default (export->graph, tensor);

      if (name != NULL && cleave_tensor_get_base (tensor, &range) == tensor)
        *cleave_onnx_value_name (export, &node->results[0]) = name;
    }
}

gboolean
cleave_onnx_is_default (const CleaveOnnxExport *export, const char *name)
{
  return export->default_names != NULL && g_hash_table_contains (export->default_names, name);
}

void
cleave_onnx_export_defaults (CleaveOnnxExport *export)
{
  const GArray *defaults = export->graph->defaults;
  Onnx__GraphProto *proto = export->model->graph;

  for (guint i = 0; defaults != NULL && i < defaults->len; i++)
    {
      const CleaveDefault *entry = &g_array_index (defaults, CleaveDefault, i);

      if (entry->state != CLEAVE_DEFAULT_OPEN)
        continue;
      cleave_wire_append (
          &proto->input, &proto->n_input,
          cleave_onnx_info_new (export, entry->name, cleave_tensor_get_type (entry->tensor)));
      cleave_onnx_add_initializer (export, entry->name, entry->tensor);
    }
}

/**
 * cleave_onnx_list_defaults:
 * @graph: a graph
 * @only_open: whether to list only inputs to which another value may be fed
 *
 * Lists the inputs of the model's file that have a default value. An input with a default value is
 * an initializer that is also an input, in a file of IR version 4 or later.
 *
 * In the graph, this input is a constant. A file that Cleave writes for the graph contains the
 * input with its default value, and a program that runs the file may feed another value. This is
 * not possible if the value decides a shape or an attribute, or if the options of
 * [func@Cleave.onnx_load] gave the input a value. The input then becomes a constant of the file.
 *
 * Returns: (transfer full) (array zero-terminated=1): the names of the inputs, in the order of the
 *   file
 *
 * Since: 0.2
 */
char **
cleave_onnx_list_defaults (const CleaveGraph *graph, gboolean only_open)
{
  g_autoptr (GPtrArray) names = g_ptr_array_new ();

  g_return_val_if_fail (graph != NULL, NULL);
  for (guint i = 0; graph->defaults != NULL && i < graph->defaults->len; i++)
    {
      const CleaveDefault *entry = &g_array_index (graph->defaults, CleaveDefault, i);

      if (!only_open || entry->state == CLEAVE_DEFAULT_OPEN)
        g_ptr_array_add (names, g_strdup (entry->name));
    }
  g_ptr_array_add (names, NULL);
  return (char **) g_ptr_array_steal (names, NULL);
}
