/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies graphs. */

#include "extract.h"
#include "graph-private.h"

/* Copies a node with its names and types, but without operands. The nodes that compute the operands
 * may have no copies yet. */
static CleaveNode *
copy_node (CleaveGraph *graph, const CleaveNode *node)
{
  g_autofree CleaveResult **none = g_new0 (CleaveResult *, MAX (node->n_operands, 1));
  CleaveNode *copy = cleave_graph_add_like (graph, node, node->name, none);

  for (guint i = 0; i < node->n_results; i++)
    if (node->results[i].name != NULL)
      cleave_result_set_name (&copy->results[i], node->results[i].name);
  return copy;
}

/**
 * cleave_graph_copy:
 * @graph: a graph
 *
 * Copies a graph. The copy has the same nodes with the same names in the same order. The copy
 * shares the tensors of constants. O(graph).
 *
 * Returns: (transfer full): the copy
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_graph_copy (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);

  CleaveGraph *copy = cleave_graph_new (graph->name);
  g_autofree CleaveNode **nodes = g_new (CleaveNode *, graph->n_ids + 1);

  if (graph->origin != NULL)
    cleave_graph_set_origin (copy, g_atomic_rc_box_acquire (graph->origin), graph->origin_clear);
  if (graph->defaults != NULL)
    {
      copy->defaults = g_array_ref (graph->defaults);
      copy->open_defaults = g_hash_table_ref (graph->open_defaults);
    }
  if (graph->shared_names != NULL)
    cleave_graph_set_shared_names (copy, g_hash_table_ref (graph->shared_names));
  for (guint i = 0; graph->files != NULL && i < graph->files->len; i++)
    cleave_graph_add_file (copy, graph->files->pdata[i]);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    nodes[node->id] = copy_node (copy, node);
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    for (guint i = 0; i < node->n_operands; i++)
      {
        const CleaveResult *from = node->operands[i].result;

        if (from != NULL)
          cleave_operand_attach (&nodes[node->id]->operands[i],
                                 &nodes[from->node->id]->results[from->index]);
      }
  cleave_extract_ends (copy, graph, cleave_extract_map_by_id, nodes);
  return copy;
}
