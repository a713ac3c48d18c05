/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Costs for the placement on ranks, in nanoseconds. */

/* Cost of a message on either side besides the copy, in nanoseconds.  Not measured; of the order of
 * an MPI call.  It keeps placements from sending many small values. */
#define CLEAVE_RANKS_COST_OF_MESSAGE 2000

/* Returns the time of a node on one thread, in nanoseconds.  0 for views and joins, which
 * neighboring steps do in place. */
double cleave_ranks_cost (const CleaveNode *node);
/* Returns, by node id, the length of the longest path from the begin of a node to the end of the
 * graph, in nanoseconds.  Free with g_free(). */
double *cleave_ranks_find_heights (const CleaveGraph *graph, const GPtrArray *order);
/* Returns the time that a message takes on one thread, on either side, in nanoseconds. */
double cleave_ranks_cost_of_message (const CleaveMessage *message);
