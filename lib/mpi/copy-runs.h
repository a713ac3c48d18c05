/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

/* An iterator over the contiguous runs of bytes of a message's place, in the order in which they
 * are sent. */
typedef struct
{
  const CleaveMessagePlace *place;
  char *data;  /* address of the next byte */
  gint64 left; /* number of bytes of the current run from `data` on; 0: there are no more runs */
  gint64 index[CLEAVE_MAX_RANK];
} CleaveRuns;

void cleave_runs_init (CleaveRuns *runs, const CleaveMessagePlace *place);
/* Advances by `n_bytes`, at most to the end of the current run. */
void cleave_runs_skip (CleaveRuns *runs, gint64 n_bytes);
/* Copies bytes from one place to another, whose runs may differ. Returns the number of bytes
 * copied, which is the size of the smaller place. */
gint64 cleave_runs_copy (const CleaveMessagePlace *from, const CleaveMessagePlace *to);
/* Returns the number of bytes from the first byte of a place to its last byte, gaps included. */
gint64 cleave_runs_get_span (const CleaveMessagePlace *place);
