/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "memory-plan.h"

/* The schedule and the offsets that a search found. A saved program stores this struct, so that
 * loading the program needs no search: all other parts of the memory plan follow from the graph.
 * program.c passes this struct to cleave_memory_plan_restore(). */
typedef struct
{
  guint n_threads, n_steps, n_buffers;
  guint *order, *thread; /* `order`: the steps in the order of the schedule; `thread`, indexed by
                            step: its thread */
  double *begins, *ends; /* indexed by step: estimated begin and end in nanoseconds */
  gint64 *offsets;       /* indexed by buffer: byte offset in the arena */
  gint64 n_bytes;        /* size of the arena in bytes */
} CleaveRecord;

void cleave_record_init (CleaveRecord *record, const CleaveMemoryPlan *plan);
void cleave_record_clear (CleaveRecord *record);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRecord, cleave_record_clear)

/* Makes a plan from the schedule and the offsets of a saved program, whose contents are not
 * trusted. Fails with CLEAVE_ERROR_MODEL if the contents do not belong to this graph, or if two
 * values that are in use at the same time would overlap. */
gboolean cleave_memory_plan_restore (CleaveMemoryPlan *plan,
                                     const CleaveGraph *graph,
                                     const CleaveRecord *record,
                                     GError **error);
