/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "liveness.h"

/* The memory plan: all decisions about a graph before kernels are chosen. It has the location of
 * each value, the steps, the thread of each step, and the offsets of the buffers in the arena. */
typedef struct
{
  CleaveStorage *storage;
  CleaveSchedule *schedule;
  CleaveArena arena;
} CleaveMemoryPlan;

/* Makes the plan. Returns FALSE if the graph has a cycle. */
gboolean cleave_memory_plan_init (CleaveMemoryPlan *plan,
                                  const CleaveGraph *graph,
                                  guint n_threads,
                                  GError **error);
/* Makes the plan of one thread without placing buffers in the arena: `arena.n_bytes` and all
 * offsets are 0. If values overlap and the placed buffers then take more than
 * cleave_memory_plan_get_peak_apart(), cleave_memory_plan_init() may make another plan. */
gboolean
cleave_memory_plan_init_unplaced (CleaveMemoryPlan *plan, const CleaveGraph *graph, GError **error);
/* Returns the peak in bytes if no value overlapped another. */
gint64 cleave_memory_plan_get_peak_apart (const CleaveMemoryPlan *plan);
void cleave_memory_plan_clear (CleaveMemoryPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveMemoryPlan, cleave_memory_plan_clear)

/* Replaces 0 by the number of cores. Returns FALSE if there are more than CLEAVE_MAX_THREADS
 * threads. */
gboolean cleave_count_threads (guint *n_threads, GError **error);
