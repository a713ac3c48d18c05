/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Simulates the threads of a schedule. In each round, every thread runs one step, unless its next
 * step waits for a step of another thread. */

#include "schedule-replay.h"

#include "test.h"

void
schedule_replay_waits (const CleaveSchedule *schedule,
                       const CleaveWaits *asked,
                       const CleaveScheduleTask *task)
{
  g_autofree guint *n_done = g_new0 (guint, schedule->n_threads);
  g_autofree gboolean *done = g_new0 (gboolean, task->n_steps);

  for (guint n = 0; n < task->n_steps;)
    {
      guint before = n;

      for (guint t = schedule->n_threads; t-- > 0;)
        {
          guint step =
              n_done[t] < schedule->n_sequence[t] ? schedule->sequence[t][n_done[t]] : G_MAXUINT;
          gboolean waits = step == G_MAXUINT;

          for (guint w = waits ? 0 : asked->first[step]; !waits && w < asked->first[step + 1]; w++)
            {
              const CleaveWait *wait = &g_array_index (asked->list, CleaveWait, w);

              waits = n_done[wait->thread] < wait->count;
            }
          if (waits)
            continue;
          for (guint i = task->begin[step]; i < task->begin[step + 1]; i++)
            cleave_assert (done[task->preds[i]]);
          done[step] = TRUE;
          n_done[t]++;
          n++;
        }
      ck_assert_msg (n > before, "deadlock");
    }
}

void
schedule_replay (const CleaveSchedule *schedule, const CleaveScheduleTask *task)
{
  schedule_replay_waits (schedule, &schedule->needs, task);
}
