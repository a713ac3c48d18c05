/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Costs of nodes and messages for the placement on ranks, in nanoseconds. place.c and the
 * simulation (simulate.c, replay.c) use these costs. */

/* Time of a message on the sender, and again on the receiver, in nanoseconds, without the time to
 * copy its bytes. The value is not measured, but has the order of magnitude of an MPI call. This
 * cost keeps placements from sending many small values. */
#define CLEAVE_RANKS_COST_OF_MESSAGE 2000

/* Returns the time of a node on one thread, in nanoseconds. Returns 0 for views and joins, since
 * other nodes compute directly in the memory of views and joins. */
double cleave_ranks_cost (const CleaveNode *node);
/* Returns an array indexed by node id: the length of the longest path from the begin of the node to
 * the end of the graph, in nanoseconds. Free the array with g_free(). */
double *cleave_ranks_find_heights (const CleaveGraph *graph, const GPtrArray *order);
/* Returns the time in nanoseconds that a message takes on one thread of the sender, or of the
 * receiver. */
double cleave_ranks_cost_of_message (const CleaveMessage *message);
