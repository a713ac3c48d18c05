/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Copies joins and views to several ranks. Each rank joins the parts that it has and the parts that
 * it receives. The ranks then send fewer bytes than if one rank joined all parts and sent the join.
 * placement.c makes the copies before it lists the messages. */

/* A graph in which each join or view has a copy on every rank where the copy saves bytes in
 * messages. */
typedef struct
{
  CleaveGraph *graph; /* the original graph if there are no copies */
  GPtrArray *order;   /* CleaveNode: all nodes of `graph` in topological order */
  guint *rank;        /* indexed by node id of `graph`: rank of the node */
} CleaveRankJoins;

/* Initializes `joins`. `order` is a topological order of the nodes of `graph`. Changes `rank`,
 * which is indexed by node id: a node whose result only other ranks read moves to one of these
 * ranks. */
void cleave_rank_joins_make (
    CleaveRankJoins *joins, CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
