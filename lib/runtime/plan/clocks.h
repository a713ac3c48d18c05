/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "list-schedule.h"

/* Vector clocks of a schedule. The clock of a step has, for each thread, the number of steps that
 * are certainly done when the step begins.
 *
 * The caller begins steps in the schedule's order. A step that waits for a step of another thread
 * takes over the counts of that step's clock. A row of n_threads counts is stored only for a step
 * for which others still wait. Steps of one thread share a row until one of them waits. There are
 * at most `max_rows` rows, so memory grows with the number of steps alone. For a step without a
 * row, the steps for which it waited are unknown: clocks are lower bounds. */
typedef struct
{
  const CleaveSchedule *schedule;
  guint *latest;  /* [thread][thread]: clock of the step of the first thread that began last */
  guint *current; /* indexed by thread: the row that equals its latest clock; CLEAVE_NO_ROW: none */
  guint *row;     /* indexed by step: its row; CLEAVE_NO_ROW: none */
  guint *n_waits; /* indexed by step: number of waits for the step that are still to come */
  GArray *counts; /* guint: n_threads counts for each row */
  GArray *n_users; /* guint, indexed by row: number of steps and threads that refer to the row */
  GArray *unused;  /* guint: indices of rows without a user */
  guint max_rows;
} CleaveClocks;

#define CLEAVE_NO_ROW G_MAXUINT

void cleave_clocks_init (CleaveClocks *clocks, const CleaveSchedule *schedule);
void cleave_clocks_clear (CleaveClocks *clocks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (CleaveClocks, cleave_clocks_clear)

/* Announces a wait. The caller announces all waits before the first step begins. */
void cleave_clocks_expect (CleaveClocks *clocks, CleaveWait wait);
/* Begins a step. Returns its clock, which later calls of cleave_clocks_wait() raise. */
const guint *cleave_clocks_begin (CleaveClocks *clocks, guint step);
/* Lets the step that began last wait, with a wait that was announced. Returns FALSE if earlier
 * waits of the step imply this wait. */
gboolean cleave_clocks_wait (CleaveClocks *clocks, guint step, CleaveWait wait);
/* Ends the step that began last. Stores its clock if other steps are going to wait for the step. */
void cleave_clocks_end (CleaveClocks *clocks, guint step);
