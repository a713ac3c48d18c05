/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Searches for the schedule of a program: makes schedules with smaller and smaller memory budgets,
 * and compares their prices. The price of a schedule is its memory times the fourth power of its
 * estimated time.
 *
 * Over 400 lines: this file has one search, and the prices that the search compares. */

#include "schedule-search.h"

#include "../../ir/subgraphs.h"
#include "../../memory/cost.h"
#include "arena.h"
#include "dependencies.h"
#include "step-costs.h"
#include "touches.h"
#include "urgency.h"

#include <math.h>

/* Limits on a schedule that replaces the fastest schedule. The new schedule may take at most
 * MAX_SLOWER times the time of the fastest schedule, and at most MAX_LEFT times its memory. */
#define MAX_SLOWER 1.02
#define MAX_LEFT 0.95
/* The limits below are measured on 320 random graphs for four threads: the size of the arenas, and
 * the time of making all programs.
 *
 * CUTOFF: the search lowers the budget until a schedule takes this many times the fastest
 * schedule's time. Without this limit, arenas are 0.5 % smaller, and making programs takes 1.4
 * times as long. */
#define CUTOFF 1.15
/* Limit on the number of memory budgets that the search tries. With 8 instead of 32, arenas are 2.5
 * % larger, and making programs takes two thirds of the time. */
#define N_BUDGETS 32
/* Limit on the number of schedules whose arena is packed. With 2 instead of 6, arenas are 1.5 %
 * larger, and making programs takes two thirds of the time. */
#define MAX_PACKED 6
/* Number of simulated runs for a comparison of two schedules. In the code below, `trial` is the
 * index of a simulated run. With 1 instead of 8, arenas are 0.4 % larger. */
#define N_TRIALS 8
/* Largest number of buffers of a schedule that gets slack (liveness.h). Packing an arena with slack
 * compares most pairs of buffers, which takes too long for more buffers. */
#define MAX_LOOSE 8192

guint *
cleave_schedule_search_find_groups (const CleaveGraph *graph, guint *n_groups)
{
  guint *groups = g_new (guint, graph->n_ids + 1);

  *n_groups = cleave_subgraphs_find (graph, groups);
  return groups;
}

/* Returns, indexed by step, the parallel subgraph of the step's node; G_MAXUINT: none. */
static guint *
find_step_groups (const CleaveStorage *storage, const guint *groups)
{
  guint *group = g_new (guint, storage->steps->len + 1);

  for (guint s = 0; s < storage->steps->len; s++)
    {
      const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, s);

      group[s] = step->node == NULL ? G_MAXUINT : groups[step->node->id];
    }
  return group;
}

/* A candidate: a schedule with its estimated time and memory. */
typedef struct
{
  CleaveSchedule *schedule;
  gint64 budget; /* memory budget in bytes with which the schedule was made */
  gboolean in_order, by_urgency;
  double duration;
  gint64 peak;
} Candidate;

static void
candidate_clear (gpointer data)
{
  Candidate *candidate = data;

  g_clear_pointer (&candidate->schedule, cleave_schedule_free);
}

typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  CleaveScheduleTask task;
  CleaveUrgency urgency;
  guint n_threads;
  gboolean places; /* TRUE: place the buffers, since the search compares the arenas of schedules;
                      FALSE: only the lifetimes and the peak are needed */
} Choosing;

/* Sets the inputs of the scheduler that differ between candidates: the memory budget, whether steps
 * keep their order, and the priorities of steps (urgency.h). */
static void
set_task (Choosing *c, const Candidate *candidate)
{
  c->task.budget = candidate->budget;
  c->task.in_order = candidate->in_order;
  c->task.rank = candidate->by_urgency ? c->urgency.rank : NULL;
  c->task.by_rank = candidate->by_urgency ? c->urgency.by_rank : NULL;
}

static Candidate
try_budget (Choosing *c, gint64 budget, gboolean in_order, gboolean by_urgency)
{
  Candidate candidate = { .budget = budget, .in_order = in_order, .by_urgency = by_urgency };

  set_task (c, &candidate);
  candidate.schedule = cleave_schedule_new (&c->task, c->n_threads);
  candidate.peak = cleave_arena_get_peak (&c->task, candidate.schedule);
  for (guint s = 0; s < c->task.n_steps; s++)
    candidate.duration = MAX (candidate.duration, candidate.schedule->ends[s]);
  return candidate;
}

/* Returns the price of a schedule: its peak memory times the fourth power of its time. So a
 * schedule that takes 1 % more time must save 4 % of memory to have the same price. */
static double
find_price (const Candidate *candidate)
{
  return (double) candidate->peak * pow (candidate->duration, 4);
}

static int
compare_prices (gconstpointer a, gconstpointer b)
{
  double x = find_price (a), y = find_price (b);

  return (x > y) - (x < y);
}

/* Makes candidates with falling budgets, and adds them to `candidates`. The first budget is the
 * peak of the fastest candidate. Stops when a candidate takes CUTOFF times the time of the fastest
 * candidate. */
static void
add_candidates (Choosing *c, const Candidate *fastest, gboolean in_order, GArray *candidates)
{
  for (guint i = in_order ? 0 : 1; i < N_BUDGETS; i++)
    {
      Candidate other = try_budget (c, fastest->peak - fastest->peak * i / N_BUDGETS, in_order,
                                    fastest->by_urgency && fastest->in_order == in_order);
      gboolean is_cut_off = other.duration > CUTOFF * fastest->duration;

      if (other.duration <= MAX_SLOWER * fastest->duration && other.peak < fastest->peak)
        g_array_append_val (candidates, other);
      else
        candidate_clear (&other);
      if (is_cut_off)
        break;
    }
}

/* Makes schedules that keep to a memory budget. Returns them as candidates, sorted by price: memory
 * times the fourth power of time. Without a budget, threads take any ready step. Such a schedule is
 * the fastest in the simulation, but may compute large values long before their readers run. */
static GArray *
find_candidates (Choosing *c, const Candidate *fastest)
{
  GArray *candidates = g_array_new (FALSE, FALSE, sizeof (Candidate));

  g_array_set_clear_func (candidates, candidate_clear);
  if (c->n_threads > 1)
    {
      add_candidates (c, fastest, FALSE, candidates);
      add_candidates (c, fastest, TRUE, candidates);
    }
  g_array_sort (candidates, compare_prices);
  return candidates;
}

/* Returns a factor from 0.5 to 2 by which a simulated run changes the estimated time of a step. The
 * factor is the product of two factors from 0.7 to 1.4. The first factor depends on the step's op
 * and on `trial`, the index of the simulated run. The second factor depends on the step and on
 * `trial`. */
static double
vary_cost (const Choosing *c, guint step, guint trial)
{
  const CleaveStep *what = &g_array_index (c->storage->steps, CleaveStep, step);
  guint32 of_step = (step + 1) * 2654435761u ^ (trial + 1) * 2246822519u,
          of_op = trial * 3266489917u;

  if (what->kind == CLEAVE_STEP_COMPUTE)
    of_op ^= g_str_hash (what->node->op->name) * 2654435761u;
  return exp2 ((double) (of_op >> 16) / 0x10000 - 0.5) *
         exp2 ((double) (of_step >> 16) / 0x10000 - 0.5);
}

/* Returns the time of simulated run number `trial` in nanoseconds, including waits for values and
 * memory. vary_cost() changes the estimated times of steps in this run. */
static double
replay (const Choosing *c, const CleaveSchedule *schedule, const CleaveWaits *waits, guint trial)
{
  g_autofree double *end = g_new (double, schedule->n_steps + 1);
  g_autofree double *free_at = g_new0 (double, schedule->n_threads);
  double last = 0;

  for (guint i = 0; i < schedule->n_steps; i++)
    {
      guint step = schedule->order[i], thread = schedule->thread[step];
      double begin = free_at[thread];

      for (guint w = waits->first[step]; w < waits->first[step + 1]; w++)
        {
          const CleaveWait *wait = &g_array_index (waits->list, CleaveWait, w);

          begin = MAX (begin, end[schedule->sequence[wait->thread][wait->count - 1]] +
                                  CLEAVE_COST_OF_HANDOVER);
        }
      end[step] = free_at[thread] = begin + c->task.cost[step] * vary_cost (c, step, trial);
      last = MAX (last, end[step]);
    }
  return last;
}

/* Returns whether runs with `schedule` and its arena take, on average, at most MAX_SLOWER times as
 * long as runs with schedule `other` and its arena. */
static gboolean
is_as_fast (const Choosing *c,
            const CleaveSchedule *schedule,
            const CleaveArena *arena,
            const CleaveSchedule *other,
            const CleaveArena *other_arena)
{
  g_auto (CleaveWaits) waits =
      cleave_arena_find_waits (arena, c->storage, c->graph, NULL, schedule);
  g_auto (CleaveWaits) other_waits =
      cleave_arena_find_waits (other_arena, c->storage, c->graph, NULL, other);
  double ratio = 0;

  for (guint trial = 0; trial < N_TRIALS; trial++)
    ratio += replay (c, schedule, &waits, trial) / replay (c, other, &other_waits, trial);
  return ratio <= MAX_SLOWER * N_TRIALS;
}

static gboolean
is_worth_it (gint64 n_bytes, gint64 before)
{
  return (double) n_bytes <= MAX_LEFT * (double) before;
}

static void
take_arena (CleaveArena *arena, CleaveArena *other)
{
  cleave_arena_clear (arena);
  *arena = *other;
  *other = (CleaveArena){ 0 };
}

/* Makes two schedules by critical-path priorities (urgency.h). In one schedule, threads prefer
 * steps that they made ready; in the other, threads take any ready step. Returns the schedule with
 * the lower price, which is memory times the fourth power of time. */
static Candidate
find_urgent (Choosing *c)
{
  Candidate own = try_budget (c, 0, FALSE, TRUE), any = try_budget (c, 0, TRUE, TRUE);
  Candidate *worse = find_price (&any) < find_price (&own) ? &own : &any;
  Candidate best = worse == &own ? any : own;

  candidate_clear (worse);
  return best;
}

/* Chooses between `fastest` and the candidates that find_candidates() returns, which are sorted by
 * price: memory times the fourth power of time. For each candidate, packs the arena and simulates
 * runs that also wait for reused memory. Returns the first candidate that needs less memory than
 * `fastest` and is about as fast. Returns `fastest` if there is no such candidate. Fills `arena`
 * for the returned schedule. */
static Candidate
choose_with_arena (Choosing *c, Candidate fastest, CleaveArena *arena)
{
  g_autoptr (GArray) candidates = find_candidates (c, &fastest);

  if (!c->places)
    {
      cleave_arena_init_unplaced (arena, c->storage, c->graph, fastest.schedule);
      return fastest;
    }
  cleave_arena_init (arena, c->storage, c->graph, fastest.schedule);
  for (guint i = 0; i < MIN (candidates->len, MAX_PACKED); i++)
    {
      Candidate *candidate = &g_array_index (candidates, Candidate, i);
      g_auto (CleaveArena) other = { 0 };

      if (!is_worth_it (candidate->peak, arena->n_bytes))
        continue;
      cleave_arena_init (&other, c->storage, c->graph, candidate->schedule);
      if (!is_worth_it (other.n_bytes, arena->n_bytes) ||
          !is_as_fast (c, candidate->schedule, &other, fastest.schedule, arena))
        continue;
      candidate_clear (&fastest);
      fastest = *candidate;
      candidate->schedule = NULL;
      take_arena (arena, &other);
      break;
    }
  return fastest;
}

/* Returns a schedule and fills `arena` for it. With several threads, makes two schedules. The first
 * one runs steps in the order of their numbers, the second one by critical-path priorities
 * (urgency.h). Returns the schedule with the lower price, which is memory times the fourth power of
 * time. */
static Candidate
choose (Choosing *c, CleaveArena *arena)
{
  Candidate first = try_budget (c, 0, FALSE, FALSE), urgent;
  g_auto (CleaveArena) other = { 0 };
  gboolean may_pay;

  if (c->n_threads == 1)
    return choose_with_arena (c, first, arena);
  cleave_urgency_init (&c->urgency, &c->task);
  urgent = find_urgent (c);
  may_pay = find_price (&urgent) < find_price (&first);
  first = choose_with_arena (c, first, arena);
  if (may_pay)
    {
      urgent = choose_with_arena (c, urgent, &other);
      if (find_price (&urgent) < find_price (&first))
        {
          Candidate worse = first;

          first = urgent;
          urgent = worse;
          take_arena (arena, &other);
        }
    }
  candidate_clear (&urgent);
  return first;
}

/* Returns the schedule with the largest slack for which the arena stays within CLEAVE_ARENA_CLOSE
 * times the peak, and fills `arena` for it. Returns the schedule of `chosen` if no slack fits. */
static CleaveSchedule *
add_slack (Choosing *c, Candidate *chosen, CleaveArena *arena)
{
  static const double slacks[] = { INFINITY, 100000, 20000 };
  gint64 at_most = MAX ((gint64) (CLEAVE_ARENA_CLOSE * (double) arena->peak), arena->n_bytes);
  g_autoptr (CleaveSchedule) schedule = NULL;

  if (c->n_threads == 1 || c->task.n_buffers > MAX_LOOSE)
    return g_steal_pointer (&chosen->schedule);
  set_task (c, chosen);
  schedule = cleave_schedule_new (&c->task, c->n_threads);
  for (guint i = 0; i < G_N_ELEMENTS (slacks); i++)
    {
      g_auto (CleaveArena) other = { 0 };

      if (!cleave_arena_init_with_slack (&other, c->storage, c->graph, schedule, slacks[i],
                                         at_most))
        continue;
      take_arena (arena, &other);
      candidate_clear (chosen);
      return g_steal_pointer (&schedule);
    }
  return g_steal_pointer (&chosen->schedule);
}

static CleaveSchedule *
search (const CleaveStorage *storage,
        const CleaveGraph *graph,
        const guint *groups,
        guint n_groups,
        guint n_threads,
        gboolean places,
        CleaveArena *arena)
{
  guint n_steps = storage->steps->len;
  g_autofree guint *group = find_step_groups (storage, groups);
  g_autofree double *cost = g_new (double, n_steps + 1);
  g_autofree guint *along = g_new (guint, n_steps + 1);
  g_auto (CleaveDependencies) dependencies = { 0 };
  g_auto (CleaveTouches) touches = { 0 };
  Choosing choosing = {
    .storage = storage, .graph = graph, .n_threads = n_threads, .places = places
  };
  CleaveSchedule *schedule;
  Candidate chosen;

  cleave_dependencies_init (&dependencies, storage, graph);
  cleave_touches_init (&touches, storage, graph);
  for (guint s = 0; s < n_steps; s++)
    {
      along[s] = cleave_step_find_along (storage, s);
      cost[s] = cleave_step_estimate_cost (storage, s, along[s] != G_MAXUINT);
    }
  choosing.task = (CleaveScheduleTask){ .n_steps = n_steps,
                                        .begin = dependencies.begin,
                                        .preds = dependencies.preds,
                                        .cost = cost,
                                        .along = along,
                                        .group = group,
                                        .n_groups = n_groups,
                                        .touch_begin = touches.begin,
                                        .touched = (const guint *) (gpointer) touches.touched->data,
                                        .n_buffers = storage->buffers->len,
                                        .n_bytes = touches.n_bytes };
  chosen = choose (&choosing, arena);
  schedule = add_slack (&choosing, &chosen, arena);
  if (n_threads > 1)
    cleave_arena_keep_with_threads (arena, storage, graph, schedule);
  cleave_urgency_clear (&choosing.urgency);
  return schedule;
}

CleaveSchedule *
cleave_schedule_search_schedule (const CleaveStorage *storage,
                                 const CleaveGraph *graph,
                                 const guint *groups,
                                 guint n_groups,
                                 guint n_threads,
                                 CleaveArena *arena)
{
  return search (storage, graph, groups, n_groups, n_threads, TRUE, arena);
}

CleaveSchedule *
cleave_schedule_search_unplaced (const CleaveStorage *storage,
                                 const CleaveGraph *graph,
                                 const guint *groups,
                                 guint n_groups,
                                 CleaveArena *arena)
{
  return search (storage, graph, groups, n_groups, 1, FALSE, arena);
}

/* Returns the estimated time of a run in nanoseconds. For one thread, this is the sum of the
 * estimated times of all steps. For several threads, the sum is multiplied by a ratio: the end of
 * the schedule's last step, divided by the sum of the costs of all steps. */
double
cleave_schedule_search_estimate (const CleaveStorage *storage, const CleaveSchedule *schedule)
{
  g_autoptr (GHashTable) read = g_hash_table_new (NULL, NULL);
  double time = 0, cost = 0, end = 0;

  for (guint s = 0; s < storage->steps->len; s++)
    {
      time += cleave_step_estimate_time (storage, s, read);
      if (schedule->n_threads == 1)
        continue;
      cost +=
          cleave_step_estimate_cost (storage, s, cleave_step_find_along (storage, s) != G_MAXUINT);
      end = MAX (end, schedule->ends[s]);
    }
  return cost > 0 ? time * end / cost : time;
}
