/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Finds which part of the whole each node of a split graph computes, so that drawings can show
 * it. */

/* Which part of the result of a whole node a piece computes. A range of rank 0 means: the node is
 * no piece. A shape of rank 0 means: the shape of the whole is not known. */
typedef struct
{
  CleaveRange range;
  CleaveShape whole;
} CleavePiecePlace;

/* Returns the places of all nodes, by node id. Known are the pieces in the options, the operands of
 * an Assemble, and the nodes that compute these element by element. Free it with g_free(). */
CleavePiecePlace *cleave_pieces_find (const CleaveGraph *graph,
                                      const GPtrArray *order,
                                      const CleaveDotOptions *options);

/* Returns the dimensions that are cut and their spans, as in "H 43:86", or "dim 2 43:86" if
 * `letters` is NULL. Returns NULL if no dimension is cut. */
char *cleave_piece_place_to_string (const CleavePiecePlace *place, const char *letters);
/* Returns the dimension names (such as "NCHW") of result 0 of a node: its own, or those of a nearby
 * producer or consumer. Returns NULL if none has any. */
const char *cleave_node_find_letters (const CleaveNode *node);
