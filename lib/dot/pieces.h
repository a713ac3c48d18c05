/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Which part of a whole node each piece is, by id; rank 0 stands for none, as for what is not a
 * piece.  Known of the pieces that the options tell, of the parts of an Assemble, and of what leads
 * to either element by element. */
CleaveRange *cleave_pieces_find (const CleaveGraph *graph,
                                 const GPtrArray *order,
                                 const CleaveDotOptions *options);
