/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "rematerialize.h"

/* Rescheduling: some nodes run earlier or later, so that a small value waits in place of a large
 * one.
 *
 * - A node whose result is much larger than its operands runs right before its first reader.  A
 *   segment can then begin before it:
 *
 *         a ─ Conv ─ (others) ─ Add        =>        a ─ (others) ─ Conv ─ Add
 *
 * - The last reader of a large value runs as soon as it can if its result is much smaller, so that
 *   the large value is freed earlier. */

/* Appends a CleaveFitCopy with `copy` NULL for each node that should run earlier or later, for
 * values of at least `min_bytes` bytes.  Does not change the graph. */
void cleave_fit_moves_find (GPtrArray *copies, const CleaveGraph *graph, gint64 min_bytes);
/* Reorders the graph: noted nodes and copies run earlier or later, as noted; all others keep their
 * order. */
void cleave_fit_moves_arrange (const GPtrArray *copies, CleaveGraph *graph);
