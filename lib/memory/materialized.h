/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Materialized views are views that are copied, to save memory. If joins read a view late, the
 * whole operand of the view stays in memory until then, although the joins need only a few of its
 * rows. A copy of these rows lets the whole operand be freed. buffers.c copies views if that lowers
 * the peak; hoisting.c moves the copies.
 *
 *      x ── Slice (last 2 rows) ── Assemble of the next strip    x is freed right after the copy
 */

/* Returns whether a node is a view that only joins read. */
gboolean cleave_storage_is_for_joins (const CleaveNode *view);
/* Returns an array indexed by node id: position after which all remaining readers of the node's
 * result are views that only joins read. CLEAVE_NEVER: there is no such position. Returns NULL if
 * the graph has no view that only joins read, which is the usual case. */
guint *
cleave_storage_find_done (const CleaveGraph *graph, const GPtrArray *order, const guint *position);
/* Returns a position in the order of nodes: after the node at this position has run, `view` may be
 * copied. This is the entry of `done`, the result of cleave_storage_find_done(), for the node that
 * computes the operand of `view`. CLEAVE_NEVER: `view` may not be copied, for example because a
 * node that is no join reads `view`. */
guint cleave_storage_materialize_after (const guint *done, const CleaveNode *view);
/* Returns whether a view may be copied at its position: all other readers of the view's operand
 * have run, and the readers of the view run later. */
gboolean cleave_storage_is_materialized (const CleaveStorage *storage, const CleaveNode *view);
