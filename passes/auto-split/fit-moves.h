/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-copies.h"

/* Nodes that run elsewhere, so that what is small waits in place of what is large:
 *
 * - what makes a value that is much larger than all that it is made of runs right before it is
 *   read, so that a segment can begin before it:
 *
 *         a ─ Conv ─ (others) ─ Add        =>        a ─ (others) ─ Conv ─ Add
 *
 * - what reads a large value last, and makes much less of it, runs as soon as it can. */

/* Notes them (CleaveFitCopy), of values of at least so many bytes. */
void cleave_fit_moves_find (GPtrArray *copies, const CleaveGraph *graph, gint64 min_bytes);
/* Puts nodes in order as is noted. */
void cleave_fit_moves_arrange (const GPtrArray *copies, CleaveGraph *graph);
