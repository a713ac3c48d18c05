/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/ordering.h"

/* The order and the buffers of a graph in a program of one thread. The search for a fit
 * (fit/steps.c) and the search for segments (threads/find-segments.c) find the peak of memory with
 * a timeline. A program runs a group of quantized nodes as one step. Therefore, if the graph has
 * groups, the timeline describes the lowered graph. */
typedef struct
{
  /* the lowered graph, in which one node stands for each group of quantized nodes; NULL: the graph
   * has no groups and was not lowered */
  CleaveGraph *lowered;
  /* indexed by the ids of the original nodes: the node of `lowered` that stands for the original
   * node; NULL if `lowered` is NULL */
  CleaveNode **nodes;
  GPtrArray *order; /* nodes of `lowered` (of the graph if `lowered` is NULL), in the order in which
                       they run */
  CleaveStorage *storage;
} CleaveTimeline;

/* Initializes a timeline with the order and the buffers of a program of one thread. Returns FALSE
 * and sets the error if the graph has a cycle. */
gboolean cleave_timeline_init (CleaveTimeline *timeline, const CleaveGraph *graph, GError **error);
/* Initializes a timeline with the order of the graph's nodes, in which each node is a step. The
 * graph must be in topological order. */
void cleave_timeline_init_as_listed (CleaveTimeline *timeline, const CleaveGraph *graph);
/* Gives some operands of joins separate buffers (staged parts): each operand that would otherwise
 * keep a much larger joined value in memory. Does not change the order. Returns FALSE if no operand
 * would do this. */
gboolean cleave_timeline_stage (CleaveTimeline *timeline, const CleaveGraph *graph);
void cleave_timeline_clear (CleaveTimeline *timeline);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTimeline, cleave_timeline_clear)

/* Returns the node that replaces `node` in the lowered graph, or `node` itself if the graph was not
 * lowered. Returns NULL if `node` is dead and the graph was lowered. */
static inline CleaveNode *
cleave_timeline_node (const CleaveTimeline *timeline, CleaveNode *node)
{
  return timeline->lowered == NULL ? node : timeline->nodes[node->id];
}

/* Returns all nodes of the graph in the order in which a program runs them. Nodes of one step are
 * adjacent. Sets `live` to the bytes that are live at each position. If `with_laps` is TRUE, the
 * order is for a program of one thread, in which strips may overlay values that die. Returns NULL
 * and sets the error if the graph has a cycle. */
GPtrArray *
cleave_timeline_order (const CleaveGraph *graph, gboolean with_laps, gint64 **live, GError **error);
/* Works as cleave_timeline_order() with laps, but tries candidate orders only until one has a peak
 * of `n_bytes` bytes without laps. Then adds laps to this order, and returns it. If `n_bytes` is 0,
 * tries all candidate orders. */
GPtrArray *cleave_timeline_order_down_to (const CleaveGraph *graph, gint64 n_bytes, gint64 **live);
