/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "graph-private.h"

#include "topology.h"

/* All nodes, in topological order; in the order of building if there is a cycle, so that a broken
 * graph prints too. */
static GPtrArray *
list_nodes (const CleaveGraph *graph)
{
  GPtrArray *order = cleave_topology_sort (graph, NULL);

  if (order != NULL)
    return order;
  order = g_ptr_array_new ();
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (order, node);
  return order;
}

static void
print_value (const CleaveResult *result, const guint *number, GString *out)
{
  if (result == NULL)
    g_string_append_c (out, '-');
  else
    g_string_append_printf (out, "%%%u", number[result->node->id] + result->index);
}

static void
print_node (const CleaveNode *node, const guint *number, GString *out)
{
  for (guint i = 0; i < node->n_results; i++)
    {
      g_string_append (out, i == 0 ? "" : ", ");
      print_value (&node->results[i], number, out);
    }
  g_string_append_printf (out, " = %s", node->op->name);
  for (guint i = 0; i < node->n_operands; i++)
    {
      g_string_append (out, i == 0 ? " " : ", ");
      print_value (node->operands[i].result, number, out);
    }
  cleave_attrs_print (node->op, node->attrs, out);
  for (guint i = 0; i < node->n_results; i++)
    {
      g_autofree char *type = cleave_tensor_type_to_string (&node->results[i].type);

      g_string_append_printf (out, "%s%s", i == 0 ? " : " : ", ", type);
    }
  g_string_append_printf (out, "  # %s\n", node->name);
}

/**
 * cleave_graph_print:
 * @graph: a graph
 *
 * Writes a graph as text: a line for each node in topological order, then one for each output.
 * Results are numbered in this order; attributes that have their default are left out; `-` is an
 * absent operand.
 *
 * Returns: (transfer full): the text
 */
char *
cleave_graph_print (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_autoptr (GPtrArray) nodes = list_nodes (graph);
  g_autofree guint *number = g_new (guint, graph->n_ids + 1);
  g_autoptr (GString) out = g_string_new (NULL);
  guint next = 0;

  for (guint i = 0; i < nodes->len; i++)
    {
      const CleaveNode *node = g_ptr_array_index (nodes, i);

      number[node->id] = next;
      next += node->n_results;
    }
  for (guint i = 0; i < nodes->len; i++)
    print_node (g_ptr_array_index (nodes, i), number, out);
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      g_string_append (out, "output ");
      print_value (cleave_graph_get_output (graph, i)->result, number, out);
      g_string_append_printf (out, "  # %s\n", cleave_graph_get_output_name (graph, i));
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}
