/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* List scheduling: assigns steps to threads by simulating a run with estimated costs.
 *
 * The input. Step s runs after the steps preds[begin[s] … begin[s + 1] - 1], which have smaller
 * numbers. */
typedef struct
{
  guint n_steps;
  const guint *begin, *preds;
  const double *cost;
  const guint *along; /* indexed by step: the step whose result it continues or overwrites, so that
                       * it is best run right after that step; G_MAXUINT: none. NULL: all are
                       * none */
  const guint *group; /* indexed by step: the parallel subgraph that contains it; G_MAXUINT: none.
                       * NULL: all are none */
  guint n_groups;
  /* Memory. Step s uses the buffers touched[touch_begin[s] … touch_begin[s + 1] - 1]. A buffer is
   * live from when its first user begins until its last user ends. */
  const guint *touch_begin, *touched;
  guint n_buffers;
  const gint64 *n_bytes; /* indexed by buffer */
  gint64 budget;         /* limit in bytes for all live buffers; 0: none */
  gboolean in_order;     /* take the smallest ready step, even if another thread made it ready */
  const guint *rank; /* indexed by step: steps of smaller rank run first; NULL: the step's number */
  const guint *by_rank; /* indexed by rank: the step */
} CleaveScheduleTask;

typedef struct
{
  guint thread, count; /* wait until this many steps of the thread are done */
} CleaveWait;

/* The waits of step s are list[first[s] … first[s + 1] - 1]. */
typedef struct
{
  guint *first;
  GArray *list; /* CleaveWait: of all steps, step by step */
} CleaveWaits;

/* A schedule: which thread runs which steps, and in which order. It does not depend on OpenMP, and
 * does not change once made. */
typedef struct
{
  guint n_threads, n_steps;
  guint *order;     /* all steps, in an order in which one thread could run them */
  guint *thread;    /* indexed by step */
  guint *index;     /* indexed by step: its index in the thread's sequence */
  guint **sequence; /* indexed by thread: its steps */
  guint *n_sequence;
  CleaveWaits needs;     /* waits for values that other threads compute */
  double *begins, *ends; /* indexed by step: estimated times */
} CleaveSchedule;

/* Simulates a run of `n_threads` threads and returns its schedule. A free thread takes the first
 * of:
 * 1. the step that goes along with its last one;
 * 2. the smallest ready step of its own: it made the step ready, or it owns the step's group, since
 * it took the first step of that group;
 * 3. the smallest ready step that no thread owns;
 * 4. the smallest ready step of the other threads.
 *
 * Numbers go depth first, so that as many subgraphs as threads are in flight. With `in_order`, a
 * thread takes the smallest ready step of all threads, after rule 1: within one subgraph, threads
 * then stay close to each other and need less memory. If there are ranks, the smallest step is the
 * step of the smallest rank. A step that would exceed the budget is delayed as long as others run
 * or can run. */
CleaveSchedule *cleave_schedule_new (const CleaveScheduleTask *task, guint n_threads);
void cleave_schedule_free (CleaveSchedule *schedule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSchedule, cleave_schedule_free)

/* Returns whether a step has waits. */
static inline gboolean
cleave_waits_has (const CleaveWaits *waits, guint step)
{
  return waits->first[step + 1] > waits->first[step];
}
