/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "memory-plan.h"

/* What a search decided, so that it need not search again: the schedule and the arena.  All else of
 * a memory plan follows from the graph and from these. */
typedef struct
{
  guint n_threads, n_steps, n_buffers;
  guint *order, *thread; /* of each position its step, of each step its thread */
  double *begins, *ends; /* of each step: by estimated cost */
  gint64 *offsets;       /* of each buffer */
  gint64 n_bytes;        /* of the arena */
} CleaveRecord;

void cleave_record_init (CleaveRecord *record, const CleaveMemoryPlan *plan);
void cleave_record_clear (CleaveRecord *record);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveRecord, cleave_record_clear)

/* As cleave_memory_plan_init(), of a record that may be hostile: fails with CLEAVE_ERROR_MODEL if
 * it is none of this graph, or would have two values in use at one place. */
gboolean cleave_memory_plan_restore (CleaveMemoryPlan *plan,
                                     const CleaveGraph *graph,
                                     const CleaveRecord *record,
                                     GError **error);
