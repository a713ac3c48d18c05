/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* Computes a large value twice if a global pooling needs the whole value and the other readers do
 * not. The pooling gets the value in chunks of channels, and few chunks are live at a time. The
 * other readers get the value strip by strip. So the whole value is never in memory:
 *
 *             ┌─ GlobalAveragePool ─ s              ┌─ Conv.0 ─ GlobalAveragePool.0 ─┐
 *   a ─ Conv ─┤                      │        a ─┬──┴─ Conv.1 ─ GlobalAveragePool.1 ─┴─ s
 *             └────────────────────── Mul        └─ Conv ────────────────────────────── Mul
 *
 * for-threads.c computes values twice if segments alone do not halve the peak. One node must
 * compute the value from much smaller operands. All nodes that run twice may add at most 3 % of the
 * graph's multiply-accumulates. */

/* Returns the poolings (CleaveNode) whose operand may be computed twice. Each of these poolings
 * needs the whole operand, and the operand has at least `min_bytes` bytes. Does not change the
 * graph. */
GPtrArray *cleave_rematerialize_find (const CleaveGraph *graph, gint64 min_bytes);
/* Copies the node that computes the operand of `node`, and makes `node` read the copy. Cuts `node`
 * and the copy along the channels, and adds the cut to the report. Adds the pieces (CleaveNode) to
 * `pieces`. */
void cleave_rematerialize_make (CleaveGraph *graph,
                                CleaveNode *node,
                                guint n_threads,
                                CleaveSplitReport *report,
                                GHashTable *pieces);
