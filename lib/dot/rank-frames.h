/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "draw.h"

/* Shows the rank on which each node runs: draws a frame around the nodes of each rank. Each arrow
 * from a node to a reader on another rank is dashed. A value is sent only once to each rank, so
 * only the first arrow from a value to a rank shows the bytes of the message. Example: two Convs on
 * rank 1 read a value of rank 0. The first arrow shows "65536 bytes", the second arrow shows no
 * text.
 *
 * draw.c uses this header in place of frames.h if the options have ranks. */
typedef struct _CleaveDotRanks CleaveDotRanks;

/* Returns the state that draws ranks. Reads the rank of each node from the options, in the order of
 * the graph's nodes. A node has no rank if its entry is missing or negative. The caller frees the
 * result with cleave_dot_ranks_free(). */
CleaveDotRanks *
cleave_dot_ranks_new (Agraph_t *root, const CleaveGraph *graph, const CleaveDotOptions *options);
void cleave_dot_ranks_free (CleaveDotRanks *ranks);
/* Puts the vertex of `node` into the frame of its rank. `node` is NULL for an output of the graph.
 */
void cleave_dot_ranks_add_vertex (CleaveDotRanks *ranks, const CleaveNode *node, Agnode_t *vertex);
/* Draws the edge from `value` to `reader` dashed if the edge connects two ranks. The first such
 * edge of a value to a rank shows the bytes of the value. `reader` is NULL for an output of the
 * graph. */
void cleave_dot_ranks_mark_edge (CleaveDotRanks *ranks,
                                 const CleaveResult *value,
                                 const CleaveNode *reader,
                                 Agedge_t *edge);
