/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints a graph as text, one line for each node. */

#include "print.h"

#include "literal.h"
#include "topology.h"

/* Returns all nodes in topological order. If there is a cycle, returns the nodes in the order of
 * building, so that a broken graph can be printed, too. */
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
print_attrs (const CleaveNode *node, const CleavePrintMore *more, GString *out)
{
  if (more != NULL && node->op == &cleave_op_constant)
    more->print_constant (cleave_node_get_constant (node), out, more->data);
  else
    cleave_attrs_print (node->op, node->attrs, out);
}

/* Prints the end of a node's line: "# " and the name of the node. If `more` is not NULL, also
 * prints the names of results that have a name of their own: "# node -> a, , c" if result 1 has
 * none. */
static void
print_names (const CleaveNode *node, const CleavePrintMore *more, GString *out)
{
  guint n = more == NULL ? 0 : node->n_results;

  while (n > 0 && node->results[n - 1].name == NULL)
    n--;
  g_string_append (out, "  # ");
  cleave_literal_print_name (node->name, more == NULL ? ">" : " ,", out);
  for (guint i = 0; i < n; i++)
    {
      g_string_append (out, i == 0 ? " -> " : ", ");
      if (node->results[i].name != NULL)
        cleave_literal_print_name (node->results[i].name, " ,", out);
    }
  g_string_append_c (out, '\n');
}

static void
print_node (const CleaveNode *node, const guint *number, const CleavePrintMore *more, GString *out)
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
  print_attrs (node, more, out);
  for (guint i = 0; i < node->n_results; i++)
    {
      g_autofree char *type = cleave_tensor_type_to_string (&node->results[i].type);

      g_string_append_printf (out, "%s%s", i == 0 ? " : " : ", ", type);
    }
  print_names (node, more, out);
}

char *
cleave_graph_print_more (const CleaveGraph *graph, const CleavePrintMore *more)
{
  g_autoptr (GPtrArray) nodes = list_nodes (graph);
  g_autofree guint *number = g_new (guint, graph->n_ids + 1);
  g_autoptr (GString) out = g_string_new (NULL);
  guint next = 0;

  if (more != NULL)
    {
      g_string_append (out, "graph ");
      cleave_literal_print_name (graph->name, "", out);
      g_string_append_c (out, '\n');
    }
  for (guint i = 0; i < nodes->len; i++)
    {
      const CleaveNode *node = g_ptr_array_index (nodes, i);

      number[node->id] = next;
      next += node->n_results;
    }
  for (guint i = 0; i < nodes->len; i++)
    print_node (g_ptr_array_index (nodes, i), number, more, out);
  for (guint i = 0; i < graph->outputs->len; i++)
    {
      g_string_append (out, "output ");
      print_value (cleave_graph_get_output (graph, i)->result, number, out);
      g_string_append (out, "  # ");
      cleave_literal_print_name (cleave_graph_get_output_name (graph, i), "", out);
      g_string_append_c (out, '\n');
    }
  return g_string_free (g_steal_pointer (&out), FALSE);
}

/**
 * cleave_graph_print:
 * @graph: a graph
 *
 * Prints a graph as text: a line for each node in topological order, then a line for each output.
 * Results are numbered in this order. Attributes with default values are left out. An absent
 * operand is printed as `-`. [func@Cleave.Graph.parse] reads the text. The values of constants are
 * not printed; [method@Cleave.Graph.to_text] prints them, too.
 *
 * Returns: (transfer full): the text
 *
 * Since: 0.1
 */
char *
cleave_graph_print (const CleaveGraph *graph)
{
  g_return_val_if_fail (graph != NULL, NULL);
  return cleave_graph_print_more (graph, NULL);
}
