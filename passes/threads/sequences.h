/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"
#include "for-threads.h"

/* Cuts consecutive recurrent layers (LSTM, GRU, RNN) into chunks of time steps. Each chunk begins
 * with the final state of the previous chunk, so the sums are the same. Each thread can work at one
 * layer, and memory holds a few chunks instead of a whole sequence. for-threads.c cuts layers for
 * threads, and fit/split-per-reader.c cuts layers for memory:
 *
 *                          x[0:8] ─ a.0 ─────── b.0 ─┐
 *   x ─ a ─ b      =>                │ state     │   ├─ b
 *                          x[8:16] ─ a.1 ────── b.1 ─┘ */

/* Cuts layers for threads, except layers in the set `members`, and adds the chunks to `members`.
 * Returns FALSE and sets the error if the graph has a cycle. The graph is then unchanged. */
gboolean cleave_sequences_cut (CleaveGraph *graph,
                               const CleaveThreads *threads,
                               GHashTable *members,
                               CleaveSplitReport *report,
                               GError **error);

/* Cuts layers for memory: layers whose operand 0 or result 0 has at least `min_bytes` bytes. Also
 * cuts the nodes that reduce the result of the last layer, so that this result is never whole. Adds
 * the cuts to `report` unless `report` is NULL. Returns FALSE if there is no such layer. */
gboolean
cleave_sequences_cut_for_memory (CleaveGraph *graph, gint64 min_bytes, CleaveSplitReport *report);
