/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces repeated nodes of a file by Loops (repeats.h). ONNX Runtime frees the values of a body
 * after each iteration. Without Loops, ONNX Runtime keeps the memory of the pieces of all
 * strips. */

#include "repeats.h"

#include "../wire.h"

static void
close_gaps (Onnx__NodeProto *node)
{
  size_t n = 0;

  for (size_t i = 0; i < node->n_input; i++)
    if (node->input[i] != NULL)
      node->input[n++] = node->input[i];
  node->n_input = n;
}

static void
collect_reads (const Onnx__GraphProto *graph, GHashTable *read)
{
  for (size_t i = 0; i < graph->n_node; i++)
    {
      for (size_t k = 0; k < graph->node[i]->n_input; k++)
        g_hash_table_add (read, graph->node[i]->input[k]);
      for (size_t k = 0; k < graph->node[i]->n_attribute; k++)
        if (graph->node[i]->attribute[k]->g != NULL)
          collect_reads (graph->node[i]->attribute[k]->g,
                         read); /* calls itself for each inner graph */
    }
}

/* Removes the constants that only bodies of Loops read: each body contains a copy of the constants
 * that it reads. */
static void
drop_constants (CleaveOnnxExport *export, GHashTable *constants)
{
  Onnx__GraphProto *graph = export->model->graph;
  g_autoptr (GHashTable) read = g_hash_table_new (g_str_hash, g_str_equal);
  size_t n = 0;

  collect_reads (graph, read);
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (g_hash_table_contains (read, graph->initializer[i]->name) ||
        !g_hash_table_contains (constants, graph->initializer[i]->name))
      graph->initializer[n++] = graph->initializer[i];
    else
      {
        graph->initializer[i]->raw_data = (ProtobufCBinaryData){ 0 };
        onnx__tensor_proto__free_unpacked (graph->initializer[i], NULL);
      }
  graph->n_initializer = n;
}

static void
write_all (CleaveOnnxExport *export, const CleaveOnnxList *list, const GPtrArray *repeats)
{
  Onnx__GraphProto *graph = export->model->graph;
  guint next = 0;

  g_free (graph->node);
  graph->node = NULL;
  graph->n_node = 0;
  for (guint i = 0; i < list->n_nodes; i++)
    {
      const CleaveOnnxRepeat *repeat = next < repeats->len ? repeats->pdata[next] : NULL;

      if (repeat == NULL || i < repeat->begin)
        {
          close_gaps (list->nodes[i]);
          cleave_wire_append (&graph->node, &graph->n_node, list->nodes[i]);
          continue;
        }
      for (guint k = i; export->iterations != NULL && k < cleave_onnx_repeat_end (repeat); k++)
        g_ptr_array_add (export->iterations, g_strdup (list->nodes[k]->name));
      cleave_onnx_write_loop (export, list, repeat);
      for (guint k = repeat->begin + repeat->period; k < cleave_onnx_repeat_end (repeat); k++)
        cleave_onnx_free_attributes (list->nodes[k]);
      i = cleave_onnx_repeat_end (repeat) - 1;
      next++;
    }
}

/* Returns how many nodes fewer the file has if each repeat becomes a Loop. */
static guint
count_saved (const GPtrArray *repeats)
{
  guint n = 0;

  for (guint i = 0; i < repeats->len; i++)
    {
      const CleaveOnnxRepeat *repeat = repeats->pdata[i];

      n += (repeat->n_iterations - 1) * repeat->period;
    }
  return n;
}

static void
write_list (CleaveOnnxExport *export, const CleaveOnnxList *list, const GPtrArray *repeats)
{
  g_autoptr (GHashTable) constants = g_hash_table_new (g_str_hash, g_str_equal);

  for (guint v = 0; v < list->names->len; v++)
    if (list->constants->pdata[v] != NULL)
      g_hash_table_add (constants, list->names->pdata[v]);
  write_all (export, list, repeats);
  drop_constants (export, constants);
}

void
cleave_onnx_export_loops (CleaveOnnxExport *export)
{
  g_auto (CleaveOnnxList) by_readers = { 0 }, by_file = { 0 };
  g_autoptr (GPtrArray) found = NULL, others = NULL;

  if (!cleave_onnx_list_init (&by_readers, export, CLEAVE_ONNX_READERS_ORDER) ||
      !cleave_onnx_list_init (&by_file, export, CLEAVE_ONNX_FILE_ORDER))
    return;
  found = cleave_onnx_find_repeats (&by_readers);
  others = cleave_onnx_find_repeats (&by_file);
  if (count_saved (others) > count_saved (found))
    write_list (export, &by_file, others);
  else if (found->len > 0)
    write_list (export, &by_readers, found);
}
