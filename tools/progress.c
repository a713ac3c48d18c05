/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Prints a line on the terminal that replaces the line before it. The line appears after one second
 * of work, and changes at most ten times a second. */

#include "progress.h"

#include <stdio.h>
#include <unistd.h>

/* At least this many microseconds pass between two updates of the line. */
#define INTERVAL (G_USEC_PER_SEC / 10)

void
cleave_progress_begin (CleaveProgressLine *progress, const char *what)
{
  gint64 now = g_get_monotonic_time ();

  *progress = (CleaveProgressLine){ .what = what, .begin = now, .last = now };
}

void
cleave_progress_tell (CleaveProgressLine *progress, guint done, guint all)
{
  gint64 now = g_get_monotonic_time ();

  if (now - progress->begin < G_USEC_PER_SEC || now - progress->last < INTERVAL ||
      !isatty (STDERR_FILENO))
    return;
  progress->last = now;
  progress->shown = TRUE;
  if (all > 0)
    fprintf (stderr, "\r\033[K%s: %u of %u", progress->what, done, all);
  else
    fprintf (stderr, "\r\033[K%s: %u", progress->what, done);
  fflush (stderr);
}

void
cleave_progress_tell_part (double part, gpointer progress)
{
  cleave_progress_tell (progress, (guint) (100 * part), 100);
}

void
cleave_progress_end (CleaveProgressLine *progress)
{
  if (progress->shown)
    fputs ("\r\033[K", stderr);
  progress->shown = FALSE;
}
