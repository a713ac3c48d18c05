/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Steps, each after those of preds[begin[s] … begin[s + 1] - 1], all of which have a smaller
 * number. */
typedef struct
{
  guint n_steps;
  const guint *begin, *preds;
  const double *cost;
  const guint *along; /* of each step: the one whose result it overwrites, so that both are best
                         done together, or G_MAXUINT; NULL: no step does */
  const guint *group; /* of each step: the parallel subgraph that it is in, or G_MAXUINT; NULL: none
                         is in any */
  guint n_groups;
  /* Memory: the buffers that each step uses, touched[touch_begin[s] … touch_begin[s + 1] - 1], each
   * there from the first step that begins with it to the last that is done with it. */
  const guint *touch_begin, *touched;
  guint n_buffers;
  const gint64 *n_bytes; /* of each buffer */
  gint64 budget;         /* bytes that buffers are to keep below; 0: as much as they take */
  gboolean in_order;     /* the smallest step is next, whatever made it possible */
  const guint *rank;     /* of each step: it is ready before greater ones; NULL: its number */
  const guint *by_rank;  /* the step of each */
} CleaveScheduleTask;

typedef struct
{
  guint thread, count; /* wait until so many steps of that thread are done */
} CleaveWait;

/* What steps wait for: list[first[s] … first[s + 1] - 1] before step s. */
typedef struct
{
  guint *first;
  GArray *list; /* CleaveWait */
} CleaveWaits;

/* Which thread runs which steps, in which order.  Threads are sequences: what OpenMP makes of them
 * is not known here.  Once made it does not change. */
typedef struct
{
  guint n_threads, n_steps;
  guint *order;     /* all steps, so that running them one after the other in this order is right as
                       well */
  guint *thread;    /* of each step */
  guint *index;     /* of each step in its thread */
  guint **sequence; /* of each thread: its steps */
  guint *n_sequence;
  CleaveWaits needs;     /* for values that other threads make */
  double *begins, *ends; /* of each step: by estimated cost */
} CleaveSchedule;

/* Lists the steps onto threads.  A thread that is free goes on with what its last step made
 * possible, first with what goes along with that, then the smallest number.  When there is nothing
 * it begins with a group, which is its own from then on, and when there is none left takes the
 * smallest from the others: since the numbers go depth first, as many subgraphs as threads are in
 * flight.  In order, it takes the smallest of all at once: where all is one subgraph, threads stay
 * close to each other, and so need less memory.  With ranks it is the least rank wherever it says
 * the smallest number.  Steps that would exceed the budget are put off as long as others run, or
 * can. */
CleaveSchedule *cleave_schedule_new (const CleaveScheduleTask *task, guint n_threads);
void cleave_schedule_free (CleaveSchedule *schedule);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSchedule, cleave_schedule_free)

/* Whether a step waits for any. */
static inline gboolean
cleave_waits_has (const CleaveWaits *waits, guint step)
{
  return waits->first[step + 1] > waits->first[step];
}
