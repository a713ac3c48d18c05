/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Removes nodes whose results have no readers. After it removes a node, it also checks the nodes
 * that compute the operands of the removed node. */

#include "remove-dead.h"

#include "info.h"

/*  x           x
 *  | \         |
 *  a  b   =>   a        where nothing uses b.
 *  |           |
 * out         out
 *
 * Before: a valid graph.  After: every node except inputs has a result with users.  Run this pass
 * last. */

gboolean
cleave_remove_dead (GPtrArray *nodes, GHashTable *removed)
{
  g_autoptr (GHashTable) waiting = g_hash_table_new (NULL, NULL);
  gboolean changed = FALSE;

  for (guint i = 0; i < nodes->len; i++)
    g_hash_table_add (waiting, g_ptr_array_index (nodes, i));
  while (nodes->len > 0)
    {
      CleaveNode *node = g_ptr_array_steal_index (nodes, nodes->len - 1);

      if (!g_hash_table_remove (waiting, node) || cleave_node_is_input (node) ||
          cleave_node_is_used (node))
        continue;
      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL &&
            g_hash_table_add (waiting, node->operands[i].result->node))
          g_ptr_array_add (nodes, node->operands[i].result->node);
      cleave_graph_remove (node->graph, node);
      if (removed != NULL)
        g_hash_table_add (removed, node);
      changed = TRUE;
    }
  return changed;
}

/**
 * cleave_pass_remove_dead:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Removes nodes that no output depends on. Inputs stay, even if nothing reads them. O(graph).
 *
 * Returns: %TRUE; it cannot fail
 *
 * Since: 0.1
 */
gboolean
cleave_pass_remove_dead (CleaveGraph *graph,
                         gconstpointer options,
                         gboolean *changed,
                         GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  g_autoptr (GPtrArray) nodes = g_ptr_array_sized_new (graph->n_nodes);
  gboolean removed;

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (nodes, node);
  removed = cleave_remove_dead (nodes, NULL);
  if (changed != NULL)
    *changed = removed;
  return TRUE;
}

const CleavePassInfo cleave_pass_info_remove_dead = {
  .name = "remove-dead",
  .summary = "Removes nodes that no output needs.",
  .run = cleave_pass_remove_dead,
};
