/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A copy of rows as a small struct, for programs. A program may have thousands of copies, such as
 * the strips of a fit. With this struct, the program reads less memory than with two views and a
 * nest of loops for each copy. lib/runtime stores the struct in the task of a COPY step;
 * copy-rows.c runs it. */

#include "view.h"

/* A copy of `n_rows` rows of `n_bytes` bytes each. */
typedef struct
{
  char *to;
  const char *from;
  gint64 to_step, from_step; /* distances of adjacent rows, in bytes */
  gint64 n_bytes, n_rows;    /* if `n_rows` is 0, nothing is copied */
} CleaveRowCopy;

/* Describes the copy between two views as a copy of rows. Returns FALSE if the views do not consist
 * of rows. Also returns FALSE if cleave_view_copy() has faster code: for rows of at most 8 bytes,
 * and for values of at least CLEAVE_STREAM_BYTES. */
gboolean cleave_row_copy_init (CleaveRowCopy *rows, const CleaveView *to, const CleaveView *from);
void cleave_row_copy_run (const CleaveRowCopy *rows);
