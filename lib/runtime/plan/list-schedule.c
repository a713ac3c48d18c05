/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Simulates a run. A step is ready if all its predecessors are done. Among the ready steps that fit
 * into the memory budget, each free thread prefers a step with a small rank. The rank of a step is
 * its position in an order of priorities. */

#include "list-schedule.h"

#include "../../ir/heap.h"
#include "schedule.h"

/* State of the simulation of a run, in which each step takes its estimated time. */
typedef struct
{
  const CleaveScheduleTask *task;
  CleaveSchedule *schedule;
  guint n_placed;
  guint *n_missing; /* indexed by step: number of its predecessors that have not finished */
  guint *first_succ, *succs;
  GPtrArray *ready; /* heaps of ready steps, given by their ranks: one heap for each thread, and a
                       last heap for steps that no thread owns */
  guint *owner;     /* indexed by parallel subgraph: the thread that took the first step of the
                       subgraph; n_threads: no thread yet */
  guint *running;   /* indexed by thread: the step that it runs; G_MAXUINT: none */
  guint *along; /* indexed by thread: the step that should run right after the step that the thread
                   ran last; G_MAXUINT: none */
  /* indexed by thread: the estimated time, in nanoseconds, at which its step ends */
  double *free_at;
  guint n_running;
  gint64 live;    /* total bytes of all live buffers */
  guint *n_begun; /* indexed by buffer: number of steps that use the buffer and have begun */
  /* indexed by buffer: number of steps that use the buffer and have not finished */
  guint *n_unused;
} Simulation;

static void
find_successors (Simulation *sim)
{
  const CleaveScheduleTask *task = sim->task;
  guint n = task->n_steps, *next;

  sim->first_succ = g_new0 (guint, n + 2);
  sim->succs = g_new (guint, task->begin[n] + 1);
  next = sim->first_succ + 1;
  for (guint i = 0; i < task->begin[n]; i++)
    next[task->preds[i] + 1]++;
  for (guint s = 0; s < n; s++)
    next[s + 1] += next[s];
  for (guint s = 0; s < n; s++)
    for (guint i = task->begin[s]; i < task->begin[s + 1]; i++)
      sim->succs[next[task->preds[i]]++] = s;
}

/* Returns the rank of a step: its index in the order of priorities. Each heap has the ready step
 * with the smallest rank on top. */
static guint
rank_of (const Simulation *sim, guint step)
{
  return sim->task->rank == NULL ? step : sim->task->rank[step];
}

static guint
step_of (const Simulation *sim, guint rank)
{
  return sim->task->by_rank == NULL || rank == G_MAXUINT ? rank : sim->task->by_rank[rank];
}

static guint
get_group (const Simulation *sim, guint step)
{
  return sim->task->group == NULL ? G_MAXUINT : sim->task->group[step];
}

/* Pushes a ready step to the heap of the thread that owns the step's parallel subgraph. A step
 * outside all parallel subgraphs goes to the heap of `thread`, which made the step ready. */
static void
push_ready (Simulation *sim, guint step, guint thread)
{
  guint group = get_group (sim, step);

  cleave_heap_push (sim->ready->pdata[group == G_MAXUINT ? thread : sim->owner[group]],
                    rank_of (sim, step));
}

/* Returns the bytes of the buffers that `step` would be the first step to use. */
static gint64
count_new (const Simulation *sim, guint step)
{
  const CleaveScheduleTask *task = sim->task;
  gint64 n_bytes = 0;

  for (guint i = task->touch_begin[step]; i < task->touch_begin[step + 1]; i++)
    if (sim->n_begun[task->touched[i]] == 0)
      n_bytes += task->n_bytes[task->touched[i]];
  return n_bytes;
}

static gboolean
fits (const Simulation *sim, guint step)
{
  gint64 n_bytes = sim->task->budget == 0 ? 0 : count_new (sim, step);

  return n_bytes == 0 || sim->live + n_bytes <= sim->task->budget;
}

static void
use_buffers (Simulation *sim, guint step)
{
  const CleaveScheduleTask *task = sim->task;

  if (task->budget == 0)
    return;
  sim->live += count_new (sim, step);
  for (guint i = task->touch_begin[step]; i < task->touch_begin[step + 1]; i++)
    sim->n_begun[task->touched[i]]++;
}

static void
leave_buffers (Simulation *sim, guint step)
{
  const CleaveScheduleTask *task = sim->task;

  if (task->budget == 0)
    return;
  for (guint i = task->touch_begin[step]; i < task->touch_begin[step + 1]; i++)
    if (--sim->n_unused[task->touched[i]] == 0)
      sim->live -= task->n_bytes[task->touched[i]];
}

/* Makes a step ready after its last predecessor, `pred`, has finished on `thread`. The first step
 * that should run right after `pred` (`along`) becomes the next step of `thread`. All other steps
 * go to a heap. */
static void
release (Simulation *sim, guint step, guint pred, guint thread)
{
  if (sim->task->along != NULL && sim->task->along[step] == pred && sim->along[thread] == G_MAXUINT)
    sim->along[thread] = step;
  else
    push_ready (sim, step, thread);
}

static void
finish (Simulation *sim, guint thread)
{
  guint step = sim->running[thread];

  sim->running[thread] = G_MAXUINT;
  sim->n_running--;
  leave_buffers (sim, step);
  for (guint i = sim->first_succ[step]; i < sim->first_succ[step + 1]; i++)
    {
      guint succ = sim->succs[i];

      if (--sim->n_missing[succ] == 0)
        release (sim, succ, step, thread);
    }
}

/* Moves ready steps from the heap without an owner to the heap of the thread that has become the
 * owner of their parallel subgraph. Stops at the first step whose subgraph has no owner. */
static void
hand_over (Simulation *sim)
{
  guint n_threads = sim->schedule->n_threads;
  GArray *free = sim->ready->pdata[n_threads];

  while (free->len > 0)
    {
      guint group = get_group (sim, step_of (sim, cleave_heap_top (free)));

      if (group == G_MAXUINT || sim->owner[group] == n_threads)
        return;
      cleave_heap_push (sim->ready->pdata[sim->owner[group]], cleave_heap_pop (free));
    }
}

/* Returns the index of the heap whose top step has the smallest rank. Unless `of_all`, ignores
 * heaps whose top step would exceed the budget. Returns G_MAXUINT if all heaps are empty or
 * ignored. */
static guint
find_smallest (const Simulation *sim, gboolean of_all)
{
  guint best = G_MAXUINT, least = G_MAXUINT;

  for (guint h = 0; h < sim->ready->len; h++)
    {
      guint top = cleave_heap_top (sim->ready->pdata[h]);

      if (top >= least || (!of_all && !fits (sim, step_of (sim, top))))
        continue;
      best = h;
      least = top;
    }
  return best;
}

static gboolean
can_take (const Simulation *sim, guint heap)
{
  guint top = cleave_heap_top (sim->ready->pdata[heap]);

  return top != G_MAXUINT && fits (sim, step_of (sim, top));
}

static guint
take_along (Simulation *sim, guint thread)
{
  guint step = sim->along[thread];

  sim->along[thread] = G_MAXUINT;
  return step;
}

/* Returns the index of the heap from which a free thread takes a step that fits the budget. Unless
 * steps run `in_order`, the thread prefers its own heap, then the heap of steps that no thread
 * owns. Its last choice is the heap that find_smallest() returns. */
static guint
find_heap (const Simulation *sim, guint thread)
{
  guint n_threads = sim->schedule->n_threads;

  if (!sim->task->in_order && can_take (sim, thread))
    return thread;
  if (!sim->task->in_order && can_take (sim, n_threads))
    return n_threads;
  return find_smallest (sim, FALSE);
}

/* Takes a step for a free thread. If no step fits the budget and no running step could free memory,
 * takes the step that a single thread would run next. Returns G_MAXUINT if the thread gets no
 * step. */
static guint
take (Simulation *sim, guint thread)
{
  guint from, n_threads = sim->schedule->n_threads, step, group;

  hand_over (sim);
  from = find_heap (sim, thread);
  if (from == G_MAXUINT && sim->n_running == 0)
    from = find_smallest (sim, TRUE);
  if (from == G_MAXUINT)
    return G_MAXUINT;
  step = step_of (sim, cleave_heap_pop (sim->ready->pdata[from]));
  group = get_group (sim, step);
  if (group != G_MAXUINT && sim->owner[group] == n_threads)
    sim->owner[group] = thread;
  return step;
}

static void
start (Simulation *sim, guint thread, guint step, double now)
{
  CleaveSchedule *schedule = sim->schedule;

  schedule->order[sim->n_placed++] = step;
  schedule->thread[step] = thread;
  schedule->index[step] = schedule->n_sequence[thread]++;
  sim->running[thread] = step;
  sim->n_running++;
  use_buffers (sim, step);
  sim->free_at[thread] = now + sim->task->cost[step];
  schedule->begins[step] = now;
  schedule->ends[step] = sim->free_at[thread];
}

/* Returns the busy thread whose step ends first. If several steps end at the same time, returns the
 * thread with the smallest number. */
static guint
next_to_finish (const Simulation *sim)
{
  guint next = G_MAXUINT;

  for (guint t = 0; t < sim->schedule->n_threads; t++)
    if (sim->running[t] != G_MAXUINT && (next == G_MAXUINT || sim->free_at[t] < sim->free_at[next]))
      next = t;
  return next;
}

/* Starts steps on free threads. A search for a step compares the heaps of all threads. If one
 * thread finds no step, the other threads do not search until a step starts, so that most threads
 * need no search. */
static void
start_steps (Simulation *sim, double now)
{
  gboolean none = FALSE;

  for (guint t = 0; t < sim->schedule->n_threads; t++)
    {
      guint step;

      if (sim->running[t] != G_MAXUINT)
        continue;
      step = take_along (sim, t);
      if (step == G_MAXUINT && !none)
        step = take (sim, t);
      none = none || step == G_MAXUINT;
      if (step == G_MAXUINT)
        continue;
      start (sim, t, step, now);
      none = FALSE;
    }
}

/* Runs the simulation until all steps are done. The simulation cannot get stuck. If no thread runs
 * a step, the undone step with the smallest number is ready, since all its predecessors have
 * smaller numbers. A free thread then takes a ready step, even if the step exceeds the budget. */
static void
simulate (Simulation *sim)
{
  double now = 0;

  while (sim->n_placed < sim->task->n_steps)
    {
      guint thread;

      start_steps (sim, now);
      thread = next_to_finish (sim);
      g_assert (thread != G_MAXUINT);
      now = sim->free_at[thread];
      finish (sim, thread);
    }
}

static void
count_uses (Simulation *sim)
{
  const CleaveScheduleTask *task = sim->task;

  sim->n_begun = g_new0 (guint, task->n_buffers + 1);
  sim->n_unused = g_new0 (guint, task->n_buffers + 1);
  for (guint i = 0; task->budget != 0 && i < task->touch_begin[task->n_steps]; i++)
    sim->n_unused[task->touched[i]]++;
}

static void
run_simulation (Simulation *sim)
{
  const CleaveScheduleTask *task = sim->task;
  guint n_threads = sim->schedule->n_threads;

  find_successors (sim);
  count_uses (sim);
  sim->n_missing = g_new (guint, task->n_steps);
  sim->running = g_new (guint, n_threads);
  sim->along = g_new (guint, n_threads);
  sim->free_at = g_new0 (double, n_threads);
  sim->owner = g_new (guint, task->n_groups + 1);
  for (guint g = 0; g < task->n_groups; g++)
    sim->owner[g] = n_threads;
  sim->ready = g_ptr_array_new_with_free_func ((GDestroyNotify) g_array_unref);
  for (guint t = 0; t <= n_threads; t++)
    g_ptr_array_add (sim->ready, g_array_new (FALSE, FALSE, sizeof (guint)));
  for (guint t = 0; t < n_threads; t++)
    sim->running[t] = sim->along[t] = G_MAXUINT;
  for (guint s = 0; s < task->n_steps; s++)
    {
      sim->n_missing[s] = task->begin[s + 1] - task->begin[s];
      if (sim->n_missing[s] == 0)
        cleave_heap_push (sim->ready->pdata[n_threads], rank_of (sim, s));
    }
  simulate (sim);
  g_free (sim->n_missing);
  g_free (sim->running);
  g_free (sim->along);
  g_free (sim->free_at);
  g_free (sim->owner);
  g_free (sim->first_succ);
  g_free (sim->succs);
  g_free (sim->n_begun);
  g_free (sim->n_unused);
  g_ptr_array_unref (sim->ready);
}

/* Fills the schedule of a program with one thread, which runs the steps in the order of their
 * numbers. */
static void
keep_order (CleaveSchedule *schedule)
{
  for (guint s = 0; s < schedule->n_steps; s++)
    {
      schedule->order[s] = schedule->index[s] = s;
      schedule->begins[s] = s;
      schedule->ends[s] = s + 1;
    }
  schedule->n_sequence[0] = schedule->n_steps;
}

CleaveSchedule *
cleave_schedule_new (const CleaveScheduleTask *task, guint n_threads)
{
  CleaveSchedule *schedule = cleave_schedule_new_empty (task, n_threads);
  Simulation sim = { .task = task, .schedule = schedule };

  if (n_threads == 1)
    keep_order (schedule);
  else
    run_simulation (&sim);
  cleave_schedule_close (schedule, task);
  return schedule;
}
