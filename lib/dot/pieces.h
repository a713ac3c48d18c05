/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-dot.h>

/* Finds the part of the whole result that each node of a split graph computes. draw.c and
 * overview.c show the part in labels. Example: a Conv was cut into two row ranges; the label of its
 * second piece shows "H 43:86". */

/* The part of a whole result that a piece computes. If `range` has rank 0, the node is no piece. If
 * `whole` has rank 0, the shape of the whole result is not known. */
typedef struct
{
  CleaveRange range;
  CleaveShape whole;
} CleavePiecePlace;

/* Returns an array indexed by node id: the part of the whole result that the node computes. The
 * part is known for the pieces in the options and for the operands of an Assemble. If the part of a
 * piece is known, and an element-wise op computes the piece from an operand, the part of the
 * operand is known, too. The caller frees the array with g_free(). */
CleavePiecePlace *cleave_pieces_find (const CleaveGraph *graph,
                                      const GPtrArray *order,
                                      const CleaveDotOptions *options);

/* Returns the dimensions that are cut and their spans, as in "H 43:86", or "dim 2 43:86" if
 * `letters` is NULL. Returns NULL if no dimension is cut. */
char *cleave_piece_place_to_string (const CleavePiecePlace *place, const char *letters);
/* Returns the dimension names (such as "NCHW") of result 0 of a node: its own names, or the names
 * of a nearby node. Returns NULL if neither the node nor a nearby node has names. */
const char *cleave_node_find_letters (const CleaveNode *node);
