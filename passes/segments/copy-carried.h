/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "pieces.h"

/* Lets joins read copies of a carried piece, so that a buffer can be freed earlier.
 * fit/measurement.c runs this pass after it has split the segments of a plan.
 *
 * If several joins of a segment read a whole piece, for example rows that a strip carries, the
 * piece lies in the buffer of the first join. So this buffer stays in memory until the last of
 * these joins has run. This pass lets every later join read a Slice of the piece; the planner may
 * keep this Slice as a copy. The buffer of the first join can then be freed before the later joins
 * run:
 *
 *   piece ─┬─ Assemble.0           piece ─┬─────────── Assemble.0
 *          └─ Assemble.1     =>           └─ Slice ─── Assemble.1 */
void cleave_copy_carried (CleaveGraph *graph, const CleaveSegmentPieces *pieces);
