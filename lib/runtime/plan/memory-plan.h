/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "liveness.h"

/* The memory plan: all decisions about a graph except its kernels. The plan contains the location
 * of each value, the steps, the thread of each step, and the offset of each buffer in the arena.
 * program.c makes the plan first, and then chooses a kernel for each step. lib/tflite writes the
 * offsets of a plan into a model file. */
typedef struct
{
  CleaveStorage *storage;
  CleaveSchedule *schedule;
  CleaveArena arena;
} CleaveMemoryPlan;

/* Makes the plan for `n_threads` threads. Returns FALSE if the graph has a cycle. */
gboolean cleave_memory_plan_init (CleaveMemoryPlan *plan,
                                  const CleaveGraph *graph,
                                  guint n_threads,
                                  GError **error);
/* Makes the plan of one thread without placing buffers: `arena.n_bytes` and all offsets are 0.
 * Returns FALSE if the graph has a cycle. cleave_memory_plan_init() may choose another plan,
 * without laps, if the laps make the arena larger than cleave_memory_plan_get_peak_apart(). */
gboolean
cleave_memory_plan_init_unplaced (CleaveMemoryPlan *plan, const CleaveGraph *graph, GError **error);
/* Returns the peak in bytes that the plan would have without laps. */
gint64 cleave_memory_plan_get_peak_apart (const CleaveMemoryPlan *plan);
void cleave_memory_plan_clear (CleaveMemoryPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveMemoryPlan, cleave_memory_plan_clear)

/* Replaces `n_threads` 0 by the number of cores. Returns FALSE if `n_threads` exceeds
 * CLEAVE_MAX_THREADS. */
gboolean cleave_count_threads (guint *n_threads, GError **error);
