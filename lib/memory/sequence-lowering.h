/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* Lowering of sequences (LSTM, GRU) for several threads. A chunk of a sequence depends on the state
 * of the chunk before it. The work of the chunk that does not depend on that state becomes a
 * separate node (`sums`), which another thread can run meanwhile. Programs (lib/runtime/program.c)
 * run the lowered graph:
 *
 *    x.0 ─ a.0                 x.0 ─ sums ─ a.0
 *           │ state      =>                  │ state
 *    x.1 ─ a.1                 x.1 ─ sums ─ a.1 */

/* Returns the graph that a program of `n_threads` threads runs: quantized groups are merged, and
 * sequences lowered; NULL if nothing changes. */
CleaveGraph *cleave_lower (const CleaveGraph *graph, guint n_threads);
