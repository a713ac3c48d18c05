/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Materialized views are views that are copied, to save memory. If joins read a view late, the view
 * keeps its whole operand in memory for a few rows. A copy of these rows lets the whole operand be
 * freed. buffers.c copies views if that lowers the peak; hoisting.c moves the copies.
 *
 *      x ── Slice (last 2 rows) ── Assemble of the next strip       x is freed right after the copy
 */

/* Returns whether only joins read a view. A join may have to copy the view in any case. */
gboolean cleave_storage_is_for_joins (const CleaveNode *view);
/* Returns an array indexed by node id: position after which only joins read the node's result,
 * directly or through views; CLEAVE_NEVER: no such position. Returns NULL if no view has only joins
 * as readers, which is the usual case. */
guint *
cleave_storage_find_done (const CleaveGraph *graph, const GPtrArray *order, const guint *position);
/* Returns the position after which `view` may become a copy: all other readers of its operand have
 * run. CLEAVE_NEVER if `view` is not a view that only joins read. `done` comes from
 * cleave_storage_find_done(). */
guint cleave_storage_materialize_after (const guint *done, const CleaveNode *view);
/* Returns whether a view may be copied at its position: all other readers of the view's operand
 * have run, and the readers of the view run later. */
gboolean cleave_storage_is_materialized (const CleaveStorage *storage, const CleaveNode *view);
