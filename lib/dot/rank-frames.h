/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "draw.h"

/* The ranks of a drawing: a frame for each, and a dashed arrow for what goes from one to another.
 */
typedef struct _CleaveDotRanks CleaveDotRanks;

/* Of each node in the order of the graph, as the options say. */
CleaveDotRanks *
cleave_dot_ranks_new (Agraph_t *root, const CleaveGraph *graph, const int *ranks, guint n_nodes);
void cleave_dot_ranks_free (CleaveDotRanks *ranks);
/* Puts a vertex into the frame of its rank.  NULL: an output, which is on rank 0, as below. */
void cleave_dot_ranks_add_vertex (CleaveDotRanks *ranks, const CleaveNode *node, Agnode_t *vertex);
/* A value that is sent is so once to each rank: the first of its arrows has the bytes. */
void cleave_dot_ranks_mark_edge (CleaveDotRanks *ranks,
                                 const CleaveResult *value,
                                 const CleaveNode *reader,
                                 Agedge_t *edge);
