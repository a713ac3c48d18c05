/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The plan of a convolution with few result channels: narrow.c makes it, narrow-run.c runs it. The
 * plan cuts the work on a row of y into jobs. narrow-sums.h defines jobs, phases and a tap's
 * shift. */

#include "../axis.h"
#include "narrow-sums.h"
#include "narrow.h"

/* MAX_PHASES: limit on the stride. MAX_SLOTS: limit on the number of rows of x that the taps for
 * one row of y read. The limits are the sizes of arrays in registers and on the stack. */
#define MAX_PHASES 4
#define MAX_SLOTS 16

struct _CleaveNarrow
{
  CleaveAxis rows, columns;
  gboolean transposed, nests;
  gint64 n_groups, n_in, n_out; /* number of groups; number of channels of one group in x; number of
                                   channels of one group in y */
  gint64 n_phases;   /* number of phases of a row of x. Phase q consists of the columns q, q +
                        n_phases, …; each phase is transposed separately */
  gint64 begin, end; /* the jobs compute the pixels [begin, end) of a row */
  /* smallest shift of all taps (narrow-sums.h), and largest shift minus smallest shift */
  gint64 least_shift, spread;
  /* number of pixels of a tile, which is a part of a row; distance in floats of adjacent channels
   * of a transposed row; number of transposed rows in scratch */
  gint64 tile, line, n_slots;
  gint64 lda, a_row;
  GArray *jobs, *taps;
};
