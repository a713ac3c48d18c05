/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Tiles read rows that tiles above them have made, and columns of the tile beside them.  Where the
 * needs of two tiles overlap in one piece, each would keep the overlap for itself.  It is kept
 * once:
 *
 *   piece ─┬─ Slice [0, 6) ── Assemble          piece ─┬─ Slice [0, 4) ── Assemble
 *          └─ Slice [4, 6) ── Assemble    =>           └─ Slice [4, 6) ─┴─ Assemble
 *
 * Every Assemble has the same value as before. */
void cleave_share_kept (CleaveGraph *graph);
