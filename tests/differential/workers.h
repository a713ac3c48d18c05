/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Worker processes that judge seeds. If one crashes, its parent reports it and starts the next. */

#include "judge.h"

typedef struct
{
  guint64 first, n; /* seeds */
  guint n_jobs;
  gint64 seconds;    /* 0: until all seeds are done */
  gint64 hang_after; /* in seconds */
  guint max_failures;
  const char *folder; /* folder for failures; NULL: none */
  const char *counts; /* file for the counts; NULL: none */
} Plan;

/* Returns the number of failures. */
guint workers_run (const Plan *plan);
/* Judges one graph with one way in a process of its own. Frees both tapes. */
Verdict workers_judge (Report *report, Tape *graph, Tape *way, gint64 hang_after);
/* Allocates memory that processes share. */
Report *workers_new_report (void);
