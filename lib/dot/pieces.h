/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Which part of a whole node a piece is; a range of rank 0 stands for none, a shape of rank 0 for
 * one that is not known. */
typedef struct
{
  CleaveRange range;
  CleaveShape whole;
} CleavePiecePlace;

/* The places of all nodes, by id.  Known of the pieces that the options tell, of the parts of an
 * Assemble, and of what leads to either element by element. */
CleavePiecePlace *cleave_pieces_find (const CleaveGraph *graph,
                                      const GPtrArray *order,
                                      const CleaveDotOptions *options);

/* "H 43:86": the dimensions that are cut, by their letters or as "dim 2"; NULL: none is. */
char *cleave_piece_place_to_string (const CleavePiecePlace *place, const char *letters);
/* The letters of result 0 of a node, its own or those of what it reads or is read by; NULL: it has
 * none. */
const char *cleave_node_find_letters (const CleaveNode *node);
