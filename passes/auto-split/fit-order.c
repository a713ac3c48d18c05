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

gint64
cleave_fit_arrange (
    CleaveGraph *graph, guint n_threads, gboolean inputs_apart, gint64 n_bytes, gint64 apart)
{
  g_autoptr (GPtrArray) before = list_nodes (graph), order = NULL;
  gboolean were_apart = graph->inputs_apart;
  g_autofree gint64 *live = NULL;
  CleaveEstimate estimate;
  gboolean is_kept;

  graph->inputs_apart = inputs_apart;
  order = n_threads == 1 ? cleave_timeline_order_down_to (graph, apart, &live)
                         : cleave_timeline_order (graph, FALSE, &live, NULL);
  cleave_graph_arrange (graph, order);
  is_kept =
      cleave_graph_estimate (graph, n_threads, &estimate, NULL) && estimate.arena_bytes == n_bytes;
  if (!is_kept)
    cleave_graph_arrange (graph, before);
  graph->inputs_apart = were_apart;
  return is_kept && n_threads == 1 && inputs_apart == were_apart ? estimate.peak_activation_bytes
                                                                 : -1;
}
