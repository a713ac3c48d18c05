/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "placement.h"

/* The smallest key first, by id; what has the same stays in its order. */
void cleave_ranks_sort_nodes (GPtrArray *nodes, double *key);

/* Bytes of the values that are alive at once and of the constants that are read, of the rank that
 * has most. */
gint64 cleave_ranks_find_memory (const CleavePlacement *p);

/* A run, in nanoseconds. */
typedef struct
{
  double *begin;          /* by id */
  double *busy, *sending; /* by rank */
  double duration;
} CleaveRankTimes;

/* In the order of the placement, as programs run it. */
void cleave_rank_times_init (CleaveRankTimes *times,
                             const CleavePlacement *p,
                             const CleaveNetwork *network);
/* Of those that are ready, the one with the highest priority, by id, first; but of the nodes of a
 * rank in the order of the placement, which is then that of priorities, only one of the next
 * `window` that are not done, unless that is 0. */
void cleave_rank_times_init_by (CleaveRankTimes *times,
                                const CleavePlacement *p,
                                const CleaveNetwork *network,
                                const double *priority,
                                guint window);
void cleave_rank_times_clear (CleaveRankTimes *times);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRankTimes, cleave_rank_times_clear)

/* As cleave_placement_make(), with the nodes in the order in which they begin.  `order` is one that
 * takes little memory. */
CleavePlacement *
cleave_ranks_make (CleaveGraph *graph, const GPtrArray *order, guint n_ranks, guint *rank);
/* The same placement with the nodes in the order that takes least memory on the rank that has most,
 * of several in which a run takes hardly longer. */
CleavePlacement *
cleave_ranks_sort_for_memory (CleavePlacement *p, const CleaveNetwork *network, guint n_in_flight);
/* About what memory it is then, of fewer orders, and how long a run takes, in seconds. */
gint64 cleave_ranks_foresee_memory (CleavePlacement *p, const CleaveNetwork *network, double *time);
/* As cleave_placement_new(), but that the order may take more memory: a fraction of the time. */
CleavePlacement *
cleave_ranks_place (CleaveGraph *graph, const CleaveNetwork *network, GError **error);
