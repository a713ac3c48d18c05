/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "pieces.h"

/* Copies carried rows out of the join in whose buffer they lie. fit/measurement.c runs this pass
 * after it has split the segments of a plan.
 *
 * A piece that several joins of its segment read whole lies in the buffer of the first join. This
 * pass lets every later join read a Slice of the piece; the planner may keep this Slice as a copy.
 * The buffer of the first join can then be freed before the later joins run:
 *
 *   piece ─┬─ Assemble.0           piece ─┬─────────── Assemble.0
 *          └─ Assemble.1     =>           └─ Slice ─── Assemble.1 */
void cleave_copy_carried (CleaveGraph *graph, const CleaveSegmentPieces *pieces);
