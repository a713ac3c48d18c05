/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The taps of a GridSample: the elements of X between which an element of the result is
 * interpolated. Taps outside of X count as 0. The reference kernel (grid-sample.c) and the fast
 * kernel (lib/runtime/kernels/grid-sample.c) both call these functions.
 *
 * Order of the sum, in two dimensions: the taps of a row from left to right, one row after the
 * other. The weight of a tap is the weight of its row times the weight of its column. Sums are
 * float32, and float64 for float64 elements. */

#include <math.h>

#include "../ir/op.h"

/* The coefficient of the cubic convolution, which ONNX fixes. */
#define CLEAVE_GRID_CUBIC_A (-0.75)

/* The taps along one dimension of X: their indices and weights. */
typedef struct
{
  guint n;
  gint64 at[4];
  double weight[4];
} CleaveGridTaps;

/* Returns the position `at`, mirrored at the borders `low` and `high` until it is between the
 * borders. */
static inline double
cleave_grid_reflect (double at, double low, double high)
{
  double range = high - low, over;

  if (range <= 0)
    return low;
  over = fmod (fabs (at - low), 2 * range);
  return low + (over <= range ? over : 2 * range - over);
}

/* Returns the position in n elements for a coordinate `at` from -1 to 1. If the position is outside
 * of X, the result depends on the padding mode. The mode border gives the nearest position in X,
 * and reflection a mirrored position in X. The mode zeros gives a position outside of X. */
static inline double
cleave_grid_find_position (const CleaveGridSampleAttrs *a, double at, gint64 n)
{
  double low = a->align_corners ? 0 : -0.5, high = (double) (n - 1) - low;

  at = a->align_corners ? (at + 1) / 2 * (double) (n - 1) : ((at + 1) * (double) n - 1) / 2;
  if (at != at)
    at = -4; /* a NaN becomes a position outside of X */
  if (a->padding_mode == CLEAVE_GRID_REFLECTION && !isinf (at))
    at = at < low || at > high ? cleave_grid_reflect (at, low, high) : at;
  else if (a->padding_mode == CLEAVE_GRID_BORDER)
    at = at < low || at > high ? CLAMP (at, 0, (double) (n - 1)) : at;
  return CLAMP (at, -4, (double) n + 4); /* at these limits and beyond, all taps are outside of X */
}

static inline gint64
cleave_grid_pad_tap (const CleaveGridSampleAttrs *a, gint64 at, gint64 n)
{
  double low = a->align_corners ? 0 : -0.5;

  if (a->padding_mode == CLEAVE_GRID_BORDER)
    return CLAMP (at, 0, n - 1);
  if (a->padding_mode == CLEAVE_GRID_REFLECTION && (at < 0 || at >= n))
    return CLAMP ((gint64) cleave_grid_reflect ((double) at, low, (double) (n - 1) - low), 0,
                  n - 1);
  return at;
}

static inline double
cleave_grid_cubic_weight (double t)
{
  t = fabs (t);
  if (t <= 1)
    return ((CLEAVE_GRID_CUBIC_A + 2) * t - (CLEAVE_GRID_CUBIC_A + 3)) * t * t + 1;
  return ((CLEAVE_GRID_CUBIC_A * t - 5 * CLEAVE_GRID_CUBIC_A) * t + 8 * CLEAVE_GRID_CUBIC_A) * t -
         4 * CLEAVE_GRID_CUBIC_A;
}

/* Writes the taps along one dimension to `taps`. The function does not return the struct: copying a
 * struct whose fields were just written stalls on store forwarding. */
static inline __attribute__ ((always_inline)) void
cleave_grid_taps (const CleaveGridSampleAttrs *a, double at, gint64 n, CleaveGridTaps *taps)
{
  double position = cleave_grid_find_position (a, at, n), begin = floor (position),
         t = position - begin;
  gint64 first = (gint64) begin;

  taps->n = 2;
  taps->at[0] = first;
  taps->at[1] = first + 1;
  taps->weight[0] = 1 - t;
  taps->weight[1] = t;
  if (a->mode == CLEAVE_GRID_NEAREST)
    {
      taps->n = 1;
      taps->at[0] = (gint64) rint (position);
      taps->weight[0] = 1;
    }
  else if (a->mode == CLEAVE_GRID_BICUBIC)
    {
      taps->n = 4;
      for (guint k = 0; k < 4; k++)
        taps->at[k] = first - 1 + k;
      taps->weight[0] = cleave_grid_cubic_weight (1 + t);
      taps->weight[1] = cleave_grid_cubic_weight (t);
      taps->weight[2] = cleave_grid_cubic_weight (1 - t);
      taps->weight[3] = cleave_grid_cubic_weight (2 - t);
    }
  for (guint k = 0; k < taps->n; k++)
    taps->at[k] = cleave_grid_pad_tap (a, taps->at[k], n);
}

static inline gboolean
cleave_grid_is_inside (gint64 at, gint64 n)
{
  return at >= 0 && at < n;
}
