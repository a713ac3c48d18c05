/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rematerialize.h"

/* Moves some nodes in the order, so that small values wait in memory instead of large values.
 * rematerialize.c finds the moves together with the copies of nodes. A plan stores the moves and
 * the copies, and cleave_fit_rewrite_apply() makes them again in the caller's graph (rewrite.h).
 *
 * - A node whose result is much larger than its operands runs right before its first reader. A
 *   segment can then begin before the node:
 *
 *         a ─ Conv ─ (others) ─ Add        =>        a ─ (others) ─ Conv ─ Add
 *
 * - The last reader of a large value runs as soon as possible if its result is much smaller, so the
 *   large value is freed earlier. */

/* Appends an entry to `copies` (CleaveFitCopy, with `copy` NULL) for each node that should run
 * earlier or later. Considers values of at least `min_bytes` bytes. Does not change the graph. */
void cleave_fit_moves_find (GPtrArray *copies, const CleaveGraph *graph, gint64 min_bytes);
/* Reorders the graph. The nodes and copies in `copies` run earlier or later, as their entries say.
 * All other nodes keep their order. */
void cleave_fit_moves_arrange (const GPtrArray *copies, CleaveGraph *graph);
