/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* The pieces of the segments that a plan cuts. fit/measurement.c cuts one segment after the other,
 * and records the pieces of each segment. At the end, fit/measurement.c lists all pieces strip by
 * strip, in the order in which a program should run them. */

/* Marks a node that belongs to no segment. In this file, a part is a segment of the plan. */
#define CLEAVE_NO_PART G_MAXUINT
/* Marks a node that holds carried rows or columns for pieces of several segments. */
#define CLEAVE_SHARED_PART (G_MAXUINT - 1)

/* A record of the segment of each node, and of the position of each segment in the graph's list of
 * nodes. The record exists while a plan is applied. After a segment is cut, the pieces of its nodes
 * belong to the segment. `part` and `place` are indexed by node id, `place_of_part` is indexed by
 * segment. */
typedef struct
{
  GArray *part;  /* guint: index of the segment to which the node belongs */
  GArray *place; /* guint: position of the node in the list of nodes of the uncut graph. All nodes
                    and pieces of a segment have the position of its first node */
  GArray *place_of_part; /* guint: position of the segment's first node in the list of nodes of the
                            uncut graph */
} CleaveSegmentPieces;

/* Initializes `pieces` before any segment is cut. `nodes` has the nodes (CleaveNode) of each of the
 * `n_parts` segments. */
void cleave_segment_pieces_init (CleaveSegmentPieces *pieces,
                                 const CleaveGraph *graph,
                                 GPtrArray *const *nodes,
                                 guint n_parts);
/* Assigns to segment number `part` all nodes that were added to the graph since the last call. */
void cleave_segment_pieces_note (CleaveSegmentPieces *pieces, const CleaveGraph *graph, guint part);
/* Moves the pieces of each segment to the position of the segment in the list of nodes, strip by
 * strip. `ends` has the names of the end nodes of each segment, the last node first. Lists the
 * nodes as an importer of the graph's file would list them (cleave_list_as_in_file()). Renumbers
 * the nodes, and makes programs keep the order. */
void
cleave_segment_pieces_list (CleaveSegmentPieces *pieces, CleaveGraph *graph, char **const *ends);
void cleave_segment_pieces_clear (CleaveSegmentPieces *pieces);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveSegmentPieces, cleave_segment_pieces_clear)

static inline guint
cleave_segment_pieces_part (const CleaveSegmentPieces *pieces, const CleaveNode *node)
{
  return g_array_index (pieces->part, guint, node->id);
}
