/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Keeps the default values of inputs. An input that has a default value in the model's file is a
 * constant of the graph. So memory plans count the input as a weight. In an exported file, the
 * constant is an input with a default value again. If the default value is open
 * (CLEAVE_DEFAULT_OPEN), whoever runs the exported file may pass another value. So no pass may
 * compute with the default value. A pass may slice the value: the slice shares the tensor, and the
 * exported file has a Slice of the input. */

#include "defaults.h"

#include "graph-private.h"

void
cleave_default_clear (gpointer data)
{
  CleaveDefault *entry = data;

  g_free (entry->name);
  cleave_tensor_unref (entry->tensor);
}

void
cleave_graph_set_defaults (CleaveGraph *graph, GArray *defaults)
{
  graph->defaults = defaults;
  graph->open_defaults = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < defaults->len; i++)
    {
      const CleaveDefault *entry = &g_array_index (defaults, CleaveDefault, i);

      if (entry->state == CLEAVE_DEFAULT_OPEN)
        g_hash_table_insert (graph->open_defaults, entry->tensor, entry->name);
    }
}

void
cleave_graph_copy_used_defaults (CleaveGraph *to, const CleaveGraph *from)
{
  g_autoptr (GHashTable) used = g_hash_table_new (NULL, NULL);
  g_autoptr (GArray) defaults = NULL;

  if (from->defaults == NULL)
    return;
  for (const CleaveNode *node = to->first; node != NULL; node = node->next)
    {
      CleaveTensor *tensor = cleave_node_get_constant (node);

      if (tensor != NULL)
        g_hash_table_add (used, cleave_tensor_get_base (tensor, NULL));
    }
  defaults = g_array_new (FALSE, FALSE, sizeof (CleaveDefault));
  g_array_set_clear_func (defaults, cleave_default_clear);
  for (guint i = 0; i < from->defaults->len; i++)
    {
      CleaveDefault entry = g_array_index (from->defaults, CleaveDefault, i);

      if (!g_hash_table_contains (used, entry.tensor))
        continue;
      entry.name = g_strdup (entry.name);
      entry.tensor = cleave_tensor_ref (entry.tensor);
      g_array_append_val (defaults, entry);
    }
  cleave_graph_set_defaults (to, g_steal_pointer (&defaults));
}

const char *
cleave_graph_find_default (const CleaveGraph *graph, CleaveTensor *tensor)
{
  return graph->open_defaults == NULL
             ? NULL
             : g_hash_table_lookup (graph->open_defaults, cleave_tensor_get_base (tensor, NULL));
}

CleaveTensor *
cleave_node_get_final_constant (const CleaveNode *node)
{
  CleaveTensor *tensor = cleave_node_get_constant (node);

  return tensor == NULL || cleave_graph_find_default (node->graph, tensor) != NULL ? NULL : tensor;
}
