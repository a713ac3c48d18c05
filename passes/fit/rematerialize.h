/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Rematerialization: recomputes a large value for some of its readers. There are two kinds:
 *
 * - A value that an op without MACs, such as Expand, computes from a small value. Each reader gets
 *   its own copy, and each copy is live only while its reader runs.
 * - A value that a global pooling reads whole and other nodes read piece by piece. The pooling gets
 *   copies of the nodes that compute the value (the backward slice, see backward-slice.h):
 *
 *                   ┌─ Pool ─ s                  a ─┬─ Conv' ─ Pool ─ s
 *         a ─ Conv ─┤         │          =>         │                 │
 *                   └─ Mul ───┘                     └─ Conv ── Mul ───┘
 *
 * The segment search then cuts one copy into chunks of channels for the pooling, and the other copy
 * into strips. variants.c adds the copies to a variant of the graph. A plan stores the list of the
 * copies. When the caller applies the plan, cleave_fit_rewrite_apply() adds the same copies to the
 * caller's graph (rewrite.h). */

/* A recomputed node, its copy, and the readers of the copy, by name. If `copy` is NULL, the node is
 * not copied but runs earlier or later (see move-nodes.h). */
typedef struct
{
  char *node, *copy;
  char **readers;
  gboolean is_early; /* TRUE: run the node as soon as its operands exist; FALSE: right before its
                      * first reader */
} CleaveFitCopy;

/* Returns an empty array that owns its elements (CleaveFitCopy). */
GPtrArray *cleave_fit_copies_new (void);
/* Copies nodes for readers of values of at least `min_bytes` bytes, as long as the copies add at
 * most `max_macs` MACs. Also finds nodes to move (move-nodes.h) for values of at least `min_moved`
 * bytes; 0 moves none. Then reorders the graph. Returns the copies and moves (CleaveFitCopy) in the
 * order in which they were made. */
GPtrArray *cleave_fit_rematerialize_pooled (CleaveGraph *graph,
                                            gint64 min_bytes,
                                            double max_macs,
                                            gint64 min_moved);
/* Returns the total MACs of nodes (CleaveNode). */
double cleave_fit_copies_count_macs (const GPtrArray *recomputed);
/* Copies the nodes in `recomputed` for the readers in `first` (CleaveNode), which then read the
 * copies. Appends the copies to `copies`. `position` is the position of each node in the order, by
 * node id. Sorts `recomputed` from the last node to the first. */
void cleave_fit_rematerialize (GPtrArray *copies,
                               CleaveGraph *graph,
                               const GPtrArray *first,
                               GPtrArray *recomputed,
                               const guint *position);
/* Makes the copies and moves in `copies` again, in a graph with nodes of the same names. If a node
 * does not exist or a copy exists already, returns FALSE and sets the error. The graph is then
 * unchanged. */
gboolean cleave_fit_copies_apply (const GPtrArray *copies, CleaveGraph *graph, GError **error);
