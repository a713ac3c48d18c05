/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* Simulates a run of all ranks and estimates its time and memory.  Placements and orders are chosen
 * by these estimates. */

/* Sorts nodes by ascending key (by node id); stable. */
void cleave_ranks_sort_nodes (GPtrArray *nodes, double *key);

/* Returns the memory of the rank that needs most, in bytes: its peak of live values and the
 * constants that it reads. */
gint64 cleave_ranks_find_memory (const CleavePlacement *p);

/* The times of a simulated run, in nanoseconds. */
typedef struct
{
  double *begin;          /* indexed by node id */
  double *busy, *sending; /* indexed by rank */
  double duration;
} CleaveRankTimes;

/* Simulates a run in the order of the placement, as the programs of the ranks run it. */
void cleave_rank_times_init (CleaveRankTimes *times,
                             const CleavePlacement *p,
                             const CleaveNetwork *network);
/* Simulates a run in which each rank runs the ready node with the highest priority (by node id)
 * next.  If `window` is not 0, only the next `window` unfinished nodes of the rank are considered,
 * in the order of the placement, which must then be the order of priorities. */
void cleave_rank_times_init_by (CleaveRankTimes *times,
                                const CleavePlacement *p,
                                const CleaveNetwork *network,
                                const double *priority,
                                guint window);
void cleave_rank_times_clear (CleaveRankTimes *times);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRankTimes, cleave_rank_times_clear)

/* Makes a placement like cleave_placement_make(), with the nodes in the order in which they begin
 * in a simulation.  `order` should need little memory. */
CleavePlacement *
cleave_ranks_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
/* Returns the placement with its nodes in another order. Among several orders in which a run takes
 * at most 5 % longer, it needs least memory on the rank that needs most. */
CleavePlacement *
cleave_ranks_sort_for_memory (CleavePlacement *p, const CleaveNetwork *network, guint n_in_flight);
/* Estimates the memory that cleave_ranks_sort_for_memory() reaches, in bytes, from fewer orders.
 * Sets `*time` to the time of a run, in seconds. */
gint64 cleave_ranks_predict_memory (CleavePlacement *p, const CleaveNetwork *network, double *time);
/* Makes a placement like cleave_placement_new(), without the search for an order that needs little
 * memory, which takes most of its time. */
CleavePlacement *
cleave_ranks_place (CleaveGraph *graph, const CleaveNetwork *network, GError **error);
