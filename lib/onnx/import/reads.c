/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the names of the values that nodes read, also in the graphs within nodes. */

#include "dynamic.h"

/* Returns the set of the names that nodes and outputs of a graph read. Includes nodes and outputs
 * of inner graphs. */
static GHashTable *
index_reads (const Onnx__GraphProto *whole)
{
  GHashTable *read = g_hash_table_new (g_str_hash, g_str_equal);
  g_autoptr (GPtrArray) graphs = g_ptr_array_new ();

  g_ptr_array_add (graphs, (gpointer) whole);
  while (graphs->len > 0)
    {
      const Onnx__GraphProto *proto = g_ptr_array_steal_index (graphs, graphs->len - 1);

      for (size_t i = 0; i < proto->n_node; i++)
        {
          const Onnx__NodeProto *node = proto->node[i];

          for (size_t j = 0; j < node->n_input; j++)
            g_hash_table_add (read, node->input[j]);
          for (size_t j = 0; j < node->n_attribute; j++)
            if (node->attribute[j]->g != NULL)
              g_ptr_array_add (graphs, node->attribute[j]->g);
        }
      for (size_t i = 0; i < proto->n_output; i++)
        if (proto->output[i]->name != NULL)
          g_hash_table_add (read, proto->output[i]->name);
    }
  return read;
}

gboolean
cleave_onnx_is_read (CleaveOnnxImport *import, const char *name)
{
  if (import->read == NULL)
    import->read = index_reads (import->whole);
  return g_hash_table_contains (import->read, name);
}

void
cleave_onnx_each_read (const Onnx__NodeProto *proto, CleaveOnnxReadFunc function, gpointer data)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  g_ptr_array_add (nodes, (gpointer) proto);
  while (nodes->len > 0)
    {
      const Onnx__NodeProto *at = g_ptr_array_steal_index (nodes, nodes->len - 1);

      for (size_t i = 0; i < at->n_input; i++)
        if (*at->input[i] != '\0')
          function (at->input[i], data);
      for (size_t i = 0; i < at->n_attribute; i++)
        {
          const Onnx__GraphProto *graph = at->attribute[i]->g;

          for (size_t k = 0; graph != NULL && k < graph->n_node; k++)
            g_ptr_array_add (nodes, graph->node[k]);
          for (size_t k = 0; graph != NULL && k < graph->n_output; k++)
            if (graph->output[k]->name != NULL)
              function (graph->output[k]->name, data);
        }
    }
}
