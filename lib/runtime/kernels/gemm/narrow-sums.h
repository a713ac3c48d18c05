/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"
#include "../vector.h"

#include <glib.h>

#define cleave_narrow_sum CLEAVE_LEVELLED (cleave_narrow_sum)
#define cleave_narrow_transpose CLEAVE_LEVELLED (cleave_narrow_transpose)

/* Columns whose sums are in registers together. */
#define CLEAVE_NARROW_COLUMNS 4
#define CLEAVE_NARROW_TAPS 32

/* A tap in the direction of a row: where it reads for pixel 0, and the pixels for which there is
 * something to read. */
typedef struct
{
  gint64 phase, shift; /* pixel p reads column p + shift of a phase of x */
  gint64 x, a;         /* x: in transposed lines */
  gint64 begin, end;
} CleaveNarrowTap;

typedef struct
{
  gint64 a, y, bias;
} CleaveNarrowColumn;

/* Pixels of a row that meet the same taps, or padding, and are evenly spaced in y. */
typedef struct
{
  gint64 begin, end;
  gint64 y, y_step; /* pixel 0, which may not exist; and from one to the next */
  gint64 channel;   /* the first that they read */
  guint n_columns;
  CleaveNarrowColumn column[CLEAVE_NARROW_COLUMNS];
  gboolean dense;          /* the columns of a pixel lie side by side */
  guint first_tap, n_taps; /* of those that all jobs have */
} CleaveNarrowJob;

/* A row of x that is read. */
typedef struct
{
  const float *x; /* its first channel, where pixel 0 of a tap with x = 0 reads */
  const float *a;
} CleaveNarrowRow;

typedef struct
{
  guint n_rows;
  CleaveNarrowRow row[CLEAVE_NARROW_TAPS];
  gint64 x_line, lda, k; /* from channel to channel of x and of a; how many */
  const CleaveNarrowTap *taps;
  const float *bias; /* NULL: none */
  float *y;          /* of the row */
} CleaveNarrowWork;

/* Pixels [begin, end) of a row of y; up to a whole vector more may be read. */
void cleave_narrow_sum (const CleaveNarrowWork *work,
                        const CleaveNarrowJob *job,
                        gint64 begin,
                        gint64 end);
/* n pixels, `step` apart, of some channels: those of one channel side by side, lines `line` apart.
 */
void cleave_narrow_transpose (
    const float *x, gint64 step, gint64 n, gint64 n_channels, gint64 line, float *to);
