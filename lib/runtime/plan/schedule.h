/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Constructors of schedules (CleaveSchedule). list-schedule.c fills an empty schedule with the
 * result of a simulation; record.c makes a schedule from a saved program. */

/* Returns an empty schedule with memory for the steps of `task`. The caller fills in the order,
 * threads, indices and times, then calls cleave_schedule_close(). */
CleaveSchedule *cleave_schedule_new_empty (const CleaveScheduleTask *task, guint n_threads);
/* Computes `sequence` and `needs` of the schedule from the threads and indices of its steps. */
void cleave_schedule_close (CleaveSchedule *schedule, const CleaveScheduleTask *task);
/* Returns a schedule with the given order, threads and times, such as a saved program contains. The
 * order, the threads and the times must be valid for the task. */
CleaveSchedule *cleave_schedule_new_of (const CleaveScheduleTask *task,
                                        guint n_threads,
                                        const guint *order,
                                        const guint *thread,
                                        const double *begins,
                                        const double *ends);
