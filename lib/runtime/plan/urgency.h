/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Critical-path priorities for the scheduler: a step on the longest path to the end comes first. */

/* Ranks steps by the estimated time of the longest path from each to the end, the longest first. */
typedef struct
{
  guint *rank, *by_rank;
} CleaveUrgency;

void cleave_urgency_init (CleaveUrgency *urgency, const CleaveScheduleTask *task);
void cleave_urgency_clear (CleaveUrgency *urgency);
