/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../split/report.h"
#include "for-threads.h"

/* Recurrent layers that follow each other are cut along the time.  A chunk begins with the state in
 * which the one before it ended, so the sums are the same; threads work at as many layers at once.
 *
 *                          x[0:8] ─ a.0 ─────── b.0 ─┐
 *   x ─ a ─ b      =>                │ state     │   ├─ b
 *                          x[8:16] ─ a.1 ────── b.1 ─┘
 */

/* Cuts those that none of `members`, a set, has, and adds the chunks to it.  FALSE: there is a
 * cycle, and nothing has changed. */
gboolean cleave_sequences_cut (CleaveGraph *graph,
                               const CleaveThreads *threads,
                               GHashTable *members,
                               CleaveSplitReport *report,
                               GError **error);

/* Cuts those that read or make values of at least so many bytes, and what makes less of the last
 * one, so that none of it is there whole; tells the report, if there is one.  FALSE: there are
 * none.
 */
gboolean
cleave_sequences_cut_for_memory (CleaveGraph *graph, gint64 min_bytes, CleaveSplitReport *report);
