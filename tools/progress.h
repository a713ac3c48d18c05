/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Shows the progress of a long computation as a line on standard error: only on a terminal, and
 * only after one second. */
typedef struct
{
  const char *what;
  gint64 begin, last;
  gboolean shown;
} CleaveProgressLine;

void cleave_progress_begin (CleaveProgressLine *progress, const char *what);
void cleave_progress_tell (CleaveProgressLine *progress, guint done, guint all);
/* Shows the part that is done, from 0 to 1. A watch of a fit, with a CleaveProgressLine as data. */
void cleave_progress_tell_part (double part, gpointer progress);
void cleave_progress_end (CleaveProgressLine *progress);
