/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a placement in which the caller gives the rank of each node. */

#include "../../lib/memory/ordering.h"
#include "simulate.h"

/**
 * cleave_placement_new_by_node:
 * @graph: a graph, which must not change as long as the placement is there
 * @n_ranks: number of ranks, 1 to %CLEAVE_MAX_RANKS
 * @ranks: (array length=n_nodes): the rank of each node, in the order of
 * [method@Cleave.Graph.get_first_node] and [method@Cleave.Node.get_next]
 * @n_nodes: number of nodes of the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Places each node of a graph on the given rank. Inputs are always on rank 0, and outputs are sent
 * there. Nodes that depend on constants alone are on each rank that reads them.
 *
 * Fails with %CLEAVE_ERROR_OPTION if @n_nodes is not the number of nodes or a rank is not less than
 * @n_ranks, and with %CLEAVE_ERROR_CYCLE if the graph has a cycle.
 *
 * Returns: (transfer full) (nullable): the placement, or %NULL on error
 *
 * Since: 0.2
 */
CleavePlacement *
cleave_placement_new_by_node (
    CleaveGraph *graph, guint n_ranks, const guint *ranks, guint n_nodes, GError **error)
{
  g_return_val_if_fail (graph != NULL && (ranks != NULL || n_nodes == 0), NULL);
  g_autoptr (GPtrArray) order = NULL;
  g_autoptr (CleaveStorage) storage = NULL;
  g_autofree guint *rank = g_new0 (guint, graph->n_ids + 1);
  CleaveNode *node = graph->first;

  if (n_ranks == 0 || n_ranks > CLEAVE_MAX_RANKS || n_nodes != graph->n_nodes)
    {
      cleave_fail (error, CLEAVE_ERROR_OPTION,
                   "expected 1 to %d ranks and %u nodes, not %u ranks and %u nodes",
                   CLEAVE_MAX_RANKS, graph->n_nodes, n_ranks, n_nodes);
      return NULL;
    }
  for (guint i = 0; i < n_nodes; i++, node = node->next)
    {
      rank[node->id] = ranks[i];
      if (ranks[i] < n_ranks)
        continue;
      cleave_fail (error, CLEAVE_ERROR_OPTION, "'%s' is placed on rank %u, but there are %u ranks",
                   node->name, ranks[i], n_ranks);
      return NULL;
    }
  order = cleave_order_with_storage (graph, &storage, error);
  return order == NULL ? NULL : cleave_ranks_make (graph, order, n_ranks, g_steal_pointer (&rank));
}
