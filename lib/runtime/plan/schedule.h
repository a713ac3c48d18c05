/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Returns a schedule with room for the steps of `task`. The caller fills in the order, threads,
 * indices and times, then calls cleave_schedule_close(). */
CleaveSchedule *cleave_schedule_new_empty (const CleaveScheduleTask *task, guint n_threads);
/* Derives `sequence` and `needs` from the threads and indices. */
void cleave_schedule_close (CleaveSchedule *schedule, const CleaveScheduleTask *task);
/* Returns a schedule with a saved order, threads and times, which must be valid for the task. */
CleaveSchedule *cleave_schedule_new_of (const CleaveScheduleTask *task,
                                        guint n_threads,
                                        const guint *order,
                                        const guint *thread,
                                        const double *begins,
                                        const double *ends);
