/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* What a rank does for a message that it sends or receives, besides copying it, in nanoseconds: not
 * measured, of the order of an MPI call.  It keeps placements from sending many small values. */
#define CLEAVE_RANKS_COST_OF_MESSAGE 2000

/* What a node takes of a thread, in nanoseconds: nothing where it is a view or a join, which steps
 * around it do in place. */
double cleave_ranks_cost (const CleaveNode *node);
/* By id: how long the longest way from the begin of a node to the end of the graph takes, if nobody
 * waits for anything else. */
double *cleave_ranks_find_heights (const CleaveGraph *graph, const GPtrArray *order);
/* What a message takes of a thread, on either side. */
double cleave_ranks_cost_of_message (const CleaveMessage *message);
