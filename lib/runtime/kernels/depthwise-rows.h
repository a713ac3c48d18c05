/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Rows of a convolution with one input channel in each group, or a few (grouped-sums.h), of floats
 * with channels innermost. */

#include "axis.h"
#include "epilogue.h"

typedef struct
{
  CleaveAxis depth, axis[2];
  gint64 begin_inner, end_inner; /* columns of y that read no padding */
  gint64 apart;                  /* pixels from tap to tap of a row, if that is a whole number */
  gint64 n_out, multiplier;      /* channels of y, for each of x */
  gint64 n_in;                   /* channels of x that a group reads */
  gint64 w_step, w_channel;      /* from tap to tap of the packed weights, and within one */
} CleaveDepthwise;

/* A row of y. */
typedef struct
{
  CleaveTaps planes, taps; /* and of the rows of x */
  const float *x;          /* of the first plane and row that are read */
  const float *w, *bias;   /* of all taps, packed; bias may be NULL */
  float *y;
  const CleaveEpilogue *epilogue; /* NULL: none */
} CleaveDepthwiseRow;

/* A run of pixels of one row that all read the same taps. */
typedef struct
{
  const float *x, *w, *bias; /* of the first tap; bias may be NULL */
  float *y;
  gint64 n_planes, n_rows, n_columns; /* taps */
  gint64 x_plane, x_row, x_column, x_pixel;
  gint64 w_plane, w_row, w_column, w_channel;
  gint64 y_pixel;
  gint64 apart;                   /* pixels from tap to tap, if that is a whole number */
  gint64 period;                  /* channels after which weights begin again */
  int n_some;                     /* of a vector that has only some */
  const CleaveEpilogue *epilogue; /* NULL: none */
} CleaveDepthwiseRun;

#define cleave_depthwise_init CLEAVE_LEVELLED (cleave_depthwise_init)
#define cleave_depthwise_pack CLEAVE_LEVELLED (cleave_depthwise_pack)
#define cleave_depthwise_run_row CLEAVE_LEVELLED (cleave_depthwise_run_row)

/* Whether fewer channels than a vector has are summed in one, too.  Where each lane is a call of
 * fmaf, those that are empty would cost as much as the others. */
#define CLEAVE_DEPTHWISE_PARTIAL (CLEAVE_VECTOR > 4)

/* With weights packed for this kernel instance alone. */
void cleave_depthwise_init (CleaveDepthwise *d,
                            const CleaveKernelInstance *instance,
                            const CleaveView *w,
                            CleaveDims dims);
/* Taps first, in each what a group reads, channels side by side. */
void cleave_depthwise_pack (const CleaveView *w, float *to);
/* Epilogues are done where sums are vectors. */
void cleave_depthwise_run_row (const CleaveDepthwise *d, const CleaveDepthwiseRow *row);
