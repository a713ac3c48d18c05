/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* A graph in which what takes no time is made once for each rank that is better off so. */
typedef struct
{
  CleaveGraph *graph; /* the same if nothing is */
  GPtrArray *order;   /* CleaveNode: all its nodes, topologically */
  guint *rank;        /* by id */
} CleaveRankJoins;

/* `order`, of the nodes of `graph`, is topological.  In `rank`, what only other ranks read gets the
 * rank of one of those. */
void cleave_rank_joins_make (
    CleaveRankJoins *joins, CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
