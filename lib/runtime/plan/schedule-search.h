/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "liveness.h"

/* The search for a schedule: the one with the lowest memory times the fourth power of the estimated
 * time. */

/* The parallel subgraph of each node, in the graph's order; numbers the nodes. */
guint *cleave_schedule_search_find_groups (const CleaveGraph *graph, guint *n_groups);
/* With the arena for it. */
CleaveSchedule *cleave_schedule_search_schedule (const CleaveStorage *storage,
                                                 const CleaveGraph *graph,
                                                 const guint *groups,
                                                 guint n_groups,
                                                 guint n_threads,
                                                 CleaveArena *arena);
/* About how many nanoseconds a run takes. */
double cleave_schedule_search_estimate (const CleaveStorage *storage,
                                        const CleaveSchedule *schedule);
