/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Copies of joins and views for several ranks.  If each rank joins the parts that it has and
 * receives only the others, less is sent than if one rank joined all parts and sent the join. */

/* A graph with one copy of a join or view for each rank on which that saves bytes sent. */
typedef struct
{
  CleaveGraph *graph; /* the given graph if there are no copies */
  GPtrArray *order;   /* CleaveNode: all its nodes in topological order */
  guint *rank;        /* rank of each node, by id */
} CleaveRankJoins;

/* Initializes `joins`.  `order` is a topological order of the nodes of `graph`.  Changes `rank`, by
 * node id: a node whose result only other ranks read moves to one of those. */
void cleave_rank_joins_make (
    CleaveRankJoins *joins, CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
