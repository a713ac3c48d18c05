/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Puts the nodes of a graph into the order in which a program runs them. For a graph that a plan
 * has split, restores the previous order if the arena of the new order has another size than the
 * plan states. */

#include "order.h"

#include "../../lib/runtime/memory-timeline.h"
#include "../segments/file-order.h"
#include "../segments/timeline.h"
#include "plan.h"

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

static gboolean
has_spans (const GArray *a, const GArray *b)
{
  gboolean is_equal = a->len == b->len;

  for (guint i = 0; i < a->len && is_equal; i++)
    {
      const CleaveArenaSpan *x = &g_array_index (a, CleaveArenaSpan, i);
      const CleaveArenaSpan *y = &g_array_index (b, CleaveArenaSpan, i);

      is_equal = x->n_bytes == y->n_bytes && x->first == y->first && x->gone == y->gone &&
                 x->buffer == y->buffer && x->begin == y->begin;
    }
  return is_equal;
}

/* Returns whether a program of the graph needs an arena of the size that the plan states. Sets
 * `peak` to the peak of the program's activations in bytes. Buffers with equal sizes and lifetimes
 * need equal arenas. Therefore, the function estimates the program only if the lifetimes differ
 * from the lifetimes in the plan. Finding the arena takes half of the time of an estimate. */
static gboolean
has_arena (const CleaveGraph *graph, const CleaveFitPlan *plan, gint64 *peak)
{
  CleaveEstimate estimate;

  if (plan->spans != NULL)
    {
      g_autoptr (CleaveMemoryTimeline) timeline = NULL;
      g_autoptr (GArray) spans = NULL;
      gint64 most_bytes;

      timeline = cleave_memory_timeline_new_unplaced (graph, &most_bytes, &spans, NULL);
      *peak = timeline->peak_bytes;
      if (has_spans (spans, plan->spans))
        return TRUE;
    }
  if (!cleave_graph_estimate (graph, plan->n_threads, &estimate, NULL))
    return FALSE;
  *peak = estimate.peak_activation_bytes;
  return estimate.arena_bytes == plan->totals.arena_after;
}

gint64
cleave_fit_arrange (CleaveGraph *graph, const CleaveFitPlan *plan)
{
  g_autoptr (GPtrArray) before = list_nodes (graph), order = NULL, nodes = NULL;
  gboolean were_excluded = graph->exclude_inputs, is_kept;
  g_autofree gint64 *live = NULL;
  gint64 peak = -1;

  graph->exclude_inputs = plan->exclude_inputs;
  order = plan->n_threads == 1
              ? cleave_timeline_order_down_to (graph, plan->peak_without_overlays, &live)
              : cleave_timeline_order (graph, FALSE, &live, NULL);
  nodes = cleave_list_as_in_file (graph, order);
  cleave_graph_arrange (graph, nodes);
  is_kept = has_arena (graph, plan, &peak);
  if (!is_kept)
    cleave_graph_arrange (graph, before);
  graph->exclude_inputs = were_excluded;
  return is_kept && plan->n_threads == 1 && plan->exclude_inputs == were_excluded ? peak : -1;
}
