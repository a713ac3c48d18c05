/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* Splits values per reader. If only Slices, Splits and Gathers read a value, and read only parts of
 * it, the node that computes the value is cut into these parts. Each piece can then run just before
 * its reader:
 *
 *                        ┌─ q            x ─┬─ MatMul.0 ─ q
 *      x ─ MatMul ─ Split┼─ k     =>        ├─ MatMul.1 ─ k
 *                        └─ v               └─ MatMul.2 ─ v
 *
 * Earlier nodes, which compute the operands of this node, are cut too, up to smaller values, as
 * long as no element is computed twice. Recurrent layers are first cut into chunks of time steps,
 * so that they read parts of their operand. Only values of at least `min_bytes` bytes are cut. Adds
 * the pieces to `report` unless `report` is NULL. Returns FALSE and does not change the graph if no
 * value can be cut. rewrite.c and variants.c call this function. */
gboolean cleave_fit_reads_cut (CleaveGraph *graph, gint64 min_bytes, CleaveSplitReport *report);
