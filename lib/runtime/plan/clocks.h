/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Vector clocks of a schedule: the number of steps of each thread that are certainly done when a
 * step begins.
 *
 * Steps begin in the schedule's order. A step that waits for a step of another thread takes over
 * its clock. A row of n_threads counts is kept only for a step that others still wait for, and
 * steps of one thread share a row until one of them waits. There are at most `max_rows` rows, so
 * memory grows with the number of steps alone. A step without a row is known to be done, but not
 * the steps that it waited for: clocks are lower bounds. */
typedef struct
{
  const CleaveSchedule *schedule;
  guint *latest;   /* [thread][thread]: the clock of the step of the thread that began last */
  guint *current;  /* indexed by thread: the row that equals its latest clock, or CLEAVE_NO_ROW */
  guint *row;      /* indexed by step: its row, or CLEAVE_NO_ROW */
  guint *n_waits;  /* indexed by step: number of waits for it that are still to come */
  GArray *counts;  /* guint: n_threads of each row */
  GArray *n_users; /* guint: by row, the number of steps and threads that refer to it */
  GArray *unused;  /* guint: rows without a user */
  guint max_rows;
} CleaveClocks;

#define CLEAVE_NO_ROW G_MAXUINT

void cleave_clocks_init (CleaveClocks *clocks, const CleaveSchedule *schedule);
void cleave_clocks_clear (CleaveClocks *clocks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveClocks, cleave_clocks_clear)

/* Announces a wait.  All waits are announced before the first step begins. */
void cleave_clocks_expect (CleaveClocks *clocks, CleaveWait wait);
/* Begins a step.  Returns its clock, which cleave_clocks_wait() raises. */
const guint *cleave_clocks_begin (CleaveClocks *clocks, guint step);
/* Adds an announced wait to the step that began last. Returns FALSE if earlier waits of the step
 * imply it. */
gboolean cleave_clocks_wait (CleaveClocks *clocks, guint step, CleaveWait wait);
/* Saves the clock of the step that began last, if other steps are going to wait for it. */
void cleave_clocks_end (CleaveClocks *clocks, guint step);
