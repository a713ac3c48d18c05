/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/runtime/plan/list-schedule.h"
#include "../../lib/runtime/plan/waits.h"

/* Functions that simulate the threads of a schedule, for the suites list-schedule.c and
 * known-schedules.c in tests/runtime/plan. The functions assert that the predecessors of each step
 * are done before the step runs, and that there is no deadlock.
 *
 * Simulates the threads of a schedule. Before a step, a thread waits as the list `asked` says, and
 * the waits of the schedule itself are ignored. */
void schedule_replay_waits (const CleaveSchedule *schedule,
                            const CleaveWaits *asked,
                            const CleaveScheduleTask *task);
/* Simulates the threads with the waits of the schedule. */
void schedule_replay (const CleaveSchedule *schedule, const CleaveScheduleTask *task);
