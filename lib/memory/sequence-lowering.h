/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../ir/graph-private.h"

/* A chunk of a sequence waits for the one before it, and so does all that it computes.  What it
 * needs no other chunk for becomes a node of its own, which another thread may do meanwhile:
 *
 *   x.0 ─ a.0                 x.0 ─ sums ─ a.0
 *          │ state      =>                  │ state
 *   x.1 ─ a.1                 x.1 ─ sums ─ a.1
 */

/* The graph as programs of several threads run it, what lies between quantised values grouped as
 * well; NULL: as it is. */
CleaveGraph *cleave_lower (const CleaveGraph *graph, guint n_threads);
