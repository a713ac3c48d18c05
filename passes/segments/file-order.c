/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies an order of nodes. Moves all inputs to the begin of the order, and each constant to the
 * place right before its first reader. */

#include "file-order.h"

static void
add (GPtrArray *nodes, gboolean *seen, CleaveNode *node)
{
  if (seen[node->id])
    return;
  seen[node->id] = TRUE;
  g_ptr_array_add (nodes, node);
}

/* Returns whether a file of the graph contains a node as an input or an initializer. */
static gboolean
is_input_or_initializer (const CleaveNode *node)
{
  return cleave_node_is_input (node) || (node->n_operands == 0 && cleave_node_is_fixed (node));
}

GPtrArray *
cleave_list_as_in_file (const CleaveGraph *graph, const GPtrArray *order)
{
  GPtrArray *nodes = g_ptr_array_sized_new (graph->n_nodes);
  g_autofree gboolean *seen = g_new0 (gboolean, graph->n_ids + 1);

  for (guint i = 0; i < graph->inputs->len; i++)
    add (nodes, seen, ((const CleaveResult *) graph->inputs->pdata[i])->node);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (is_input_or_initializer (node))
        continue;
      for (guint o = 0; o < node->n_operands; o++)
        if (node->operands[o].result != NULL)
          add (nodes, seen, node->operands[o].result->node);
      add (nodes, seen, node);
    }
  for (guint i = 0; i < order->len; i++)
    /* adds nodes that no other node reads, such as a constant that is an output */
    add (nodes, seen, order->pdata[i]);
  return nodes;
}
