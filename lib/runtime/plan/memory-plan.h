/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "liveness.h"

/* All that is decided of a graph before kernels are: where its values lie, which steps are left,
 * which thread does which, and where the buffers lie in the arena. */
typedef struct
{
  CleaveStorage *storage;
  CleaveSchedule *schedule;
  CleaveArena arena;
} CleaveMemoryPlan;

/* FALSE: the graph has a cycle. */
gboolean cleave_memory_plan_init (CleaveMemoryPlan *plan,
                                  const CleaveGraph *graph,
                                  guint n_threads,
                                  GError **error);
void cleave_memory_plan_clear (CleaveMemoryPlan *plan);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveMemoryPlan, cleave_memory_plan_clear)

/* The cores for 0.  FALSE: more threads than there may be. */
gboolean cleave_count_threads (guint *n_threads, GError **error);
