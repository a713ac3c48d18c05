/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The list scheduler, on tasks whose best schedule is known. A task has steps with costs and
 * predecessors. */

#include "../../../lib/runtime/plan/urgency.h"

#include <time.h>

#include "schedule-replay.h"
#include "test.h"

/* Steps 2 and 3 each overwrite a result of step 0, and run directly after it. The step with the
 * smaller number is first. */
START_TEST (several_steps_may_follow_one_directly)
{
  static const guint begin[] = { 0, 0, 0, 1, 2, 4 }, preds[] = { 0, 0, 2, 3 };
  static const guint along[] = { G_MAXUINT, G_MAXUINT, 0, 0, G_MAXUINT };
  static const double cost[] = { 5, 9, 1, 1, 1 };
  const CleaveScheduleTask task = {
    .n_steps = 5, .begin = begin, .preds = preds, .cost = cost, .along = along
  };
  g_autoptr (CleaveSchedule) schedule = cleave_schedule_new (&task, 2);

  schedule_replay (schedule, &task);
  for (guint s = 2; s < 4; s++)
    {
      ck_assert_uint_eq (schedule->thread[s], schedule->thread[0]);
      ck_assert_uint_eq (schedule->index[s], s - 1);
    }
}
END_TEST

/* Step 4 overwrites the result of step 0, so it must run directly after step 0. Steps 1, 2 and 3
 * become ready at the same time as step 4 and have smaller numbers. */
START_TEST (a_fused_step_comes_right_after_its_head)
{
  static const guint begin[] = { 0, 0, 1, 2, 3, 4 }, preds[] = { 0, 0, 0, 0 };
  static const guint along[] = { G_MAXUINT, G_MAXUINT, G_MAXUINT, G_MAXUINT, 0 };
  static const double cost[] = { 5, 5, 5, 5, 1 };

  for (guint n_threads = 2; n_threads <= 3; n_threads++)
    {
      const CleaveScheduleTask task = {
        .n_steps = 5, .begin = begin, .preds = preds, .cost = cost, .along = along
      };
      g_autoptr (CleaveSchedule) schedule = cleave_schedule_new (&task, n_threads);

      ck_assert_uint_eq (schedule->thread[4], schedule->thread[0]);
      ck_assert_uint_eq (schedule->index[4], schedule->index[0] + 1);
    }
}
END_TEST

/* Four chains of three steps follow a first step. Each of two threads runs a whole chain, and then
 * another one. */
START_TEST (each_thread_goes_through_one_subgraph_at_a_time)
{
  guint begin[14] = { 0 }, preds[12];
  double cost[13];
  CleaveScheduleTask task = { .n_steps = 13, .begin = begin, .preds = preds, .cost = cost };
  g_autoptr (CleaveSchedule) schedule = NULL;
  static const guint want[2][7] = { { 0, 1, 2, 3, 7, 8, 9 }, { 4, 5, 6, 10, 11, 12 } };

  for (guint s = 0; s < 13; s++)
    {
      cost[s] = 1;
      begin[s + 1] = s;
      if (s > 0)
        preds[s - 1] = (s - 1) % 3 == 0 ? 0 : s - 1;
    }
  schedule = cleave_schedule_new (&task, 2);
  for (guint t = 0; t < 2; t++)
    for (guint i = 0; i < schedule->n_sequence[t]; i++)
      ck_assert_uint_eq (schedule->sequence[t][i], want[t][i]);
  ck_assert_uint_eq (schedule->needs.list->len,
                     1); /* the only wait: the second thread waits for step 0 */
}
END_TEST

/* After a first step, there are two bands of two strips. Each strip has two steps. After the first
 * step, all strips are ready. */
START_TEST (each_thread_keeps_to_its_band)
{
  static const guint begin[] = { 0, 0, 1, 2, 3, 4, 5, 6, 7, 8 };
  static const guint preds[] = { 0, 1, 0, 3, 0, 5, 0, 7 };
  static const double cost[] = { 1, 2, 2, 2, 2, 2, 2, 2, 2 };
  static const guint group[] = { G_MAXUINT, 0, 0, 0, 0, 1, 1, 1, 1 };
  CleaveScheduleTask task = {
    .n_steps = 9, .begin = begin, .preds = preds, .cost = cost, .group = group, .n_groups = 2
  };
  g_autoptr (CleaveSchedule) schedule = cleave_schedule_new (&task, 2);

  schedule_replay (schedule, &task);
  for (guint s = 1; s < 9; s++)
    ck_assert_uint_eq (schedule->thread[s], group[s]);
}
END_TEST

/* Returns the bytes of the buffers that are in use while a step runs, if all steps begin and end at
 * the times that the schedule estimates. */
static gint64
count_live (const CleaveSchedule *schedule, const CleaveScheduleTask *task, guint step)
{
  g_autofree double *begin = g_new (double, task->n_buffers),
                    *end = g_new0 (double, task->n_buffers);
  gint64 live = 0;

  for (guint b = 0; b < task->n_buffers; b++)
    begin[b] = G_MAXDOUBLE;
  for (guint s = 0; s < task->n_steps; s++)
    for (guint i = task->touch_begin[s]; i < task->touch_begin[s + 1]; i++)
      {
        begin[task->touched[i]] = MIN (begin[task->touched[i]], schedule->begins[s]);
        end[task->touched[i]] = MAX (end[task->touched[i]], schedule->ends[s]);
      }
  for (guint b = 0; b < task->n_buffers; b++)
    if (begin[b] <= schedule->begins[step] && schedule->begins[step] < end[b])
      live += task->n_bytes[b];
  return live;
}

/* There are six pairs of steps. In each pair, one step computes a value, and the other step reads
 * the value. */
START_TEST (threads_keep_to_the_budget)
{
  guint begin[13] = { 0 }, preds[6], touch_begin[13] = { 0 }, touched[12];
  gint64 n_bytes[6];
  double cost[12];
  CleaveScheduleTask task = { .n_steps = 12,
                              .begin = begin,
                              .preds = preds,
                              .cost = cost,
                              .touch_begin = touch_begin,
                              .touched = touched,
                              .n_buffers = 6,
                              .n_bytes = n_bytes };

  for (guint s = 0; s < 12; s++)
    {
      cost[s] = 1;
      begin[s + 1] = (s + 1) / 2;
      touch_begin[s + 1] = s + 1;
      touched[s] = s / 2;
      n_bytes[s / 2] = 100;
      preds[s / 2] = s / 2 * 2;
    }
  for (guint n_at_once = 1; n_at_once <= 3; n_at_once++)
    {
      g_autoptr (CleaveSchedule) schedule = NULL;
      double duration = 0;

      task.budget = 100 * n_at_once + 50;
      schedule = cleave_schedule_new (&task, 3);
      schedule_replay (schedule, &task);
      for (guint s = 0; s < 12; s++)
        {
          duration = MAX (duration, schedule->ends[s]);
          ck_assert_int_le (count_live (schedule, &task, s), task.budget);
        }
      ck_assert_double_eq (duration, 12.0 / n_at_once);
    }
  task.budget = 1; /* the budget is smaller than any value */
  {
    g_autoptr (CleaveSchedule) schedule = cleave_schedule_new (&task, 3);

    schedule_replay (schedule, &task);
    for (guint s = 0; s < 12; s++)
      ck_assert_int_le (count_live (schedule, &task, s), 100);
  }
}
END_TEST

/* The first four steps of the order cost 4 each. After them comes a chain of two steps, of costs 1
 * and 20. */
START_TEST (the_longest_chain_comes_first)
{
  static const guint begin[] = { 0, 0, 0, 0, 0, 0, 1 }, preds[] = { 4 };
  static const double cost[] = { 4, 4, 4, 4, 1, 20 };
  static const guint ranks[] = { 2, 3, 4, 5, 0, 1 };

  for (gboolean by_urgency = FALSE; by_urgency <= TRUE; by_urgency++)
    for (gboolean in_order = FALSE; in_order <= TRUE; in_order++)
      {
        CleaveScheduleTask task = {
          .n_steps = 6, .begin = begin, .preds = preds, .cost = cost, .in_order = in_order
        };
        g_autoptr (CleaveSchedule) schedule = NULL;
        CleaveUrgency urgency;
        double duration = 0;

        cleave_urgency_init (&urgency, &task);
        for (guint s = 0; s < 6; s++)
          {
            ck_assert_uint_eq (urgency.rank[s], ranks[s]);
            ck_assert_uint_eq (urgency.by_rank[ranks[s]], s);
          }
        task.rank = by_urgency ? urgency.rank : NULL;
        task.by_rank = by_urgency ? urgency.by_rank : NULL;
        schedule = cleave_schedule_new (&task, 2);
        schedule_replay (schedule, &task);
        for (guint s = 0; s < 6; s++)
          duration = MAX (duration, schedule->ends[s]);
        ck_assert_double_eq (duration, by_urgency ? 21 : 29);
        cleave_urgency_clear (&urgency);
      }
}
END_TEST

/* A chain of steps keeps one thread busy. If one idle thread finds no step, the other idle threads
 * do not search. When each of 1,024 idle threads searched the steps of 1,024 threads after each of
 * 4,000 steps, the searches took 10 s of processor time. */
START_TEST (a_thousand_idle_threads_cost_little)
{
  enum { N = 4000 };
  g_autofree guint *begin = g_new (guint, N + 1), *preds = g_new (guint, N);
  g_autofree double *cost = g_new (double, N);
  CleaveScheduleTask task = { .n_steps = N, .begin = begin, .preds = preds, .cost = cost };
  g_autoptr (CleaveSchedule) schedule = NULL;
  clock_t before = clock ();

  for (guint s = 0; s < N; s++)
    {
      begin[s + 1] = s;
      preds[s] = s;
      cost[s] = 1;
    }
  begin[0] = 0;
  schedule = cleave_schedule_new (&task, 1024);
  ck_assert_int_lt ((gint64) (clock () - before), 3 * (gint64) CLOCKS_PER_SEC);
  schedule_replay (schedule, &task);
}
END_TEST

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "known", a_fused_step_comes_right_after_its_head,
                   several_steps_may_follow_one_directly,
                   each_thread_goes_through_one_subgraph_at_a_time, each_thread_keeps_to_its_band,
                   threads_keep_to_the_budget, the_longest_chain_comes_first,
                   a_thousand_idle_threads_cost_little, NULL);
}

CLEAVE_TEST_SUITE ("known-schedules", add_tests)
