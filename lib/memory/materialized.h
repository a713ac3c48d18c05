/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "buffers.h"

/* Materialized views are copies. If joins read a view late, the view keeps its whole operand live
 * for a few rows. A copy of these rows lets the whole operand be freed:
 *
 *      x ── Slice (last 2 rows) ── Assemble of the next strip       x is freed right after the copy
 */

/* Returns whether only joins read a view. A join may have to copy the view in any case. */
gboolean cleave_storage_is_for_joins (const CleaveNode *view);
/* Returns, by node id, the position after which only joins read the node's result (through views),
 * or CLEAVE_NEVER. Returns NULL if there is no view for joins at all, which is the usual case. */
guint *
cleave_storage_find_done (const CleaveGraph *graph, const GPtrArray *order, const guint *position);
/* Returns the position after which `view` may become a copy, since all other readers of its operand
 * have run. CLEAVE_NEVER if it is not a view that only joins read. `done` comes from
 * cleave_storage_find_done(). */
guint cleave_storage_materialize_after (const guint *done, const CleaveNode *view);
/* Returns whether a view may be copied when it runs: all other readers of its operand have run, and
 * its own readers run later. */
gboolean cleave_storage_is_materialized (const CleaveStorage *storage, const CleaveNode *view);
