/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Orders the nodes of a graph as a program of one thread runs them, and finds the live bytes at
 * each node. A lap is an overlay that spans strips. The lowered graph has one node for each
 * quantized group. */

#include "timeline.h"

#include "../../lib/ir/topology.h"
#include "../../lib/memory/quantized-group.h"

static gboolean
init (CleaveTimeline *timeline,
      const CleaveGraph *graph,
      gboolean with_laps,
      gint64 n_bytes,
      GError **error)
{
  const CleaveGraph *runs;

  *timeline = (CleaveTimeline){ 0 };
  timeline->lowered = cleave_group_quantized_nodes (graph, &timeline->nodes);
  runs = timeline->lowered == NULL ? graph : timeline->lowered;
  timeline->order = with_laps
                        ? cleave_order_with_laps_down_to (runs, n_bytes, &timeline->storage, error)
                        : cleave_order_with_storage (runs, &timeline->storage, error);
  return timeline->order != NULL;
}

gboolean
cleave_timeline_init (CleaveTimeline *timeline, const CleaveGraph *graph, GError **error)
{
  return init (timeline, graph, FALSE, 0, error);
}

void
cleave_timeline_init_as_listed (CleaveTimeline *timeline, const CleaveGraph *graph)
{
  *timeline = (CleaveTimeline){ .order = g_ptr_array_sized_new (graph->n_nodes) };
  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    g_ptr_array_add (timeline->order, node);
  timeline->storage = cleave_storage_new (graph, timeline->order);
}

gboolean
cleave_timeline_stage (CleaveTimeline *timeline, const CleaveGraph *graph)
{
  CleaveStorage *staged = cleave_storage_new_staged (
      timeline->lowered == NULL ? graph : timeline->lowered, timeline->order, timeline->storage);

  if (staged == NULL)
    return FALSE;
  cleave_storage_free (timeline->storage);
  timeline->storage = staged;
  return TRUE;
}

void
cleave_timeline_clear (CleaveTimeline *timeline)
{
  g_clear_pointer (&timeline->storage, cleave_storage_free);
  g_clear_pointer (&timeline->order, g_ptr_array_unref);
  g_clear_pointer (&timeline->lowered, cleave_graph_unref);
  g_clear_pointer (&timeline->nodes, g_free);
}

static int
compare_ranks (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *rank = data;
  guint x = rank[(*(CleaveNode *const *) a)->id], y = rank[(*(CleaveNode *const *) b)->id];

  return (x > y) - (x < y);
}

static GPtrArray *
find_order (
    const CleaveGraph *graph, gboolean with_laps, gint64 n_bytes, gint64 **live, GError **error)
{
  g_auto (CleaveTimeline) timeline = { 0 };
  g_autofree guint *rank = g_new0 (guint, graph->n_ids + 1);
  g_autofree gint64 *at = NULL;
  GPtrArray *order;

  if (!init (&timeline, graph, with_laps, n_bytes, error))
    return NULL;
  at = cleave_storage_get_live (timeline.storage);
  if (timeline.lowered == NULL)
    {
      *live = g_steal_pointer (&at);
      return g_steal_pointer (&timeline.order);
    }
  order = cleave_topology_sort (graph, NULL);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i], *there = cleave_timeline_node (&timeline, node);

      /* a dead node has no counterpart in the lowered graph */
      rank[node->id] = there == NULL ? 0 : cleave_storage_position (timeline.storage, there);
    }
  g_ptr_array_sort_with_data (order, compare_ranks, rank); /* the sort is stable: nodes of one step
                                                            * keep their order */
  *live = g_new (gint64, order->len + 1);
  for (guint i = 0; i < order->len; i++)
    (*live)[i] = at[rank[((const CleaveNode *) order->pdata[i])->id]];
  return order;
}

GPtrArray *
cleave_timeline_order (const CleaveGraph *graph, gboolean with_laps, gint64 **live, GError **error)
{
  return find_order (graph, with_laps, 0, live, error);
}

GPtrArray *
cleave_timeline_order_down_to (const CleaveGraph *graph, gint64 n_bytes, gint64 **live)
{
  return find_order (graph, TRUE, n_bytes, live, NULL);
}
