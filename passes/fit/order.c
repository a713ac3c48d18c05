/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "order.h"

#include <cleave/cleave-program.h>

#include "../segments/file-order.h"
#include "../segments/timeline.h"

static GPtrArray *
list_nodes (const CleaveGraph *graph)
{
  GPtrArray *nodes = g_ptr_array_sized_new (graph->n_nodes);

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (nodes, node);
  return nodes;
}

void
cleave_fit_list_as_run (CleaveGraph *graph)
{
  g_autofree gint64 *live = NULL;
  g_autoptr (GPtrArray) order = cleave_timeline_order (graph, FALSE, &live, NULL);
  g_autoptr (GPtrArray) nodes = cleave_list_as_in_file (graph, order);

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
  nodes = cleave_list_as_in_file (graph, order);
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
