/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* A line on standard error that says how far a longer work has come: only on a terminal, and only
 * once a second has gone by. */
typedef struct
{
  const char *what;
  gint64 begin, last;
  gboolean shown;
} CleaveProgressLine;

void cleave_progress_begin (CleaveProgressLine *progress, const char *what);
void cleave_progress_tell (CleaveProgressLine *progress, guint done, guint all);
void cleave_progress_end (CleaveProgressLine *progress);
