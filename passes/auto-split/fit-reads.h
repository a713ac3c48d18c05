/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* Values of at least so many bytes that are read in parts alone, by Slices, Splits and Gathers, are
 * made in those parts, each where it is read:
 *
 *                        ┌─ q            x ─┬─ MatMul.0 ─ q
 *      x ─ MatMul ─ Split┼─ k     =>        ├─ MatMul.1 ─ k
 *                        └─ v               └─ MatMul.2 ─ v
 *
 * with the nodes that make them of less, as long as nothing is computed twice.  Recurrent layers
 * are cut along the time before, so that they read parts.  Tells the report of it, if there is one.
 * FALSE: there are none, and the graph is unchanged. */
gboolean cleave_fit_reads_cut (CleaveGraph *graph, gint64 min_bytes, CleaveSplitReport *report);
