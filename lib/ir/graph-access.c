/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reads graphs: their nodes, inputs, outputs, counts and topological order. */

#include "graph-private.h"

#include "topology.h"

/**
 * cleave_graph_get_name:
 * @graph: a graph
 *
 * Returns: (transfer none): the name of the graph
 *
 * Since: 0.1
 */
const char *
cleave_graph_get_name (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return graph->name;
}

/**
 * cleave_graph_get_n_nodes:
 * @graph: a graph
 *
 * Returns: the number of nodes, including inputs and constants
 *
 * Since: 0.1
 */
guint
cleave_graph_get_n_nodes (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, 0);
  return graph->n_nodes;
}

/**
 * cleave_graph_count_operators:
 * @graph: a graph
 *
 * Counts the nodes that compute: all except inputs and constants. O(nodes).
 *
 * Returns: the number of these nodes
 *
 * Since: 0.1
 */
guint
cleave_graph_count_operators (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, 0);

  guint n = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    n += node->op != &cleave_op_input && node->op != &cleave_op_constant;
  return n;
}

/**
 * cleave_graph_get_macs:
 * @graph: a graph
 *
 * Adds up [method@Cleave.Node.get_macs] of all nodes. O(nodes).
 *
 * Returns: the number of multiply-accumulates of one run; 2^63 - 1 if the number is larger
 *
 * Since: 0.1
 */
gint64
cleave_graph_get_macs (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, 0);

  gint64 macs = 0;

  for (const CleaveNode *node = graph->first; node != NULL; node = node->next)
    macs = cleave_saturated_add (macs, cleave_node_get_macs (node));
  return macs;
}

/**
 * cleave_graph_get_first_node:
 * @graph: a graph
 *
 * Returns the node that was built first. [method@Cleave.Node.get_next] returns all further nodes.
 *
 * Returns: (transfer none) (nullable): the first node, or %NULL if the graph is empty
 *
 * Since: 0.1
 */
CleaveNode *
cleave_graph_get_first_node (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return graph->first;
}

/**
 * cleave_graph_find_node:
 * @graph: a graph
 * @name: the name of a node, or of its first result
 *
 * Finds a node by its name, in constant time.
 *
 * Returns: (transfer none) (nullable): the node, or %NULL if there is none
 *
 * Since: 0.1
 */
CleaveNode *
cleave_graph_find_node (const CleaveGraph *graph, const char *name)
{
  g_return_val_if_fail (graph != NULL && name != NULL, NULL);

  CleaveNode *node = g_hash_table_lookup (graph->nodes, name);
  CleaveResult *value = node == NULL ? g_hash_table_lookup (graph->values, name) : NULL;

  return value != NULL && value->index == 0 ? value->node : node;
}

/**
 * cleave_graph_get_n_inputs:
 * @graph: a graph
 *
 * Returns: the number of inputs
 *
 * Since: 0.1
 */
guint
cleave_graph_get_n_inputs (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, 0);
  return graph->inputs->len;
}

/**
 * cleave_graph_get_input:
 * @graph: a graph
 * @index: index of the input, in the order in which inputs were added
 *
 * Returns: (transfer none): the value of the input
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_get_input (const CleaveGraph *graph, guint index)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (index < graph->inputs->len, NULL);
  return g_ptr_array_index (graph->inputs, index);
}

/**
 * cleave_graph_get_n_outputs:
 * @graph: a graph
 *
 * Returns: the number of outputs
 *
 * Since: 0.1
 */
guint
cleave_graph_get_n_outputs (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, 0);
  return graph->outputs->len;
}

/**
 * cleave_graph_get_output:
 * @graph: a graph
 * @index: index of the output, in the order in which outputs were added
 *
 * Returns: (transfer none): the output, an operand without a node;
 * [method@Cleave.Operand.get_result] returns its value
 *
 * Since: 0.1
 */
CleaveOperand *
cleave_graph_get_output (const CleaveGraph *graph, guint index)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (index < graph->outputs->len, NULL);
  return &((CleaveOutput *) g_ptr_array_index (graph->outputs, index))->operand;
}

/**
 * cleave_graph_get_output_name:
 * @graph: a graph
 * @index: index of the output
 *
 * Returns: (transfer none): the name of the output
 *
 * Since: 0.1
 */
const char *
cleave_graph_get_output_name (const CleaveGraph *graph, guint index)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_return_val_if_fail (index < graph->outputs->len, NULL);
  return ((CleaveOutput *) g_ptr_array_index (graph->outputs, index))->name;
}

/**
 * cleave_graph_get_order:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Sorts the nodes topologically: each node comes after the nodes whose results it reads. If several
 * nodes could come next, the node that was built first comes next.
 *
 * Fails with %CLEAVE_ERROR_CYCLE, naming the nodes of a cycle.
 *
 * Returns: (transfer container) (nullable) (element-type CleaveNode): the nodes, or %NULL on error
 *
 * Since: 0.1
 */
GPtrArray *
cleave_graph_get_order (const CleaveGraph *graph, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return cleave_topology_sort (graph, error);
}
