/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* The part of a node that no segment contains. */
#define CLEAVE_NO_PART G_MAXUINT
/* The part of a node that holds carried rows or columns for pieces of several segments. */
#define CLEAVE_SHARED_PART (G_MAXUINT - 1)

/* Records, while a plan is applied, to which part (segment) of the plan each node belongs.  Also
 * has the position of each part in the list of nodes.  After a part is cut, its pieces belong to it
 * in place of its nodes.  Arrays are indexed by node id. */
typedef struct
{
  GArray *part;    /* guint: index of the part of each node */
  GArray *place;   /* guint: position of each node before the cuts, or of its part if it has one */
  GArray *of_part; /* guint: position of each part, which is the position of its first node */
} CleaveSegmentPieces;

/* Begins the record before any part is cut.  `nodes` has the nodes (CleaveNode) of each part. */
void cleave_segment_pieces_init (CleaveSegmentPieces *pieces,
                                 const CleaveGraph *graph,
                                 GPtrArray *const *nodes,
                                 guint n_parts);
/* Assigns all nodes that were added since the last call to a part. */
void cleave_segment_pieces_note (CleaveSegmentPieces *pieces, const CleaveGraph *graph, guint part);
/* Moves the pieces of each part to the position of the part in the list of nodes, strip by strip.
 * `ends` has, for each part, the names of its end nodes, the last first.  Nodes are listed as an
 * importer of the graph's file would list them (cleave_list_as_in_file()).  Renumbers the nodes,
 * and makes programs keep the order. */
void
cleave_segment_pieces_list (CleaveSegmentPieces *pieces, CleaveGraph *graph, char **const *ends);
void cleave_segment_pieces_clear (CleaveSegmentPieces *pieces);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveSegmentPieces, cleave_segment_pieces_clear)

static inline guint
cleave_segment_pieces_part (const CleaveSegmentPieces *pieces, const CleaveNode *node)
{
  return g_array_index (pieces->part, guint, node->id);
}
