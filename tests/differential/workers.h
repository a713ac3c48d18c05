/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Worker processes that judge seeds. differential.c makes a Plan from the command line and calls
 * workers_run(). Each worker judges some hundred seeds. If a worker crashes or hangs, its parent
 * reports the seed and starts another worker. */

#include "judge.h"

typedef struct
{
  guint64 first, n; /* first seed, and number of seeds */
  guint n_jobs;
  gint64 seconds;    /* time to run; 0: until all seeds are done */
  gint64 hang_after; /* a seed hangs after this many seconds */
  guint max_failures;
  const char *folder; /* folder in which failing cases are stored; NULL: they are not stored */
  const char *counts; /* file to which the counts are written; NULL: they are not written */
} Plan;

/* Judges all seeds of the plan in worker processes. Returns the number of seeds that failed. */
guint workers_run (const Plan *plan);
/* Judges a random graph after random changes (judge_way()) in a new process. Returns the verdict.
 * `graph` and `way` are the recorded random choices (tape.h) for the graph and for the changes.
 * Frees both. */
Verdict workers_judge (Report *report, Tape *graph, Tape *way, gint64 hang_after);
/* Allocates a report in memory that child processes share. */
Report *workers_new_report (void);
