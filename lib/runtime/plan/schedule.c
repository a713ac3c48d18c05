/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Allocates, fills and frees schedules. cleave_schedule_close() lists the steps of each thread and
 * finds the waits between threads. */

#include "schedule.h"

#include "waits.h"

CleaveSchedule *
cleave_schedule_new_empty (const CleaveScheduleTask *task, guint n_threads)
{
  CleaveSchedule *schedule = g_new0 (CleaveSchedule, 1);

  schedule->n_threads = n_threads;
  schedule->n_steps = task->n_steps;
  schedule->order = g_new0 (guint, task->n_steps + 1);
  schedule->thread = g_new0 (guint, task->n_steps + 1);
  schedule->index = g_new0 (guint, task->n_steps + 1);
  schedule->sequence = g_new0 (guint *, n_threads);
  schedule->n_sequence = g_new0 (guint, n_threads);
  schedule->begins = g_new0 (double, task->n_steps + 1);
  schedule->ends = g_new0 (double, task->n_steps + 1);
  return schedule;
}

void
cleave_schedule_close (CleaveSchedule *schedule, const CleaveScheduleTask *task)
{
  for (guint t = 0; t < schedule->n_threads; t++)
    schedule->sequence[t] = g_new (guint, schedule->n_sequence[t] + 1);
  for (guint s = 0; s < schedule->n_steps; s++)
    schedule->sequence[schedule->thread[s]][schedule->index[s]] = s;
  cleave_schedule_find_needs (schedule, task);
}

CleaveSchedule *
cleave_schedule_new_of (const CleaveScheduleTask *task,
                        guint n_threads,
                        const guint *order,
                        const guint *thread,
                        const double *begins,
                        const double *ends)
{
  CleaveSchedule *schedule = cleave_schedule_new_empty (task, n_threads);

  for (guint i = 0; i < task->n_steps; i++)
    {
      guint step = schedule->order[i] = order[i];

      schedule->thread[step] = thread[step];
      schedule->index[step] = schedule->n_sequence[thread[step]]++;
      schedule->begins[step] = begins[step];
      schedule->ends[step] = ends[step];
    }
  cleave_schedule_close (schedule, task);
  return schedule;
}

void
cleave_schedule_free (CleaveSchedule *schedule)
{
  if (schedule == NULL)
    return;
  for (guint t = 0; t < schedule->n_threads; t++)
    g_free (schedule->sequence[t]);
  g_free (schedule->order);
  g_free (schedule->thread);
  g_free (schedule->index);
  g_free (schedule->sequence);
  g_free (schedule->n_sequence);
  cleave_waits_clear (&schedule->needs);
  g_free (schedule->begins);
  g_free (schedule->ends);
  g_free (schedule);
}
