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

/* A tap along a row: its position for pixel 0, and the pixels for which it reads data rather
 * than padding. */
typedef struct
{
  gint64 phase, shift; /* pixel p reads column p + shift of a phase of x */
  gint64 x, a;         /* offset in x, in transposed lines; offset in a */
  gint64 begin, end;
} CleaveNarrowTap;

typedef struct
{
  gint64 a, y, bias;
} CleaveNarrowColumn;

/* Some pixels and columns of a row. The pixels use the same taps and are evenly spaced in y. */
typedef struct
{
  gint64 begin, end;
  gint64 y, y_step; /* y: offset of pixel 0, which may be outside; y_step: from pixel to pixel */
  gint64 channel;   /* first channel that they read */
  guint n_columns;
  CleaveNarrowColumn column[CLEAVE_NARROW_COLUMNS];
  gboolean dense;          /* the columns of a pixel are contiguous */
  guint first_tap, n_taps; /* index into the taps of all jobs */
} CleaveNarrowJob;

/* A row of x that is read. */
typedef struct
{
  const float *x; /* address of the first channel that pixel 0 reads at a tap with x = 0 */
  const float *a;
} CleaveNarrowRow;

typedef struct
{
  guint n_rows;
  CleaveNarrowRow row[CLEAVE_NARROW_TAPS];
  gint64 x_line, lda, k; /* x_line, lda: floats from channel to channel, of x and of a; k: number of
                          * channels */
  const CleaveNarrowTap *taps;
  const float *bias; /* NULL: none */
  float *y;          /* the row */
} CleaveNarrowWork;

/* Computes pixels [begin, end) of a row of y. May read up to a whole vector more. */
void cleave_narrow_sum (const CleaveNarrowWork *work,
                        const CleaveNarrowJob *job,
                        gint64 begin,
                        gint64 end);
/* Transposes n pixels, `step` apart: the elements of one channel become a contiguous line. Lines
 * are `line` apart. */
void cleave_narrow_transpose (
    const float *x, gint64 step, gint64 n, gint64 n_channels, gint64 line, float *to);
