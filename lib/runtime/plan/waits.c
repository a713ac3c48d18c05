/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "waits.h"

/* Waits as they are found, in `order`, so that the clocks of predecessors are known. */
typedef struct
{
  const CleaveSchedule *schedule;
  guint *clock;
  GArray *waits;
} Waiting;

static void
merge_clock (const Waiting *w, guint *clock, guint pred)
{
  const CleaveSchedule *schedule = w->schedule;
  const guint *before = w->clock + (gsize) pred * schedule->n_threads;

  for (guint t = 0; t < schedule->n_threads; t++)
    clock[t] = MAX (clock[t], before[t]);
  clock[schedule->thread[pred]] = MAX (clock[schedule->thread[pred]], schedule->index[pred] + 1);
}

/* Adds a wait, unless what the step waits for already makes sure of it. */
static void
add_wait (const Waiting *w, guint step, CleaveWait wait)
{
  guint *clock = w->clock + (gsize) step * w->schedule->n_threads;

  if (clock[wait.thread] >= wait.count)
    return;
  g_array_append_val (w->waits, wait);
  merge_clock (w, clock, w->schedule->sequence[wait.thread][wait.count - 1]);
}

/* Of what a step is to wait for, what must be said. */
static void
find_waits_of (const Waiting *w, guint step, const CleaveWaits *asked, const guint *counts)
{
  const CleaveSchedule *schedule = w->schedule;
  gsize row = (gsize) step * schedule->n_threads;
  guint index = schedule->index[step];

  if (index > 0)
    merge_clock (w, w->clock + row, schedule->sequence[schedule->thread[step]][index - 1]);
  for (guint i = asked->first[step]; i < asked->first[step + 1]; i++)
    add_wait (w, step, g_array_index (asked->list, CleaveWait, i));
  for (guint t = 0; counts != NULL && t < schedule->n_threads; t++)
    add_wait (w, step, (CleaveWait){ t, counts[row + t] });
}

/* Of what steps are asked to wait for, what is left to say: what a thread did before, or what
 * somebody waits for who is waited for, need not be.  Sorted by step once all are found. */
static CleaveWaits
find_waits (const CleaveSchedule *schedule,
            const CleaveWaits *asked,
            const guint *counts,
            guint *clock)
{
  CleaveWaits waits = { g_new (guint, schedule->n_steps + 1),
                        g_array_new (FALSE, FALSE, sizeof (CleaveWait)) };
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (CleaveWait));
  g_autofree guint *begin = g_new (guint, schedule->n_steps + 1);
  g_autofree guint *end = g_new (guint, schedule->n_steps + 1);
  const Waiting w = { schedule, clock, found };

  for (guint i = 0; i < schedule->n_steps; i++)
    {
      guint step = schedule->order[i];

      begin[step] = found->len;
      find_waits_of (&w, step, asked, counts);
      end[step] = found->len;
    }
  for (guint s = 0; s < schedule->n_steps; s++)
    {
      waits.first[s] = waits.list->len;
      if (end[s] > begin[s])
        g_array_append_vals (waits.list, &g_array_index (found, CleaveWait, begin[s]),
                             end[s] - begin[s]);
    }
  waits.first[schedule->n_steps] = waits.list->len;
  return waits;
}

static guint *
new_clock (const CleaveSchedule *schedule)
{
  return g_new0 (guint, (gsize) schedule->n_steps * schedule->n_threads + 1);
}

CleaveWaits
cleave_schedule_find_waits (const CleaveSchedule *schedule, const guint *counts)
{
  g_autofree guint *clock = new_clock (schedule);

  return find_waits (schedule, &schedule->needs, counts, clock);
}

void
cleave_schedule_find_needs (CleaveSchedule *schedule, const CleaveScheduleTask *task)
{
  g_autoptr (GArray) list = g_array_new (FALSE, FALSE, sizeof (CleaveWait));
  const CleaveWaits asked = { (guint *) task->begin, list };

  for (guint i = 0; i < task->begin[task->n_steps]; i++)
    {
      guint pred = task->preds[i];
      CleaveWait wait = { schedule->thread[pred], schedule->index[pred] + 1 };

      g_array_append_val (list, wait);
    }
  schedule->clock = new_clock (schedule);
  schedule->needs = find_waits (schedule, &asked, NULL, schedule->clock);
}

void
cleave_waits_clear (CleaveWaits *waits)
{
  g_clear_pointer (&waits->first, g_free);
  g_clear_pointer (&waits->list, g_array_unref);
}
