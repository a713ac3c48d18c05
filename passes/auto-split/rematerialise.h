/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"

/* A large value that a global pooling needs whole, and others do not, is made twice where that is
 * little work: for the pooling by channels, of which few are there at a time, and for the others.
 *
 *             ┌─ GlobalAveragePool ─ s              ┌─ Conv.0 ─ GlobalAveragePool.0 ─┐
 *   a ─ Conv ─┤                      │        a ─┬──┴─ Conv.1 ─ GlobalAveragePool.1 ─┴─ s
 *             └────────────────────── Mul        └─ Conv ────────────────────────────── Mul
 *
 * What reads the value otherwise can then be cut into strips that are never whole. */

/* Whether a node makes one row of all rows of its operand, channel by channel, of which there are
 * enough for chunks. */
gboolean cleave_rematerialise_needs_whole (const CleaveNode *node);
/* The nodes that need such a value whole, of at least so many bytes; nothing is changed. */
GPtrArray *cleave_rematerialise_find (const CleaveGraph *graph, gint64 min_bytes);
/* Lets `node` have a value of its own, cut along the channels, and tells the report.  The pieces
 * are added to `pieces`, as nodes. */
void cleave_rematerialise_make (CleaveGraph *graph,
                                CleaveNode *node,
                                guint n_threads,
                                CleaveSplitReport *report,
                                GHashTable *pieces);
