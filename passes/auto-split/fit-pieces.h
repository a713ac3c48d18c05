/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

#define CLEAVE_FIT_NO_PART G_MAXUINT
/* What tiles of several parts keep for each other. */
#define CLEAVE_FIT_SHARED (G_MAXUINT - 1)

/* Which part of a plan each node of a graph that is being cut belongs to, by id: those that were
 * cut, until they are, and their pieces. */
typedef struct
{
  GArray *part;    /* guint: of each node */
  GArray *place;   /* guint: of each node that was there, where it stands, or its part does */
  GArray *of_part; /* guint: where each part stands: where its first node does */
} CleaveFitPieces;

/* Of parts that have those nodes (CleaveNode) each. */
void cleave_fit_pieces_init (CleaveFitPieces *pieces,
                             const CleaveGraph *graph,
                             GPtrArray *const *nodes,
                             guint n_parts);
/* All nodes that came since are of that part. */
void cleave_fit_pieces_note (CleaveFitPieces *pieces, const CleaveGraph *graph, guint part);
/* Puts pieces where the nodes of their part stood, side by side there, strip by strip: `ends` are
 * the names of those that each part ends with, the last first.  Nodes have other ids then. */
void cleave_fit_pieces_list (CleaveFitPieces *pieces, CleaveGraph *graph, char **const *ends);
/* Puts all nodes where they come if a file of the graph is read. */
void cleave_fit_pieces_arrange (CleaveFitPieces *pieces, CleaveGraph *graph);
void cleave_fit_pieces_clear (CleaveFitPieces *pieces);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveFitPieces, cleave_fit_pieces_clear)

static inline guint
cleave_fit_pieces_part (const CleaveFitPieces *pieces, const CleaveNode *node)
{
  return g_array_index (pieces->part, guint, node->id);
}
