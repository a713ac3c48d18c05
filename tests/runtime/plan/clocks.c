/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Vector clocks of a schedule (clocks.h): for each step, how many steps of each thread are done
 * when the step begins. */

#include "../../../lib/runtime/plan/clocks.h"

#include "test.h"

#include "../../../lib/runtime/plan/waits.h"

#include <sys/resource.h>

#define MAX_THREADS 8

/* A task for the scheduler, to compare the clocks of its steps (clocks.h) with exact clocks. Each
 * step has up to three predecessors: among the 20 steps before it, or among all steps before it. */
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
  guint reach = seed % 2 == 0 ? 20 : n;

  c->begin = g_new (guint, n + 1);
  c->preds = g_new (guint, 3 * (gsize) n + 1);
  c->cost = g_new (double, n + 1);
  c->begin[0] = 0;
  for (guint s = 0; s < n; s++)
    {
      guint k = s == 0 ? 0 : (guint) g_rand_int_range (rand, 0, 4);

      for (guint i = 0; i < k; i++)
        c->preds[c->begin[s] + i] =
            s - (guint) g_rand_int_range (rand, 1, (gint32) MIN (reach, s) + 1);
      c->begin[s + 1] = c->begin[s] + k;
      c->cost[s] = g_rand_double_range (rand, 1, 10);
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

/* Computes the exact clock of a step from the exact clocks of its predecessors: for each thread,
 * the number of steps that are done when the step begins. `matrix` is indexed by [step][thread]. */
static void
find_clock (const CleaveSchedule *schedule, guint step, guint *matrix)
{
  guint n_threads = schedule->n_threads, *clock = matrix + (gsize) step * n_threads;

  clock[schedule->thread[step]] = schedule->index[step];
  for (guint i = schedule->needs.first[step]; i < schedule->needs.first[step + 1]; i++)
    {
      const CleaveWait *wait = &g_array_index (schedule->needs.list, CleaveWait, i);

      clock[wait->thread] = MAX (clock[wait->thread], wait->count);
    }
  for (guint t = 0; t < n_threads; t++)
    if (clock[t] > 0)
      {
        const guint *before = matrix + (gsize) schedule->sequence[t][clock[t] - 1] * n_threads;

        for (guint k = 0; k < n_threads; k++)
          clock[k] = MAX (clock[k], before[k]);
      }
}

/* Compares each step's clock from cleave_clocks_begin() with the exact clock. A clock has one
 * number for each thread: how many steps of the thread are done when the step begins. Asserts that
 * no number is higher than the exact number. Returns how many numbers are lower. */
static guint
compare_clocks (const CleaveSchedule *schedule, guint max_rows)
{
  const GArray *needs = schedule->needs.list;
  g_autofree guint *matrix = g_new0 (guint, (gsize) schedule->n_steps * schedule->n_threads + 1);
  g_auto (CleaveClocks) clocks = { 0 };
  guint n_lower = 0;

  cleave_clocks_init (&clocks, schedule);
  clocks.max_rows = max_rows;
  for (guint i = 0; i < needs->len; i++)
    cleave_clocks_expect (&clocks, g_array_index (needs, CleaveWait, i));
  for (guint i = 0; i < schedule->n_steps; i++)
    {
      guint step = schedule->order[i];
      const guint *clock = cleave_clocks_begin (&clocks, step);

      for (guint w = schedule->needs.first[step]; w < schedule->needs.first[step + 1]; w++)
        cleave_clocks_wait (&clocks, step, g_array_index (needs, CleaveWait, w));
      cleave_clocks_end (&clocks, step);
      find_clock (schedule, step, matrix);
      for (guint t = 0; t < schedule->n_threads; t++)
        {
          guint exact = matrix[(gsize) step * schedule->n_threads + t];

          cleave_assert (clock[t] <= exact);
          n_lower += clock[t] < exact;
        }
      cleave_assert (clocks.n_users->len <= max_rows);
    }
  cleave_assert (clocks.unused->len + schedule->n_threads >= clocks.n_users->len);
  return n_lower;
}

START_TEST (clocks_are_those_of_a_full_matrix)
{
  for (guint32 seed = 0; seed < CLEAVE_TRIALS (100); seed++)
    for (guint n_threads = 1; n_threads <= MAX_THREADS; n_threads++)
      {
        Case c;
        g_autoptr (CleaveSchedule) schedule = NULL;

        case_init (&c, 1 + 5 * seed, seed);
        schedule = cleave_schedule_new (&c.task, n_threads);
        ck_assert_uint_eq (compare_clocks (schedule, G_MAXUINT), 0);
        case_clear (&c);
      }
}
END_TEST

START_TEST (few_rows_give_lower_bounds)
{
  guint n_lower = 0;

  for (guint32 seed = 50; seed < 50 + CLEAVE_TRIALS (50); seed++)
    {
      Case c;
      g_autoptr (CleaveSchedule) schedule = NULL;

      case_init (&c, 300, seed);
      schedule = cleave_schedule_new (&c.task, MAX_THREADS);
      n_lower += compare_clocks (schedule, seed % 8);
      case_clear (&c);
    }
  ck_assert_uint_gt (n_lower, 0);
}
END_TEST

#if !CLEAVE_SANITIZED
static gint64
get_peak_bytes (void)
{
  struct rusage usage;

  getrusage (RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

/* The clocks take little memory, while the exact clocks of 200,000 steps and 64 threads would take
 * 51 MB. */
START_TEST (memory_does_not_grow_with_threads)
{
  Case c;
  gint64 begin, few, many;

  case_init (&c, 200000, 1);
  begin = get_peak_bytes ();
  cleave_schedule_free (cleave_schedule_new (&c.task, 2));
  few = get_peak_bytes ();
  cleave_schedule_free (cleave_schedule_new (&c.task, 64));
  many = get_peak_bytes ();
  case_clear (&c);
  ck_assert_int_gt (few, begin);
  ck_assert_msg (many - begin < 2 * (few - begin) + (4 << 20),
                 "%.0f MB with 2 threads, %.0f MB with 64", (double) (few - begin) / 1e6,
                 (double) (many - begin) / 1e6);
}
END_TEST
#endif

static void
add_tests (Suite *suite)
{
  cleave_add_case (suite, "clocks", clocks_are_those_of_a_full_matrix, few_rows_give_lower_bounds,
#if !CLEAVE_SANITIZED
                   memory_does_not_grow_with_threads,
#endif
                   NULL);
}

CLEAVE_TEST_SUITE ("clocks", add_tests)
