/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-pieces.h"

/* Carried rows are copied out of the join that they lie in.
 *
 * A piece that several joins of its segment read whole lies in the first of them.  The others then
 * read a Slice of the piece, which the planner may keep as a copy: the first join does not stay
 * alive for it, and no later join is alive before its time. */
void cleave_copy_kept (CleaveGraph *graph, const CleaveFitPieces *pieces);
