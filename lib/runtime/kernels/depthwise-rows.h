/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes rows of a float convolution whose groups have one operand channel, or a few
 * (grouped-sums.h). Channels are innermost. depthwise.c and depthwise-transpose.c loop over images,
 * planes and rows, pack the weights once, and call cleave_depthwise_run_row() for each row. */

#include "axis.h"
#include "epilogue.h"

typedef struct
{
  CleaveAxis depth, axis[2];
  gint64 begin_inner, end_inner; /* columns [begin_inner, end_inner) of y read no padding */
  gint64 apart; /* distance of adjacent taps, in pixels of y: dilation / stride; 1 if the quotient
                   is not an integer */
  /* number of channels of y; number of channels of y for each channel of x */
  gint64 n_out, multiplier;
  gint64 n_in;              /* number of channels of x that a group reads */
  gint64 w_step, w_channel; /* distances in the packed weights, in floats: between adjacent taps,
                               and between adjacent operand channels of a group */
  gboolean is_paired; /* TRUE: the packed weights contain the channels of each tap twice, so that
                         two adjacent pixels are computed as one pixel with twice the channels */
} CleaveDepthwise;

/* The data for one row of y: addresses, and the taps that read data. */
typedef struct
{
  CleaveTaps planes, taps; /* range of planes of taps that read data, and range of rows of taps in a
                              plane that read data */
  const float *x;          /* address of the first row of x that the window reads */
  const float *w, *bias;   /* packed weights of all taps; bias of each channel, or NULL: no bias */
  float *y;
  const CleaveEpilogue *epilogue; /* epilogue ops that are applied to the sums; NULL: none */
} CleaveDepthwiseRow;

/* Adjacent pixels of one row of y whose windows have the same taps. The fields from `x_plane` to
 * `y_pixel` are distances in floats; for example, `x_row` is the distance of adjacent rows of x. */
typedef struct
{
  const float *x, *w, *bias; /* address of the data of the first tap; address of the weights of the
                                first tap; bias, or NULL: no bias */
  float *y;
  /* number of planes of taps, of rows in a plane, and of columns in a row */
  gint64 n_planes, n_rows, n_columns;
  gint64 x_plane, x_row, x_column, x_pixel;
  gint64 w_plane, w_row, w_column, w_channel;
  gint64 y_pixel;
  gint64 apart;       /* distance of adjacent taps in pixels, as in CleaveDepthwise */
  gboolean is_paired; /* TRUE: the weights contain the channels of each tap twice, as in
                         CleaveDepthwise */
  gint64 period; /* number of channels after which the bias repeats; 0: the bias does not repeat */
  int n_some;    /* number of channels in the last vector if this vector is only partly filled */
  const CleaveEpilogue *epilogue; /* epilogue ops that are applied to the sums; NULL: none */
} CleaveDepthwiseRun;

#define cleave_depthwise_init CLEAVE_LEVELLED (cleave_depthwise_init)
#define cleave_depthwise_pack CLEAVE_LEVELLED (cleave_depthwise_pack)
#define cleave_depthwise_run_row CLEAVE_LEVELLED (cleave_depthwise_run_row)

/* TRUE: a vector also computes the sums of fewer channels than it has lanes. FALSE at the level
 * without fused multiply-add: each lane calls fmaf there, so unused lanes would cost as much as
 * used lanes. */
#if defined(CLEAVE_HAS_FMA)
#define CLEAVE_DEPTHWISE_PARTIAL TRUE
#else
#define CLEAVE_DEPTHWISE_PARTIAL FALSE
#endif

/* Initializes `d` for a convolution with the weights `w`. Sets `is_paired` if the last vector of
 * channels is exactly half full. */
void cleave_depthwise_init (CleaveDepthwise *d,
                            const CleaveKernelInstance *instance,
                            const CleaveView *w,
                            CleaveDims dims);
/* Packs weights in the order: tap, operand channel of a group, result channel. The result channels
 * are contiguous. `is_paired`: writes the channels of each tap twice. */
void cleave_depthwise_pack (const CleaveView *w, gboolean is_paired, float *to);
/* Computes one row of y. Applies the epilogue ops to the sums while they are in vectors. */
void cleave_depthwise_run_row (const CleaveDepthwise *d, const CleaveDepthwiseRow *row);
