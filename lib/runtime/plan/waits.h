/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Finds the waits of each step for steps of other threads, and removes waits that other waits
 * imply. schedule.c finds the waits for values, and anti-dependencies.c adds waits for memory. */

/* A source of waits for memory. `raise` raises counts[t] to the number of steps of thread t that
 * must be done before `step`. All these steps come before `step` in the schedule's order. `raise`
 * is called more than once for each step. */
typedef struct
{
  void (*raise) (guint step, guint *counts, gpointer data);
  gpointer data;
} CleaveWaitSource;

/* Computes `needs` of the schedule: the waits of each step for its predecessors on other
 * threads. */
void cleave_schedule_find_needs (CleaveSchedule *schedule, const CleaveScheduleTask *task);
/* Returns all waits: the waits in `needs`, and the waits that the source `more` adds (NULL: no
 * source). Leaves out waits that other waits imply. Memory grows with the number of steps and
 * waits, but not with the number of threads. */
CleaveWaits cleave_schedule_find_waits (const CleaveSchedule *schedule,
                                        const CleaveWaitSource *more);
void cleave_waits_clear (CleaveWaits *waits);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveWaits, cleave_waits_clear)
