/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Ranks steps by critical path. A scheduler that uses these ranks runs the ready step with the
 * longest path to the end of the run first. schedule-search.c makes some schedules with these
 * ranks, other schedules in the order of step numbers, and compares them. */

/* Ranks steps by the estimated time of the longest path from the step to the end of the run. `rank`
 * is indexed by step; the longest path has rank 0. `by_rank` is indexed by rank. */
typedef struct
{
  guint *rank, *by_rank;
} CleaveUrgency;

void cleave_urgency_init (CleaveUrgency *urgency, const CleaveScheduleTask *task);
void cleave_urgency_clear (CleaveUrgency *urgency);
