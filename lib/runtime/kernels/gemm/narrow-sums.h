/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../level.h"
#include "../vector.h"

#include <glib.h>

#define cleave_narrow_sum CLEAVE_LEVELLED (cleave_narrow_sum)
#define cleave_narrow_transpose CLEAVE_LEVELLED (cleave_narrow_transpose)

/* Computes the sums of the narrow kernel (narrow.h), whose vectors hold pixels of a row.
 * narrow-run.c transposes rows of x and calls cleave_narrow_sum() for each row of y.
 *
 * A column is a channel of y. The work on a row of y is divided into jobs: a job is a range of
 * pixels, and a few columns to compute for these pixels (CleaveNarrowJob).
 *
 * A phase of a row of x is the pixels with the same index modulo the stride. Example with stride 2:
 * phase 0 is the pixels 0, 2, 4, …, and phase 1 is the pixels 1, 3, 5, …. Adjacent pixels of y read
 * adjacent elements of one phase. */

/* Largest number of columns of a job: the sums of all its columns are in registers at the same
 * time. */
#define CLEAVE_NARROW_COLUMNS 4
#define CLEAVE_NARROW_TAPS 32

/* A tap of the convolution's kernel: the elements that it reads for the pixels of one row of y. For
 * pixels outside the range [begin, end), the tap reads padding instead of data. */
typedef struct
{
  gint64 phase, shift; /* for pixel p of the row of y, the tap reads element p + shift of phase
                          `phase` of a row of x. Phase q consists of the pixels q, q + stride, … */
  gint64 x, a; /* x: offset, in the transposed rows of x, of the element that the tap reads for
                  pixel 0; a: offset in the weights; both in floats */
  gint64 begin, end;
} CleaveNarrowTap;

typedef struct
{
  gint64 a, y, bias;
} CleaveNarrowColumn;

/* A job: the pixels [begin, end) of a row of y, and the columns that are computed for these pixels.
 * All pixels of a job use the same taps, and are evenly spaced in y. */
typedef struct
{
  gint64 begin, end;
  gint64 y, y_step; /* y: offset of pixel 0, which may lie outside of y; y_step: distance of
                       adjacent pixels; both in elements */
  gint64 channel;   /* first channel of x that the columns of the job read */
  guint n_columns;
  CleaveNarrowColumn column[CLEAVE_NARROW_COLUMNS];
  gboolean dense;          /* TRUE: the columns of the job are contiguous in y */
  guint first_tap, n_taps; /* taps of the job: index of the first tap in the array of all taps, and
                              number of taps */
} CleaveNarrowJob;

/* One of the transposed rows of x that a row of y reads, and the weights `a` by which the kernel
 * multiplies the row. */
typedef struct
{
  /* address in the transposed row, at the first channel that the current job reads: for pixel p of
   * y, tap `t` reads the element x[t.x + p] */
  const float *x;
  const float *a;
} CleaveNarrowRow;

typedef struct
{
  guint n_rows;
  CleaveNarrowRow row[CLEAVE_NARROW_TAPS];
  /* distances of adjacent channels in x and in a, in floats; number of channels */
  gint64 x_line, lda, k;
  const CleaveNarrowTap *taps;
  const float *bias; /* bias of each column; NULL: none */
  float *y;          /* address of the row of y */
} CleaveNarrowWork;

/* Computes pixels [begin, end) of a row of y. May read up to a whole vector beyond the last
 * pixel. */
void cleave_narrow_sum (const CleaveNarrowWork *work,
                        const CleaveNarrowJob *job,
                        gint64 begin,
                        gint64 end);
/* Transposes n pixels that are `step` floats apart, so that the elements of each channel become a
 * contiguous line. Lines are `line` floats apart. */
void cleave_narrow_transpose (
    const float *x, gint64 step, gint64 n, gint64 n_channels, gint64 line, float *to);
