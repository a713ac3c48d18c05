/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

/* Reads the bytes of a message run by run. A place (CleaveMessagePlace) is the memory of a
 * message's value; a run is a contiguous range of its bytes. host-messages.c copies messages
 * between processes with these functions. Example: columns [0, 4) of a [3, 8] float value are 3
 * runs of 16 bytes, 32 bytes apart. */

/* An iterator over the contiguous runs of a message's value in memory, in the order in which they
 * are sent. */
typedef struct
{
  const CleaveMessagePlace *place;
  char *data;  /* address of the next byte of the value */
  gint64 left; /* number of bytes from `data` to the end of the current run; 0: there are no more
                * runs */
  gint64 index[CLEAVE_MAX_RANK];
} CleaveRuns;

void cleave_runs_init (CleaveRuns *runs, const CleaveMessagePlace *place);
/* Advances by `n_bytes` in the current run. At the end of the run, goes to the next run. */
void cleave_runs_skip (CleaveRuns *runs, gint64 n_bytes);
/* Copies a value from `from` to `to`. The contiguous runs of the two places may differ, for example
 * if `to` is dense. Returns the number of copied bytes: the size of the smaller place. */
gint64 cleave_runs_copy (const CleaveMessagePlace *from, const CleaveMessagePlace *to);
/* Returns the number of bytes from the first byte of a value in memory to its last byte, including
 * gaps between its runs. */
gint64 cleave_runs_get_span (const CleaveMessagePlace *place);
