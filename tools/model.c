/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "model.h"

#include "arguments.h"

#include <string.h>

static void
clear_name (gpointer data)
{
  g_free ((char *) ((CleaveOnnxShape *) data)->name);
}

static GArray *
parse_shapes (char **texts, GError **error)
{
  g_autoptr (GArray) shapes = g_array_new (FALSE, FALSE, sizeof (CleaveOnnxShape));

  g_array_set_clear_func (shapes, clear_name);
  for (guint i = 0; texts != NULL && texts[i] != NULL; i++)
    {
      CleaveOnnxShape shape = { 0 };
      char *name;
      const char *value;

      cleave_argument_pair (texts[i], TRUE, &name, &value);
      shape.name = name;
      g_array_append_val (shapes, shape);
      if (!cleave_argument_shape ("--shape", value,
                                  &g_array_index (shapes, CleaveOnnxShape, i).shape, error))
        return NULL;
    }
  return g_steal_pointer (&shapes);
}

CleaveGraph *
cleave_model_load (const char *path, char **shapes, GError **error)
{
  g_autoptr (GArray) list = parse_shapes (shapes, error);
  CleaveOnnxOptions options = { 0 };
  CleaveGraph *graph;
  GError *mine = NULL;

  if (list == NULL)
    return NULL;
  options.shapes = (const CleaveOnnxShape *) (gpointer) list->data;
  options.n_shapes = list->len;
  graph = cleave_onnx_load (path, &options, &mine);
  if (mine != NULL && strstr (mine->message, path) == NULL)
    g_prefix_error (&mine, "'%s': ", path);
  if (mine != NULL)
    g_propagate_error (error, mine);
  return graph;
}

CleaveNode *
cleave_model_find_node (const CleaveGraph *graph, const char *name)
{
  CleaveNode *node = cleave_graph_find_node (graph, name);

  if (node != NULL)
    return node;
  for (node = cleave_graph_get_first_node (graph); node != NULL; node = cleave_node_get_next (node))
    {
      g_autofree char *result = cleave_result_dup_name (cleave_node_get_result (node, 0));

      if (g_str_equal (result, name))
        return node;
    }
  return NULL;
}

gint64
cleave_model_get_macs (const CleaveGraph *graph)
{
  gint64 macs = 0;

  for (CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    macs += cleave_node_get_macs (node);
  return macs;
}
