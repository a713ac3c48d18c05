/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sums of blocks of pixels and channels of a depthwise convolution. A block loads x once for each
 * tap; the sliding windows of depthwise-rows.c load x once for a row of taps. Only depthwise-rows.c
 * includes this file. */

#include "depthwise-rows.h"
#include "epilogue.h"

/* Largest number of pixels, and of vectors of channels, whose sums are in registers at the same
 * time. */
#define MAX_PIXELS 4
#define MAX_VECTORS 2
/* Number of vectors of x that a block may load before it multiplies them; more loads would spill
 * registers. */
#define LOADS_AT_ONCE 3

/* The assignment of channels to the lanes of a vector. */
typedef enum {
  ALL, /* each lane holds a channel */
  SOME /* the first `n_some` lanes hold channels; a block neither reads nor writes the other lanes
        */
} Lanes;

typedef CleaveDepthwiseRun Run;

static CLEAVE_SPECIALISED CleaveVector
load (const Run *run, const float *from, Lanes lanes)
{
  return lanes == SOME ? cleave_vector_load_some (from, run->n_some) : cleave_vector_load (from);
}

static CLEAVE_SPECIALISED void
store (const Run *run, float *to, CleaveVector v, Lanes lanes)
{
  if (lanes == SOME)
    cleave_vector_store_some (to, v, run->n_some);
  else
    cleave_vector_store (to, v);
}

/* Returns the biases of a vector of channels, from channel `at` on; without a bias, zeros. */
static CLEAVE_SPECIALISED CleaveVector
load_bias (const Run *run, gint64 at, Lanes lanes)
{
  gint64 high = at + CLEAVE_HALF;

  if (run->bias == NULL)
    return cleave_vector_all (0);
  if (run->period == 0)
    return load (run, run->bias + at, lanes);
  return cleave_vector_load_halves (run->bias + at % run->period, run->bias + high % run->period);
}

/* Applies the epilogue ops to the sums of a block, before the block is stored at `y`. */
static CLEAVE_SPECIALISED void
do_epilogue (
    const Run *run, const float *y, int pixels, int vectors, Lanes lanes, CleaveVector *sum)
{
  const CleaveEpilogueAt at = { .y = y,
                                .step = run->y_pixel,
                                .column = { 0, CLEAVE_VECTOR },
                                .m = run->n_some,
                                .some = lanes == SOME };

  if (run->epilogue != NULL)
    cleave_epilogue_do (run->epilogue, &at, pixels, vectors, sum);
}

/* Computes the sums of `pixels` pixels times `vectors` vectors of channels; both numbers are
 * compile-time constants. `spread`: x has a single channel, which all channels of y read. */
static CLEAVE_SPECIALISED void
sum_block (const Run *run,
           gint64 pixel,
           gint64 channel,
           int pixels,
           int vectors,
           Lanes lanes,
           gboolean spread,
           gint64 n_columns)
{
  const float *x = run->x + pixel * run->x_pixel + (spread ? 0 : channel);
  const float *w = run->w + channel;
  float *y = run->y + pixel * run->y_pixel + channel;
  CleaveVector sum[MAX_PIXELS * MAX_VECTORS];

  for (int p = 0; p < pixels; p++)
    for (int v = 0; v < vectors; v++)
      sum[p * vectors + v] = load_bias (run, channel + v * CLEAVE_VECTOR, lanes);
  for (gint64 h = 0; h < run->n_planes; h++, x += run->x_plane, w += run->w_plane)
    for (gint64 i = 0; i < run->n_rows; i++)
      for (gint64 j = 0; j < n_columns; j++)
        {
          const float *from = x + i * run->x_row + j * run->x_column;
          const float *by = w + i * run->w_row + j * run->w_column;

          for (int p = 0; p < pixels; p++)
            for (int v = 0; v < vectors; v++)
              {
                const float *at = from + p * run->x_pixel;
                CleaveVector a =
                    spread ? cleave_vector_all (*at) : load (run, at + v * CLEAVE_VECTOR, lanes);

                sum[p * vectors + v] = cleave_vector_fma (
                    a, load (run, by + v * CLEAVE_VECTOR, lanes), sum[p * vectors + v]);
              }
        }
  do_epilogue (run, y, pixels, vectors, lanes, sum);
  for (int p = 0; p < pixels; p++)
    for (int v = 0; v < vectors; v++)
      store (run, y + p * run->y_pixel + v * CLEAVE_VECTOR, sum[p * vectors + v], lanes);
}

/* Calls sum_block(). In the common case of three columns of taps, passes the number of columns as a
 * compile-time constant. */
static CLEAVE_SPECIALISED void
sum_block_of (const Run *run,
              gint64 pixel,
              gint64 channel,
              int pixels,
              int vectors,
              Lanes lanes,
              gboolean spread)
{
  if (run->n_columns == 3)
    sum_block (run, pixel, channel, pixels, vectors, lanes, spread, 3);
  else
    sum_block (run, pixel, channel, pixels, vectors, lanes, spread, run->n_columns);
}

static void
sum_one_channel (const Run *run, gint64 pixel, gint64 channel, gboolean spread)
{
  const float *x = run->x + pixel * run->x_pixel + (spread ? 0 : channel);
  const float *w = run->w + channel;
  float sum = run->bias == NULL ? 0 : run->bias[channel];

  for (gint64 h = 0; h < run->n_planes; h++, x += run->x_plane, w += run->w_plane)
    for (gint64 i = 0; i < run->n_rows; i++)
      for (gint64 j = 0; j < run->n_columns; j++)
        sum = __builtin_fmaf (x[i * run->x_row + j * run->x_column],
                              w[i * run->w_row + j * run->w_column], sum);
  run->y[pixel * run->y_pixel + channel] = sum;
}

/* Computes all channels of `pixels` pixels. If the channels do not fill whole vectors, the last
 * vector overlaps the vector before it, and both vectors compute equal results for the shared
 * channels. */
static CLEAVE_SPECIALISED void
sum_channels (const Run *run, gint64 pixel, int pixels, gint64 n_channels, gboolean spread)
{
  gint64 channel = 0;

  for (; channel + MAX_VECTORS * CLEAVE_VECTOR <= n_channels;
       channel += MAX_VECTORS * CLEAVE_VECTOR)
    sum_block_of (run, pixel, channel, pixels, MAX_VECTORS, ALL, spread);
  if (n_channels >= CLEAVE_VECTOR)
    for (; channel < n_channels; channel += CLEAVE_VECTOR)
      sum_block_of (run, pixel, MIN (channel, n_channels - CLEAVE_VECTOR), pixels, 1, ALL, spread);
  else if (CLEAVE_DEPTHWISE_PARTIAL)
    {
      sum_block_of (run, pixel, 0, pixels, 1, SOME, spread);
      return;
    }
  for (; channel < n_channels; channel++)
    for (int p = 0; p < pixels; p++)
      sum_one_channel (run, pixel + p, channel, spread);
}

static CLEAVE_SPECIALISED void
sum_pixels (const Run *run, gint64 n_pixels, gint64 n_channels, gboolean spread)
{
  gint64 pixel = 0;

  for (; pixel + MAX_PIXELS <= n_pixels; pixel += MAX_PIXELS)
    sum_channels (run, pixel, MAX_PIXELS, n_channels, spread);
  for (; pixel < n_pixels; pixel++)
    sum_channels (run, pixel, 1, n_channels, spread);
}
