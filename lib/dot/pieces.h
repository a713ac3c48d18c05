/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-graph.h>

/* Which part of a whole node each piece is, by mark; rank 0 stands for none, as for what is not a
 * piece.  Known for the parts of an Assemble and for what leads to one element by element. */
CleaveRange *cleave_pieces_find (const CleaveGraph *graph, const GPtrArray *order);
