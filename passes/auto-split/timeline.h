/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/memory/ordering.h"

/* A graph as a program of one thread runs it, where several of its nodes may be one step. */
typedef struct
{
  CleaveGraph *lowered; /* what runs; NULL: the graph itself */
  CleaveNode **nodes;   /* of each node, by id, the one there that does its work; NULL: itself */
  GPtrArray *order;     /* of the nodes of what runs */
  CleaveStorage *storage;
} CleaveTimeline;

gboolean cleave_timeline_init (CleaveTimeline *timeline, const CleaveGraph *graph, GError **error);
/* The nodes in the order in which they stand, each of which is a step and after those that it
 * reads.
 */
void cleave_timeline_init_as_listed (CleaveTimeline *timeline, const CleaveGraph *graph);
/* The same order, but that no part waits in the memory of a much larger whole.  FALSE: none does.
 */
gboolean cleave_timeline_stage (CleaveTimeline *timeline, const CleaveGraph *graph);
void cleave_timeline_clear (CleaveTimeline *timeline);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveTimeline, cleave_timeline_clear)

/* The node that does the work of one of the graph. */
static inline CleaveNode *
cleave_timeline_node (const CleaveTimeline *timeline, CleaveNode *node)
{
  return timeline->lowered == NULL ? node : timeline->nodes[node->id];
}

/* All nodes of the graph in that order, those of one step side by side; `live` has the bytes that
 * are alive at each.  With laps, it is that of a program of one thread.  NULL: the graph has a
 * cycle. */
GPtrArray *
cleave_timeline_order (const CleaveGraph *graph, gboolean with_laps, gint64 **live, GError **error);
/* The same with laps, of which it is known what it takes before those; 0: it is not. */
GPtrArray *cleave_timeline_order_down_to (const CleaveGraph *graph, gint64 n_bytes, gint64 **live);
