/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Long sums in eight lanes (partial sums). The number of lanes is fixed, so that every kernel can
 * use vectors and still adds in the same order. The reference kernels and the fast kernels of
 * GlobalAveragePool and InstanceNormalization sum this way.
 *
 * Element i, in row-major order, is added to lane i % 8; each lane begins with +0. Then lane j + 4
 * is added to lane j, for j = 0 … 3; lane j + 2 to lane j, for j = 0, 1; lane 1 to lane 0. Sums of
 * float64 elements are float64; all other sums are float32. */

#include "../ir/layout.h"
#include "reference.h"

#define CLEAVE_N_LANES 8

/* Returns a view of the spatial dimensions of `view`, for batch index 0 and channel 0. */
static inline CleaveView
cleave_lanes_plane (const CleaveView *view, CleaveDims dims)
{
  CleaveView plane = { .data = view->data, .type.element = view->type.element };

  plane.type.shape.rank = dims.n_spatial;
  for (guint i = 0; i < dims.n_spatial; i++)
    {
      plane.type.shape.dim[i] = view->type.shape.dim[dims.h + i];
      plane.stride[i] = view->stride[dims.h + i];
    }
  return plane;
}

/* Returns the sum of x - mean over all elements x of a view or, if `squares`, of the squares of x -
 * mean. Each operation is rounded. */
static inline double
cleave_lanes_sum (const CleaveView *view, double mean, gboolean squares)
{
  CleaveElement element = view->type.element;
  double lane[CLEAVE_N_LANES] = { 0 };
  gint64 at[CLEAVE_MAX_RANK];
  guint n = 0;

  for (gboolean more = cleave_index_first (&view->type.shape, at); more;
       more = cleave_index_next (&view->type.shape, at), n = (n + 1) % CLEAVE_N_LANES)
    {
      double x = cleave_real_load (element, cleave_view_at (view, at));

      x = cleave_real_round (element, x - mean);
      if (squares)
        x = cleave_real_round (element, x * x);
      lane[n] = cleave_real_round (element, lane[n] + x);
    }
  for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (guint j = 0; j < half; j++)
      lane[j] = cleave_real_round (element, lane[j] + lane[j + half]);
  return lane[0];
}
