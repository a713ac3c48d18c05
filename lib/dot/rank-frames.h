/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "draw.h"

/* Shows the rank on which each node runs: a frame for each rank, and a dashed arrow for each value
 * that one rank sends to another. draw.c uses this header in place of frames.h if the options have
 * ranks. Example: rank 0 sends a value to two Convs on rank 1; the first arrow shows "65536 bytes",
 * and the second arrow shows no text. */
typedef struct _CleaveDotRanks CleaveDotRanks;

/* Returns the state that draws ranks. Reads the rank of each node from the options, in the order of
 * the graph's nodes. A node has no rank if its entry is missing or negative. The caller frees the
 * result with cleave_dot_ranks_free(). */
CleaveDotRanks *
cleave_dot_ranks_new (Agraph_t *root, const CleaveGraph *graph, const CleaveDotOptions *options);
void cleave_dot_ranks_free (CleaveDotRanks *ranks);
/* Puts a vertex into the frame of the rank of `node`. `node` is NULL for an output of the graph. */
void cleave_dot_ranks_add_vertex (CleaveDotRanks *ranks, const CleaveNode *node, Agnode_t *vertex);
/* Marks an edge as a message if it connects two ranks. A value is sent once to each rank, so only
 * the first edge of a value to a rank shows the number of bytes. `reader` is NULL for an output of
 * the graph. */
void cleave_dot_ranks_mark_edge (CleaveDotRanks *ranks,
                                 const CleaveResult *value,
                                 const CleaveNode *reader,
                                 Agedge_t *edge);
