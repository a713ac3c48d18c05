/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* With room for the task; the caller fills in all but the sequences and the needs. */
CleaveSchedule *cleave_schedule_new_empty (const CleaveScheduleTask *task, guint n_threads);
/* Makes these of the threads and indices. */
void cleave_schedule_close (CleaveSchedule *schedule, const CleaveScheduleTask *task);
/* The one in which these were found; `order` and `thread` are known to be right for the task. */
CleaveSchedule *cleave_schedule_new_of (const CleaveScheduleTask *task,
                                        guint n_threads,
                                        const guint *order,
                                        const guint *thread,
                                        const double *begins,
                                        const double *ends);
