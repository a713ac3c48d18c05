/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "view.h"

/* A copy of `n_rows` rows of `n_bytes` bytes each. It is much smaller than two views and a nest of
 * loops, so a program of thousands of copies reads less memory. */
typedef struct
{
  char *to;
  const char *from;
  gint64 to_step, from_step; /* distances of adjacent rows, in bytes */
  gint64 n_bytes, n_rows;    /* n_rows 0: there is no copy */
} CleaveRowCopy;

/* Describes the copy between two views as a copy of rows. Returns FALSE if it is none, or if rows
 * are so short or so long that cleave_view_copy() has faster code. */
gboolean cleave_row_copy_init (CleaveRowCopy *rows, const CleaveView *to, const CleaveView *from);
void cleave_row_copy_run (const CleaveRowCopy *rows);
