/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Lowering of sequences (LSTM, GRU) for several threads. A chunk of a sequence depends on the state
 * of the chunk before it. The part of the chunk's work that does not depend on the state becomes a
 * separate node (`sums`). Another thread can run this node meanwhile. Programs
 * (lib/runtime/program.c) run the lowered graph:
 *
 *    x.0 ─ a.0                 x.0 ─ sums ─ a.0
 *           │ state      =>                  │ state
 *    x.1 ─ a.1                 x.1 ─ sums ─ a.1 */

/* Returns the graph that a program of `n_threads` threads runs: merges quantized groups, and lowers
 * sequences. Returns NULL if this graph is equal to `graph`. */
CleaveGraph *cleave_lower (const CleaveGraph *graph, guint n_threads);
