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
} CleaveProgress;

void cleave_progress_begin (CleaveProgress *progress, const char *what);
void cleave_progress_tell (CleaveProgress *progress, guint done, guint all);
void cleave_progress_end (CleaveProgress *progress);
