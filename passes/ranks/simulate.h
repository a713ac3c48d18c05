/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Simulates a run of all ranks, and estimates the time and the memory of the run. place.c uses
 * these estimates to choose a placement, and sort.c uses them to choose the order of the
 * placement's nodes. */

/* Sorts nodes by ascending key; `key` is indexed by node id. The sort is stable. */
void cleave_ranks_sort_nodes (GPtrArray *nodes, double *key);

/* Returns the memory in bytes of the rank that needs the most memory. The memory of a rank is its
 * peak of live values, plus the constants that the rank reads. */
gint64 cleave_ranks_find_memory (const CleavePlacement *p);

/* Times of a simulated run, in nanoseconds. */
typedef struct
{
  double *begin; /* indexed by node id: begin of the node */
  /* indexed by rank: time in which the rank computes, and time in which the rank sends */
  double *busy, *sending;
  double duration;
} CleaveRankTimes;

/* Simulates a run in which the ranks run their nodes in the order of the placement, as their
 * programs do. */
void cleave_rank_times_init (CleaveRankTimes *times,
                             const CleavePlacement *p,
                             const CleaveNetwork *network);
/* Simulates a run in which each rank always runs the ready node with the highest priority;
 * `priority` is indexed by node id. If `window` is not 0, the rank considers only its next `window`
 * unfinished nodes in the order of the placement. In this case, earlier nodes of the order must
 * have higher priorities. */
void cleave_rank_times_init_by (CleaveRankTimes *times,
                                const CleavePlacement *p,
                                const CleaveNetwork *network,
                                const double *priority,
                                guint window);
void cleave_rank_times_clear (CleaveRankTimes *times);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRankTimes, cleave_rank_times_clear)

/* Returns a placement as cleave_placement_make() does, with the nodes sorted by their begin in a
 * simulation. `order` should be an order that needs little memory. */
CleavePlacement *
cleave_ranks_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
/* Tries several orders of the nodes, and returns the placement with the order in which the largest
 * memory of a rank is the smallest. Leaves out orders in which a run takes over 5 % longer than in
 * the order of `p`. */
CleavePlacement *
cleave_ranks_sort_for_memory (CleavePlacement *p, const CleaveNetwork *network, guint n_in_flight);
/* Returns an estimate in bytes of the memory that cleave_ranks_sort_for_memory() would reach. Tries
 * fewer orders than cleave_ranks_sort_for_memory(). Sets `*time` to the time of a run in
 * seconds. */
gint64 cleave_ranks_predict_memory (CleavePlacement *p, const CleaveNetwork *network, double *time);
/* Returns a placement as cleave_placement_new() does, but does not search for an order that needs
 * little memory. That search takes most of the time of cleave_placement_new(). */
CleavePlacement *
cleave_ranks_place (CleaveGraph *graph, const CleaveNetwork *network, GError **error);
