/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Vector clocks of a schedule. The clock of a step gives, for each thread, the number of steps that
 * are certainly done when the step begins. waits.c uses clocks to remove waits that other waits
 * imply; lifetimes.c uses them to find uses of memory whose end is certain. Example: if a step
 * waits for step 4 of thread 1, its clock says that thread 1 has done 5 steps.
 *
 * The caller begins steps in the schedule's order. If a step waits for a step of another thread,
 * its clock is raised to the clock of that step. A clock is stored, as a row of n_threads counts,
 * only for a step for which other steps still wait. Steps of one thread share a row until one of
 * them waits. There are at most `max_rows` rows. This limit is chosen so that the memory of all
 * rows is proportional to the number of steps, whatever the number of threads. If no row stores the
 * clock of a step, other steps that wait for this step do not learn its clock. So the counts of all
 * clocks are lower bounds. */
typedef struct
{
  const CleaveSchedule *schedule;
  guint *latest;   /* indexed by [thread t][thread u]: the count of thread u in the clock of the
                      latest step that t began */
  guint *current;  /* indexed by thread: the row that stores the latest clock of the thread;
                      CLEAVE_NO_ROW: no row stores this clock */
  guint *row;      /* indexed by step: the row that stores the clock of the step; CLEAVE_NO_ROW: no
                      row stores this clock */
  guint *n_waits;  /* indexed by step s: number of other steps that will wait for s.
                      cleave_clocks_expect() adds to this number, and cleave_clocks_wait() subtracts
                      from it */
  GArray *counts;  /* guint: n_threads counts for each row */
  GArray *n_users; /* guint, indexed by row: number of elements of `row` and `current` that refer to
                      the row */
  GArray *unused;  /* guint: indices of the rows to which no step and no thread refers */
  guint max_rows;
} CleaveClocks;

#define CLEAVE_NO_ROW G_MAXUINT

void cleave_clocks_init (CleaveClocks *clocks, const CleaveSchedule *schedule);
void cleave_clocks_clear (CleaveClocks *clocks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveClocks, cleave_clocks_clear)

/* Announces that some step will wait as `wait` says. The caller announces all waits of all steps
 * with this function before the first step begins. */
void cleave_clocks_expect (CleaveClocks *clocks, CleaveWait wait);
/* Begins a step. Returns the step's clock; later calls of cleave_clocks_wait() raise its counts. */
const guint *cleave_clocks_begin (CleaveClocks *clocks, guint step);
/* Makes `step`, the step that began last, wait for another step: raises the counts of the clock of
 * `step`. The caller must have announced the wait with cleave_clocks_expect(). Returns FALSE if
 * earlier waits of `step` imply this wait. */
gboolean cleave_clocks_wait (CleaveClocks *clocks, guint step, CleaveWait wait);
/* Ends `step`, the step that began last. If other steps will wait for `step`, stores the vector
 * clock of `step` in a row of `counts`. */
void cleave_clocks_end (CleaveClocks *clocks, guint step);
