/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Waits besides those for values.  `raise` raises counts[t] to the number of steps of thread t that
 * must be done before `step`; all of them come before it in the schedule's order.  It is called
 * more than once for each step. */
typedef struct
{
  void (*raise) (guint step, guint *counts, gpointer data);
  gpointer data;
} CleaveWaitSource;

/* Fills in `needs`: what each step waits for so that all its predecessors are done. */
void cleave_schedule_find_needs (CleaveSchedule *schedule, const CleaveScheduleTask *task);
/* Returns what steps wait for: the needs of the schedule and those of `more`, which may be NULL.
 * Waits that others imply are left out.  Memory grows with the steps and the waits, not with the
 * threads. */
CleaveWaits cleave_schedule_find_waits (const CleaveSchedule *schedule,
                                        const CleaveWaitSource *more);
void cleave_waits_clear (CleaveWaits *waits);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveWaits, cleave_waits_clear)
