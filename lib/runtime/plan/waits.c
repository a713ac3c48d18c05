/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the waits of each step in two passes over the schedule. The first pass counts the waits for
 * each step. The second pass keeps a wait only if the clock (clocks.h) of the waiting step does not
 * imply it. */

#include "waits.h"

#include "clocks.h"

#include <string.h>

typedef struct
{
  const CleaveSchedule *schedule;
  const CleaveWaits *asked;     /* waits for predecessors: the input of find_waits() */
  const CleaveWaitSource *more; /* source of waits for memory; NULL: none */
  guint *counts; /* indexed by thread: number of steps of the thread that must be done before the
                    current step may overwrite the memory of earlier values; `more->raise` () sets
                    these numbers */
  CleaveClocks clocks;
  GArray *found; /* CleaveWait: the waits that the search has found, in the schedule's order */
} Waiting;

typedef void (*WaitVisit) (Waiting *w, guint step, CleaveWait wait);

/* Calls `visit` for each wait that a step needs, before any wait is removed. */
static void
visit_waits (Waiting *w, guint step, WaitVisit visit)
{
  guint n_threads = w->schedule->n_threads;

  for (guint i = w->asked->first[step]; i < w->asked->first[step + 1]; i++)
    visit (w, step, g_array_index (w->asked->list, CleaveWait, i));
  if (w->more == NULL)
    return;
  memset (w->counts, 0, n_threads * sizeof *w->counts);
  w->more->raise (step, w->counts, w->more->data);
  for (guint t = 0; t < n_threads; t++)
    if (w->counts[t] > 0)
      visit (w, step, (CleaveWait){ t, w->counts[t] });
}

static void
expect_wait (Waiting *w, guint step, CleaveWait wait)
{
  cleave_clocks_expect (&w->clocks, wait);
}

static void
add_wait (Waiting *w, guint step, CleaveWait wait)
{
  if (cleave_clocks_wait (&w->clocks, step, wait))
    g_array_append_val (w->found, wait);
}

/* Returns a copy of the waits in `found`, sorted by the number of the step that waits. In `found`,
 * the waits of step s are the elements begin[s] to end[s] - 1. */
static CleaveWaits
sort_waits (const GArray *found, const guint *begin, const guint *end, guint n_steps)
{
  CleaveWaits waits = { g_new (guint, n_steps + 1),
                        g_array_new (FALSE, FALSE, sizeof (CleaveWait)) };

  for (guint s = 0; s < n_steps; s++)
    {
      waits.first[s] = waits.list->len;
      if (end[s] > begin[s])
        g_array_append_vals (waits.list, &g_array_index (found, CleaveWait, begin[s]),
                             end[s] - begin[s]);
    }
  waits.first[n_steps] = waits.list->len;
  return waits;
}

/* Returns the waits of a schedule, without waits that other waits or the order of steps on a thread
 * already imply (transitive reduction). */
static CleaveWaits
find_waits (const CleaveSchedule *schedule, const CleaveWaits *asked, const CleaveWaitSource *more)
{
  guint n_steps = schedule->n_steps;
  g_autoptr (GArray) found = g_array_new (FALSE, FALSE, sizeof (CleaveWait));
  g_autofree guint *begin = g_new (guint, n_steps + 1), *end = g_new (guint, n_steps + 1);
  g_autofree guint *counts = g_new (guint, schedule->n_threads);
  Waiting w = {
    .schedule = schedule, .asked = asked, .more = more, .counts = counts, .found = found
  };

  cleave_clocks_init (&w.clocks, schedule);
  for (guint s = 0; s < n_steps; s++)
    visit_waits (&w, s, expect_wait);
  for (guint i = 0; i < n_steps; i++)
    {
      guint step = schedule->order[i];

      begin[step] = found->len;
      cleave_clocks_begin (&w.clocks, step);
      visit_waits (&w, step, add_wait);
      cleave_clocks_end (&w.clocks, step);
      end[step] = found->len;
    }
  cleave_clocks_clear (&w.clocks);
  return sort_waits (found, begin, end, n_steps);
}

CleaveWaits
cleave_schedule_find_waits (const CleaveSchedule *schedule, const CleaveWaitSource *more)
{
  return find_waits (schedule, &schedule->needs, more);
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
  schedule->needs = find_waits (schedule, &asked, NULL);
}

void
cleave_waits_clear (CleaveWaits *waits)
{
  g_clear_pointer (&waits->first, g_free);
  g_clear_pointer (&waits->list, g_array_unref);
}
