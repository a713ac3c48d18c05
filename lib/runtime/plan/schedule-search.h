/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "liveness.h"

/* Searches for the schedule with the lowest product of memory and the fourth power of estimated
 * time: 1 % less time is worth 4 % more memory. memory-plan.c calls the search once for each plan,
 * after the storage of the values is known; the schedule and its arena then become parts of the
 * plan. */

/* Returns, indexed by node id, the parallel subgraph of each node; G_MAXUINT: none. Sets `n_groups`
 * to the number of subgraphs. */
guint *cleave_schedule_search_find_groups (const CleaveGraph *graph, guint *n_groups);
/* Returns the schedule with the lowest product of memory and the fourth power of time for
 * `n_threads` threads, and fills `arena` for it. `groups` comes from
 * cleave_schedule_search_find_groups(). */
CleaveSchedule *cleave_schedule_search_schedule (const CleaveStorage *storage,
                                                 const CleaveGraph *graph,
                                                 const guint *groups,
                                                 guint n_groups,
                                                 guint n_threads,
                                                 CleaveArena *arena);
/* Returns the schedule of one thread, and fills `arena` for it without placing buffers. */
CleaveSchedule *cleave_schedule_search_unplaced (const CleaveStorage *storage,
                                                 const CleaveGraph *graph,
                                                 const guint *groups,
                                                 guint n_groups,
                                                 CleaveArena *arena);
/* Returns the estimated time of a run in nanoseconds. */
double cleave_schedule_search_estimate (const CleaveStorage *storage,
                                        const CleaveSchedule *schedule);
