/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Shows the progress of a search or of repeated runs. cmd-fit.c, cmd-split.c and execute.c begin a
 * line, report progress and end the line. The line never goes to a file or a pipe. */

#include <glib.h>

/* A line on standard error with the progress of a computation. The line appears only on a terminal,
 * and only after one second. */
typedef struct
{
  const char *what;
  gint64 begin, last;
  gboolean shown;
} CleaveProgressLine;

void cleave_progress_begin (CleaveProgressLine *progress, const char *what);
void cleave_progress_tell (CleaveProgressLine *progress, guint done, guint all);
/* Shows the fraction `part` of the work that is done, from 0 to 1. The search of a fit calls this
 * function as its `watch` (CleaveFitOptions). `progress` is a CleaveProgressLine. */
void cleave_progress_tell_part (double part, gpointer progress);
void cleave_progress_end (CleaveProgressLine *progress);
