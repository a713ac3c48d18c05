/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes rows of a float convolution with one input channel in each group, or a few
 * (grouped-sums.h). Channels are innermost. The caller loops over images, planes and rows, and
 * packs the weights once. */

#include "axis.h"
#include "epilogue.h"

typedef struct
{
  CleaveAxis depth, axis[2];
  gint64 begin_inner, end_inner; /* columns of y that read no padding */
  gint64 apart;             /* pixels from tap to tap (dilation / stride) if that is an integer */
  gint64 n_out, multiplier; /* channels of y; channels of y per channel of x */
  gint64 n_in;              /* channels of x that a group reads */
  gint64 w_step, w_channel; /* floats of the packed weights from tap to tap, and from channel to
                               channel in a group */
} CleaveDepthwise;

/* One row of y to compute. */
typedef struct
{
  CleaveTaps planes, taps; /* taps that read no padding: planes, and rows within a plane */
  const float *x;          /* the first plane and row that are read */
  const float *w, *bias;   /* packed weights of all taps; bias: may be NULL */
  float *y;
  const CleaveEpilogue *epilogue; /* NULL: none */
} CleaveDepthwiseRow;

/* Adjacent pixels of one row that all read the same taps. */
typedef struct
{
  const float *x, *w, *bias; /* address of the first tap; the bias may be NULL */
  float *y;
  gint64 n_planes, n_rows, n_columns; /* taps along planes, rows and columns */
  gint64 x_plane, x_row, x_column, x_pixel;
  gint64 w_plane, w_row, w_column, w_channel;
  gint64 y_pixel;
  gint64 apart;                   /* pixels from tap to tap if that is an integer */
  gint64 period;                  /* channels after which the weights repeat */
  int n_some;                     /* channels in a partly filled vector */
  const CleaveEpilogue *epilogue; /* NULL: none */
} CleaveDepthwiseRun;

#define cleave_depthwise_init CLEAVE_LEVELLED (cleave_depthwise_init)
#define cleave_depthwise_pack CLEAVE_LEVELLED (cleave_depthwise_pack)
#define cleave_depthwise_run_row CLEAVE_LEVELLED (cleave_depthwise_run_row)

/* Whether fewer channels than a vector has lanes are summed in a vector, too. At the level
 * without fused multiply-add, each lane calls fmaf, so empty lanes would cost as much as used
 * ones. */
#if defined(CLEAVE_HAS_FMA)
#define CLEAVE_DEPTHWISE_PARTIAL TRUE
#else
#define CLEAVE_DEPTHWISE_PARTIAL FALSE
#endif

/* Initializes d for weights `w`, packed for this kernel instance alone. */
void cleave_depthwise_init (CleaveDepthwise *d,
                            const CleaveKernelInstance *instance,
                            const CleaveView *w,
                            CleaveDims dims);
/* Packs weights: taps outermost, then input channels of a group, then output channels,
 * contiguous. */
void cleave_depthwise_pack (const CleaveView *w, float *to);
/* Computes one row. Applies epilogue ops where sums are vectors. */
void cleave_depthwise_run_row (const CleaveDepthwise *d, const CleaveDepthwiseRow *row);
