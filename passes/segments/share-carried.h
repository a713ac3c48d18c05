/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Shares rows and columns that several tiles carry from the same piece.
 *
 * A tile reads rows of the tile above it and columns of the tile beside it. If the Slices of two
 * tiles overlap in one piece, each Slice would keep a copy of the overlap. This pass cuts the
 * Slices so that the overlap is kept once:
 *
 *   piece ─┬─ Slice [0, 6) ── Assemble          piece ─┬─ Slice [0, 4) ── Assemble
 *          └─ Slice [4, 6) ── Assemble    =>           └─ Slice [4, 6) ─┴─ Assemble
 *
 * The value of each Assemble does not change. fit/measurement.c runs this pass after
 * cleave_copy_carried(). */
void cleave_share_carried (CleaveGraph *graph);
