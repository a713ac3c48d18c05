/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Sampling points of RoiAlign along each dimension of a region, and the elements of X between which
 * a point interpolates. The reference kernel (roi-align.c) and the fast kernel
 * (lib/runtime/kernels/roi-align.c) both call these functions.
 *
 *   1 row of the result over rows [2, 6) of X, sampling_ratio 2, output_half_pixel: points at rows
 * 3 and 5
 */

#include <math.h>

#include "roi.h"

/* An element of the result has at most this many points in one dimension, so that a product of two
 * counts fits into 64 bits. No region of a real model has more points. */
#define CLEAVE_ROI_MAX_POINTS 0x1p31

/* A region along one dimension. `begin` is the begin of the region, and `step` the length of the
 * part of the region that one element of the result covers; both are in elements of X. `n_points`
 * is the number of sampling points of an element of the result. */
typedef struct
{
  double begin, step;
  gint64 n_points;
} CleaveRoiSpan;

static inline CleaveRoiSpan
cleave_roi_span (const CleaveRoiAlignAttrs *a, double begin, double end, gint64 n_out)
{
  double half = a->coordinate_transformation_mode == CLEAVE_ROI_HALF_PIXEL ? 0.5 : 0;
  double extent = (end - begin) * a->spatial_scale;
  CleaveRoiSpan span = { .begin = begin * a->spatial_scale - half };

  if (half == 0)
    extent = MAX (extent, 1);
  span.step = extent / (double) n_out;
  if (a->sampling_ratio > 0)
    span.n_points = a->sampling_ratio;
  else /* this branch also handles NaN */
    span.n_points = span.step > 0 ? (gint64) MIN (ceil (span.step), CLEAVE_ROI_MAX_POINTS) : 0;
  return span;
}

static inline double
cleave_roi_point (const CleaveRoiSpan *span, gint64 out, gint64 i)
{
  return span->begin + (double) out * span->step +
         ((double) i + 0.5) * span->step / (double) span->n_points;
}

/* Returns the span of sampling points that can add to the result: from the last point before the
 * image to the first point behind it. A point further outside adds 0, so one point before the image
 * and one point behind it are enough. A NaN is treated as a point behind the image. If positions do
 * not increase, returns all points. */
static inline CleaveSpan
cleave_roi_points (const CleaveRoiSpan *span, gint64 out, gint64 extent)
{
  CleaveSpan points = { 0, span->n_points };

  if (!(span->step > 0))
    return points;
  for (gint64 end = span->n_points; points.begin < end;)
    {
      gint64 middle = points.begin + (end - points.begin) / 2;

      if (cleave_roi_point (span, out, middle) < -1)
        points.begin = middle + 1;
      else
        end = middle;
    }
  for (gint64 begin = points.begin; begin < points.end;)
    {
      gint64 middle = begin + (points.end - begin) / 2;

      if (cleave_roi_point (span, out, middle) <= (double) extent)
        begin = middle + 1;
      else
        points.end = middle;
    }
  return (CleaveSpan){ MAX (points.begin - 1, 0), MIN (points.end + 1, span->n_points) };
}

/* Returns the index of the element before position `*at`, and sets `next` to the index of the
 * element after it. At or behind the last element, both indices are the index of the last element.
 * Clamps `*at` to the elements. */
static inline gint64
cleave_roi_neighbors (double *at, gint64 n, gint64 *next)
{
  gint64 low;

  *at = MAX (*at, 0);
  low = MIN ((gint64) *at, n - 1);
  *next = MIN (low + 1, n - 1);
  if (low == n - 1)
    *at = (double) low;
  return low;
}

/* Sets spans[0] to the rows and spans[1] to the columns of region `roi`. A region has the numbers
 * x1, y1, x2 and y2 of its corners. */
static inline void
cleave_roi_spans (const CleaveRoiAlignAttrs *a,
                  const CleaveView *rois,
                  gint64 roi,
                  CleaveRoiSpan spans[2])
{
  double corner[4];

  for (guint k = 0; k < 4; k++)
    corner[k] = cleave_roi_load (rois, roi, k);
  spans[0] = cleave_roi_span (a, corner[1], corner[3], a->output_height);
  spans[1] = cleave_roi_span (a, corner[0], corner[2], a->output_width);
}
