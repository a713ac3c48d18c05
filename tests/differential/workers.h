/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Processes that judge: what one of them dies of is told by its parent, and the next goes on. */

#include "judge.h"

typedef struct
{
  guint64 first, n; /* seeds */
  guint n_jobs;
  gint64 seconds;    /* 0: until all seeds are done */
  gint64 hang_after; /* seconds */
  guint max_failures;
  const char *folder; /* for what failed, or NULL */
  const char *counts; /* file, or NULL */
} Plan;

/* The number of failures. */
guint workers_run (const Plan *plan);
/* Judges one graph and one way, which it takes, in a process of its own. */
Verdict workers_judge (Report *report, Tape *graph, Tape *way, gint64 hang_after);
/* Memory that processes share. */
Report *workers_new_report (void);
