/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Finds the part of the whole result that each node of a split graph computes, for drawings. */

/* The part of the result of a whole node that a piece computes. If the range has rank 0, the node
 * is no piece. If the shape has rank 0, the shape of the whole result is not known. */
typedef struct
{
  CleaveRange range;
  CleaveShape whole;
} CleavePiecePlace;

/* Returns the places of all nodes, by node id. Known places are those of the pieces in the options,
 * of the operands of an Assemble, and of nodes that compute a known piece element by element. The
 * caller frees the array with g_free(). */
CleavePiecePlace *cleave_pieces_find (const CleaveGraph *graph,
                                      const GPtrArray *order,
                                      const CleaveDotOptions *options);

/* Returns the dimensions that are cut and their spans, as in "H 43:86", or "dim 2 43:86" if
 * `letters` is NULL. Returns NULL if no dimension is cut. */
char *cleave_piece_place_to_string (const CleavePiecePlace *place, const char *letters);
/* Returns the dimension names (such as "NCHW") of result 0 of a node: its own names, or those of a
 * nearby producer or consumer. Returns NULL if none of these nodes has names. */
const char *cleave_node_find_letters (const CleaveNode *node);
