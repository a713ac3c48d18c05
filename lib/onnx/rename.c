/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Renames values and nodes of a function, and collects the names of a graph (rename.h). */

#include "rename.h"

#include <stdlib.h>
#include <string.h>

void
cleave_onnx_set_text (char **text, const char *to)
{
  free (*text);
  *text = strdup (to);
}

void
cleave_onnx_note_names (GHashTable *names, const Onnx__GraphProto *graph)
{
  for (size_t i = 0; i < graph->n_input; i++)
    if (graph->input[i]->name != NULL)
      g_hash_table_add (names, g_strdup (graph->input[i]->name));
  for (size_t i = 0; i < graph->n_initializer; i++)
    if (graph->initializer[i]->name != NULL)
      g_hash_table_add (names, g_strdup (graph->initializer[i]->name));
  for (size_t i = 0; i < graph->n_node; i++)
    {
      const Onnx__NodeProto *node = graph->node[i];

      for (size_t k = 0; k < node->n_output; k++)
        g_hash_table_add (names, g_strdup (node->output[k]));
      for (size_t k = 0; k < node->n_attribute; k++)
        if (node->attribute[k]->g != NULL)
          cleave_onnx_note_names (names, node->attribute[k]->g);
    }
}

/* Returns the name in the model for `name`, a value of the function. Makes the new name on the
 * first call. */
static const char *
rename_value (CleaveOnnxRenaming *renaming, const char *name)
{
  char *found = g_hash_table_lookup (renaming->renamed, name);

  if (found != NULL || *name == '\0')
    return found == NULL ? name : found;
  found = g_strdup_printf ("%s/%s", renaming->prefix, name);
  for (guint i = 2; g_hash_table_contains (renaming->taken, found); i++)
    {
      g_free (found);
      found = g_strdup_printf ("%s/%s_%u", renaming->prefix, name, i);
    }
  renaming->n_bytes += strlen (found);
  g_hash_table_add (renaming->taken, g_strdup (found));
  g_hash_table_insert (renaming->renamed, g_strdup (name), found);
  return found;
}

static void
rename_text (CleaveOnnxRenaming *renaming, char **name)
{
  if (*name != NULL)
    cleave_onnx_set_text (name, rename_value (renaming, *name));
}

/* Renames all values of a graph that is an attribute of a node. The recursion is bounded, since
 * cleave_wire_unpack() limits the nesting of messages. */
static void
rename_graph (CleaveOnnxRenaming *renaming, Onnx__GraphProto *graph)
{
  for (size_t i = 0; i < graph->n_input; i++)
    rename_text (renaming, &graph->input[i]->name);
  for (size_t i = 0; i < graph->n_output; i++)
    rename_text (renaming, &graph->output[i]->name);
  for (size_t i = 0; i < graph->n_value_info; i++)
    rename_text (renaming, &graph->value_info[i]->name);
  for (size_t i = 0; i < graph->n_initializer; i++)
    rename_text (renaming, &graph->initializer[i]->name);
  for (size_t i = 0; i < graph->n_sparse_initializer; i++)
    if (graph->sparse_initializer[i]->values != NULL)
      rename_text (renaming, &graph->sparse_initializer[i]->values->name);
  for (size_t i = 0; i < graph->n_node; i++)
    cleave_onnx_rename_node (renaming, graph->node[i]);
}

void
cleave_onnx_rename_node (CleaveOnnxRenaming *renaming, Onnx__NodeProto *node)
{
  if (node->name != NULL && *node->name != '\0')
    {
      g_autofree char *name = g_strdup_printf ("%s/%s", renaming->prefix, node->name);

      cleave_onnx_set_text (&node->name, name);
    }
  for (size_t i = 0; i < node->n_input; i++)
    rename_text (renaming, &node->input[i]);
  for (size_t i = 0; i < node->n_output; i++)
    rename_text (renaming, &node->output[i]);
  for (size_t i = 0; i < node->n_attribute; i++)
    if (node->attribute[i]->g != NULL)
      rename_graph (renaming, node->attribute[i]->g);
}
