/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Says once where each step runs what it needs of the others, and how far they then are. */
void cleave_schedule_find_needs (CleaveSchedule *schedule, const CleaveScheduleTask *task);
/* What steps need; and of step s, until counts[s * n_threads + t] steps of each thread t are done,
 * all of which come before it in `order`.  NULL: no more than they need. */
CleaveWaits cleave_schedule_find_waits (const CleaveSchedule *schedule, const guint *counts);
void cleave_waits_clear (CleaveWaits *waits);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveWaits, cleave_waits_clear)
