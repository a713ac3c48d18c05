/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <cleave/cleave-placement.h>

/* The runs of bytes of a place, in the order in which they are sent. */
typedef struct
{
  const CleaveMessagePlace *place;
  char *data;  /* what comes next */
  gint64 left; /* how much of the run; 0: the place is at its end */
  gint64 index[CLEAVE_MAX_RANK];
} CleaveRuns;

void cleave_runs_init (CleaveRuns *runs, const CleaveMessagePlace *place);
/* At most what is left of the run. */
void cleave_runs_skip (CleaveRuns *runs, gint64 n_bytes);
/* How many bytes there were: as many as in the one that has less. */
gint64 cleave_runs_copy (const CleaveMessagePlace *from, const CleaveMessagePlace *to);
/* From the first byte to the last. */
gint64 cleave_runs_get_span (const CleaveMessagePlace *place);
