/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-order.h"

#include <cleave/cleave-program.h>

#include "timeline.h"

static GPtrArray *
list_nodes (const CleaveGraph *graph)
{
  GPtrArray *nodes = g_ptr_array_sized_new (graph->n_nodes);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (nodes, node);
  return nodes;
}

static void
add (GPtrArray *nodes, gboolean *seen, CleaveNode *node)
{
  if (seen[node->id])
    return;
  seen[node->id] = TRUE;
  g_ptr_array_add (nodes, node);
}

/* Returns whether a file of the graph has a node as an input or an initializer. */
static gboolean
is_there (const CleaveNode *node)
{
  return cleave_node_is_input (node) || (node->n_operands == 0 && cleave_node_is_fixed (node));
}

GPtrArray *
cleave_fit_order_as_read (const CleaveGraph *graph, const GPtrArray *order)
{
  GPtrArray *nodes = g_ptr_array_sized_new (graph->n_nodes);
  g_autofree gboolean *seen = g_new0 (gboolean, graph->n_ids + 1);

  for (guint i = 0; i < graph->inputs->len; i++)
    add (nodes, seen, ((const CleaveResult *) graph->inputs->pdata[i])->node);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (is_there (node))
        continue;
      for (guint o = 0; o < node->n_operands; o++)
        if (node->operands[o].result != NULL)
          add (nodes, seen, node->operands[o].result->node);
      add (nodes, seen, node);
    }
  for (guint i = 0; i < order->len; i++)
    add (nodes, seen, order->pdata[i]); /* only outputs read the value, or nothing does */
  return nodes;
}

void
cleave_fit_list_as_run (CleaveGraph *graph)
{
  g_autofree gint64 *live = NULL;
  g_autoptr (GPtrArray) order = cleave_timeline_order (graph, FALSE, &live, NULL);
  g_autoptr (GPtrArray) nodes = cleave_fit_order_as_read (graph, order);

  cleave_graph_arrange (graph, nodes);
}

gint64
cleave_fit_arrange (
    CleaveGraph *graph, guint n_threads, gboolean exclude_inputs, gint64 n_bytes, gint64 apart)
{
  g_autoptr (GPtrArray) before = list_nodes (graph), order = NULL, nodes = NULL;
  gboolean were_excluded = graph->exclude_inputs;
  g_autofree gint64 *live = NULL;
  CleaveEstimate estimate;
  gboolean is_kept;

  graph->exclude_inputs = exclude_inputs;
  order = n_threads == 1 ? cleave_timeline_order_down_to (graph, apart, &live)
                         : cleave_timeline_order (graph, FALSE, &live, NULL);
  nodes = cleave_fit_order_as_read (graph, order);
  cleave_graph_arrange (graph, nodes);
  is_kept =
      cleave_graph_estimate (graph, n_threads, &estimate, NULL) && estimate.arena_bytes == n_bytes;
  if (!is_kept)
    cleave_graph_arrange (graph, before);
  graph->exclude_inputs = were_excluded;
  return is_kept && n_threads == 1 && exclude_inputs == were_excluded
             ? estimate.peak_activation_bytes
             : -1;
}
