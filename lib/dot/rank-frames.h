/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "draw.h"

/* Draws on which rank each node runs: a frame for each rank, and a dashed arrow for each value that
 * one rank sends to another. */
typedef struct _CleaveDotRanks CleaveDotRanks;

/* Takes the rank of each node from the options, in the order of the graph; nodes after the last
 * entry have no rank, nor have nodes with a negative entry. The caller frees the ranks with
 * cleave_dot_ranks_free(). */
CleaveDotRanks *
cleave_dot_ranks_new (Agraph_t *root, const CleaveGraph *graph, const CleaveDotOptions *options);
void cleave_dot_ranks_free (CleaveDotRanks *ranks);
/* Puts a vertex into the frame of its rank. `node` is NULL for an output of the graph. */
void cleave_dot_ranks_add_vertex (CleaveDotRanks *ranks, const CleaveNode *node, Agnode_t *vertex);
/* Marks an edge as a message if it connects two ranks. A value is sent once to each rank, so only
 * the first edge of a value to a rank shows the number of bytes. `reader` is NULL for an output of
 * the graph. */
void cleave_dot_ranks_mark_edge (CleaveDotRanks *ranks,
                                 const CleaveResult *value,
                                 const CleaveNode *reader,
                                 Agedge_t *edge);
