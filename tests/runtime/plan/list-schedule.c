/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list scheduler, on random tasks. A task has steps with costs and predecessors. */

#include "../../../lib/runtime/plan/urgency.h"
#include "../../../lib/runtime/plan/waits.h"

#include <string.h>

#include "schedule-replay.h"
#include "test.h"

/* A task for the scheduler: steps with random costs. Each step has up to three of the ten steps
 * before it as predecessors. */
typedef struct
{
  CleaveScheduleTask task;
  guint *begin, *preds;
  double *cost;
} Case;

static void
case_init (Case *c, guint n, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);

  c->begin = g_new (guint, n + 1);
  c->preds = g_new (guint, 4 * n + 1);
  c->cost = g_new (double, n);
  c->begin[0] = 0;
  for (guint s = 0; s < n; s++)
    {
      guint k = s == 0 ? 0 : (guint) g_rand_int_range (rand, 0, 4);

      for (guint i = 0; i < k; i++)
        c->preds[c->begin[s] + i] =
            (guint) g_rand_int_range (rand, s < 10 ? 0 : (gint32) s - 10, (gint32) s);
      c->begin[s + 1] = c->begin[s] + k;
      c->cost[s] = g_rand_int_range (rand, 0, 5) == 0 ? 0 : g_rand_double_range (rand, 1, 10);
    }
  c->task =
      (CleaveScheduleTask){ .n_steps = n, .begin = c->begin, .preds = c->preds, .cost = c->cost };
}

static void
case_clear (Case *c)
{
  g_free (c->begin);
  g_free (c->preds);
  g_free (c->cost);
}

/* A Case with random values for all optional properties of its task. Some steps of the task are
 * fused with a predecessor, belong to a group, or use a buffer that other steps use. The memory
 * budget of the task may be too small for any buffer. */
typedef struct
{
  Case base;
  guint *along, *group, *touch_begin, *touched;
  gint64 *n_bytes;
  CleaveUrgency urgency;
} FullCase;

static gint64 *
draw_bytes (GRand *rand, guint n)
{
  gint64 *n_bytes = g_new (gint64, n);

  for (guint b = 0; b < n; b++)
    n_bytes[b] = g_rand_int_range (rand, 0, 100);
  return n_bytes;
}

static void
full_case_init (FullCase *c, guint n, guint32 seed)
{
  g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
  CleaveScheduleTask *task = &c->base.task;

  case_init (&c->base, n, seed);
  c->along = g_new (guint, n);
  c->group = g_new (guint, n);
  c->touch_begin = g_new (guint, n + 1);
  c->touched = g_new (guint, n);
  task->n_groups = (guint) g_rand_int_range (rand, 1, 8);
  task->n_buffers = (guint) g_rand_int_range (rand, 1, (gint32) n + 1);
  for (guint s = 0; s < n; s++)
    {
      guint begin = task->begin[s], n_preds = task->begin[s + 1] - begin;
      gboolean goes_along = n_preds > 0 && g_rand_int_range (rand, 0, 3) > 0;

      c->along[s] = goes_along ? task->preds[begin + s % n_preds] : G_MAXUINT;
      c->group[s] = g_rand_boolean (rand) ? g_rand_int (rand) % task->n_groups : G_MAXUINT;
      c->touch_begin[s] = s;
      c->touched[s] = g_rand_int (rand) % task->n_buffers;
    }
  c->touch_begin[n] = n;
  c->n_bytes = draw_bytes (rand, task->n_buffers);
  task->along = c->along;
  task->group = g_rand_boolean (rand) ? c->group : NULL;
  task->touch_begin = c->touch_begin;
  task->touched = c->touched;
  task->n_bytes = c->n_bytes;
  task->budget = g_rand_boolean (rand) ? g_rand_int_range (rand, 1, 1000) : 0;
  task->in_order = g_rand_boolean (rand);
  if (g_rand_boolean (rand))
    cleave_urgency_init (&c->urgency, task);
  task->rank = c->urgency.rank;
  task->by_rank = c->urgency.by_rank;
}

static void
full_case_clear (FullCase *c)
{
  case_clear (&c->base);
  g_free (c->along);
  g_free (c->group);
  g_free (c->touch_begin);
  g_free (c->touched);
  g_free (c->n_bytes);
  cleave_urgency_clear (&c->urgency);
}

START_TEST (every_task_gets_a_complete_schedule)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (300); seed++)
    for (guint n_threads = 1; n_threads <= 8; n_threads++)
      {
        FullCase c = { 0 };
        g_autoptr (CleaveSchedule) schedule = NULL;

        full_case_init (&c, 1 + seed, seed);
        schedule = cleave_schedule_new (&c.base.task, n_threads);
        schedule_replay (schedule, &c.base.task);
        full_case_clear (&c);
      }
}
END_TEST

START_TEST (waits_are_sufficient_and_never_deadlock)
{
  for (guint32 seed = 0; seed < 50; seed++)
    for (guint n_threads = 1; n_threads <= 5; n_threads++)
      {
        Case c;
        g_autoptr (CleaveSchedule) schedule = NULL;

        case_init (&c, 1 + seed * 7, seed);
        schedule = cleave_schedule_new (&c.task, n_threads);
        schedule_replay (schedule, &c.task);
        case_clear (&c);
      }
}
END_TEST

/* Asserts that each step waits for at least these numbers of steps of each thread. */
static void
check_counts (const CleaveSchedule *schedule, const CleaveWaits *waits, const guint *counts)
{
  guint n_threads = schedule->n_threads;
  g_autofree guint *clock = g_new0 (guint, schedule->n_steps * n_threads);

  for (guint i = 0; i < schedule->n_steps; i++)
    {
      guint step = schedule->order[i], *now = clock + step * n_threads;

      now[schedule->thread[step]] = schedule->index[step];
      for (guint w = waits->first[step]; w < waits->first[step + 1]; w++)
        {
          const CleaveWait *wait = &g_array_index (waits->list, CleaveWait, w);

          now[wait->thread] = MAX (now[wait->thread], wait->count);
        }
      for (guint t = 0; t < n_threads; t++)
        for (guint n = now[t], k = 0; n > 0 && k < n_threads; k++)
          now[k] = MAX (now[k], clock[schedule->sequence[t][n - 1] * n_threads + k]);
      for (guint t = 0; t < n_threads; t++)
        cleave_assert (now[t] >= counts[step * n_threads + t]);
    }
}

typedef struct
{
  /* [step][thread]: number of steps of the thread that the step must wait for */
  const guint *counts;
  guint n_threads;
} Asked;

static void
raise_counts (guint step, guint *counts, gpointer data)
{
  const Asked *asked = data;

  for (guint t = 0; t < asked->n_threads; t++)
    counts[t] = MAX (counts[t], asked->counts[step * asked->n_threads + t]);
}

/* Some steps wait for all steps before them in the order. */
START_TEST (added_waits_are_sufficient_and_never_deadlock)
{
  for (guint32 seed = 0; seed < 30; seed++)
    for (guint n_threads = 2; n_threads <= 4; n_threads++)
      {
        g_autoptr (GRand) rand = g_rand_new_with_seed (seed);
        g_autofree guint *counts = g_new0 (guint, (1 + seed * 7) * n_threads);
        Asked asked = { counts, n_threads };
        const CleaveWaitSource more = { raise_counts, &asked };
        guint n_before[4] = { 0 };
        Case c;
        g_autoptr (CleaveSchedule) schedule = NULL;
        g_auto (CleaveWaits) waits = { 0 }, needs = { 0 };

        case_init (&c, 1 + seed * 7, seed);
        schedule = cleave_schedule_new (&c.task, n_threads);
        for (guint i = 0; i < c.task.n_steps; i++)
          {
            guint step = schedule->order[i];

            if (g_rand_int_range (rand, 0, 4) == 0)
              memcpy (counts + step * n_threads, n_before, n_threads * sizeof (guint));
            n_before[schedule->thread[step]]++;
          }
        waits = cleave_schedule_find_waits (schedule, &more);
        check_counts (schedule, &waits, counts);
        schedule_replay_waits (schedule, &waits, &c.task);
        needs = cleave_schedule_find_waits (schedule, NULL);
        ck_assert_uint_eq (needs.list->len, schedule->needs.list->len);
        case_clear (&c);
      }
}
END_TEST

START_TEST (the_order_is_valid_for_sequential_runs)
{
  Case c;
  g_autoptr (CleaveSchedule) schedule = NULL;
  gboolean done[300] = { FALSE };
  guint next[3] = { 0 };

  case_init (&c, G_N_ELEMENTS (done), 5);
  schedule = cleave_schedule_new (&c.task, 3);
  for (guint i = 0; i < c.task.n_steps; i++)
    {
      guint step = schedule->order[i];

      for (guint k = c.begin[step]; k < c.begin[step + 1]; k++)
        ck_assert (done[c.preds[k]]);
      ck_assert_uint_eq (schedule->index[step], next[schedule->thread[step]]++);
      done[step] = TRUE;
    }
  case_clear (&c);
}
END_TEST

START_TEST (one_thread_keeps_the_order_and_waits_for_nothing)
{
  Case c;
  g_autoptr (CleaveSchedule) schedule = NULL;

  case_init (&c, 100, 1);
  schedule = cleave_schedule_new (&c.task, 1);
  for (guint s = 0; s < 100; s++)
    ck_assert_uint_eq (schedule->sequence[0][s], s);
  ck_assert_uint_eq (schedule->needs.list->len, 0);
  case_clear (&c);
}
END_TEST

/* Returns FALSE if a step begins before a step with a smaller number that was ready by then. */
static gboolean
is_in_order (const CleaveSchedule *schedule, const CleaveScheduleTask *task)
{
  for (guint s = 0; s < task->n_steps; s++)
    {
      double ready = 0;

      for (guint i = task->begin[s]; i < task->begin[s + 1]; i++)
        ready = MAX (ready, schedule->ends[task->preds[i]]);
      for (guint other = s + 1; other < task->n_steps; other++)
        if (ready < schedule->begins[other] && schedule->begins[other] < schedule->begins[s])
          return FALSE;
    }
  return TRUE;
}

START_TEST (threads_keep_the_order_on_request)
{
  guint n_other = 0;

  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100); seed++)
    for (guint in_order = 0; in_order < 2; in_order++)
      {
        Case c;
        g_autoptr (CleaveSchedule) schedule = NULL;

        case_init (&c, 60, seed);
        c.task.in_order = in_order == 1;
        schedule = cleave_schedule_new (&c.task, 2 + seed % 3);
        schedule_replay (schedule, &c.task);
        if (c.task.in_order)
          ck_assert (is_in_order (schedule, &c.task));
        else
          n_other += is_in_order (schedule, &c.task) ? 0 : 1;
        case_clear (&c);
      }
  ck_assert_uint_gt (n_other, 10); /* the test needs steps that run in another order */
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "schedule", waits_are_sufficient_and_never_deadlock,
                   added_waits_are_sufficient_and_never_deadlock,
                   every_task_gets_a_complete_schedule, the_order_is_valid_for_sequential_runs,
                   one_thread_keeps_the_order_and_waits_for_nothing,
                   threads_keep_the_order_on_request, NULL);
}

CLEAVE_TEST_SUITE ("schedule", add_tests)
