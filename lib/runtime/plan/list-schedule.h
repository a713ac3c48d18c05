/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* List scheduling: assigns steps to threads by simulating a run with estimated costs.
 * schedule-search.c makes many schedules with different memory budgets and different priorities of
 * steps (ranks), and keeps the best schedule.
 *
 * This struct is the input. Step s runs after its predecessors preds[begin[s] … begin[s + 1] - 1].
 * All predecessors of s have numbers smaller than s. */
typedef struct
{
  guint n_steps;
  const guint *begin, *preds;
  const double *cost;
  const guint *along; /* indexed by step: an earlier step right after which this step should run,
                         since it continues or overwrites that step's result; G_MAXUINT: none. NULL:
                         none for all steps */
  const guint *group; /* indexed by step: the parallel subgraph that contains the step; G_MAXUINT:
                         none. NULL: none for all steps */
  guint n_groups;
  /* Memory use of steps. Step s uses the buffers touched[touch_begin[s] … touch_begin[s + 1] - 1].
   * A buffer is live from the begin of its first user to the end of its last user. */
  const guint *touch_begin, *touched;
  guint n_buffers;
  const gint64 *n_bytes; /* indexed by buffer: its size in bytes */
  gint64 budget;         /* limit on the total bytes of live buffers; 0: no limit */
  gboolean in_order;     /* TRUE: take the ready step with the smallest rank, even if another thread
                            made it ready */
  const guint *rank;     /* indexed by step: its rank, the position in an order of priorities;
                            smaller ranks run first. NULL: the rank is the step's number */
  const guint *by_rank;  /* the inverse of `rank`: by_rank[rank[s]] = s */
} CleaveScheduleTask;

typedef struct
{
  guint thread, count; /* the wait ends when the first `count` steps of `thread` are done */
} CleaveWait;

/* Waits of all steps: step s has the waits list[first[s] … first[s + 1] - 1]. */
typedef struct
{
  guint *first;
  GArray *list; /* CleaveWait: the waits of step 0, then of step 1, and so on */
} CleaveWaits;

/* A schedule: the thread of each step, and the order of the steps of each thread. A schedule does
 * not depend on OpenMP, and does not change after it is made. */
typedef struct
{
  guint n_threads, n_steps;
  guint *order;     /* all steps, in an order in which a single thread could run them */
  guint *thread;    /* indexed by step: the thread that runs it */
  guint *index;     /* indexed by step: its index in the sequence of its thread */
  guint **sequence; /* indexed by thread: the steps of the thread, in order */
  guint *n_sequence;
  CleaveWaits needs;     /* waits for values that other threads compute */
  double *begins, *ends; /* indexed by step: estimated begin and end, in nanoseconds from the begin
                            of the run */
} CleaveSchedule;

/* Simulates a run with `n_threads` threads and returns its schedule. A free thread takes the first
 * step that exists in this list:
 * 1. the step that should run right after the thread's last step (`along`);
 * 2. the smallest ready step that the thread owns;
 * 3. the smallest ready step that no thread owns;
 * 4. the smallest ready step that another thread owns.
 *
 * The smallest step is the step with the smallest rank. A thread owns all steps of the parallel
 * subgraphs whose first step it took. A step outside parallel subgraphs belongs to the thread that
 * made the step ready. If `rank` is NULL, the rank of a step is its number. Steps are numbered
 * depth first: one subgraph after the other. So threads run about as many subgraphs at the same
 * time as there are threads. With `in_order`, rules 2 to 4 do not hold: a free thread takes the
 * smallest ready step of all threads. Threads then work close to each other in one subgraph and
 * need less memory. A step that would exceed the budget is delayed as long as other steps run or
 * can run. */
CleaveSchedule *cleave_schedule_new (const CleaveScheduleTask *task, guint n_threads);
void cleave_schedule_free (CleaveSchedule *schedule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSchedule, cleave_schedule_free)

/* Returns whether a step has waits. */
static inline gboolean
cleave_waits_has (const CleaveWaits *waits, guint step)
{
  return waits->first[step + 1] > waits->first[step];
}
