/* SPDX-License-Identifier: GPL-2.0-or-later */

/* RoiAlign, opset 16: regions and channels split at will; the rows and columns of a region's result
 * depend on its whole extent, and stay together.
 *
 * Order: sampling points row by row, each interpolated from its four neighbours, in double; the
 * mean, or the largest, of them is rounded once.  (ONNX Runtime's "max" takes the largest of the
 * weighted neighbours instead, which is not what ONNX says.) */

#include <math.h>

#include "move.h"
#include "roi.h"

enum { X, ROIS, BATCH_INDICES };

/* The most that `sampling_ratio` may ask for. */
#define MAX_RATIO 4096

/* A longer region is no region; and the points of an element can still be counted. */
#define MAX_POINTS 0x1p31

static const char *const mode_names[] = { "avg", "max", NULL };
static const char *const coordinate_names[] = { "half_pixel", "output_half_pixel", NULL };

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveRoiAlignAttrs, mode), .names = mode_names },
  { "coordinate_transformation_mode", CLEAVE_ATTR_ENUM,
    CLEAVE_FIELD (CleaveRoiAlignAttrs, coordinate_transformation_mode), .names = coordinate_names },
  { "output_height", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveRoiAlignAttrs, output_height),
    .fallback = 1, .minimum = 1, .has_minimum = TRUE },
  { "output_width", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveRoiAlignAttrs, output_width),
    .fallback = 1, .minimum = 1, .has_minimum = TRUE },
  { "sampling_ratio", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveRoiAlignAttrs, sampling_ratio),
    .minimum = 0, .has_minimum = TRUE },
  { "spatial_scale", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveRoiAlignAttrs, spatial_scale),
    .fallback = 1 },
  { 0 },
};

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveRoiAlignAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape, *rois = &call->operands[ROIS].shape;
  const CleaveShape *batch = &call->operands[BATCH_INDICES].shape;

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_same_element (call, X, ROIS, error) ||
      !cleave_call_check_element (call, BATCH_INDICES, CLEAVE_ELEMENT_BIT (CLEAVE_INT64), error) ||
      !cleave_call_check_rank (call, X, 4, 4, error) ||
      !cleave_call_check_rank (call, ROIS, 2, 2, error) ||
      !cleave_call_check_rank (call, BATCH_INDICES, 1, 1, error))
    return FALSE;
  if (rois->dim[1] != 4 || batch->dim[0] != rois->dim[0])
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "rois is %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                        ", batch_indices %" G_GINT64_FORMAT ", but they should be Rx4 and R",
                        rois->dim[0], rois->dim[1], batch->dim[0]);
  if (!cleave_roi_check_images (x, error))
    return FALSE;
  if (a->sampling_ratio > MAX_RATIO)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "sampling_ratio must be at most %d, not %" G_GINT64_FORMAT, MAX_RATIO,
                        a->sampling_ratio);
  results[0] = CLEAVE_TYPE (call->operands[X].element, rois->dim[0], x->dim[1], a->output_height,
                            a->output_width);
  return TRUE;
}

static gint64
macs (const CleaveCall *call)
{
  const CleaveRoiAlignAttrs *a = call->attrs;
  gint64 points = MAX (a->sampling_ratio, 1);

  return cleave_saturated_mul (cleave_saturated_mul (4, cleave_saturated_mul (points, points)),
                               cleave_shape_n_elements (&call->results[0].shape));
}

/* Points that follow from the region are at least half an element apart. */
static double
work (const CleaveCall *call)
{
  const CleaveRoiAlignAttrs *a = call->attrs;
  double points = 1;

  for (guint d = 2; d < 4; d++)
    points *= (double) (a->sampling_ratio > 0 ? a->sampling_ratio
                                              : 2 * (call->operands[X].shape.dim[d] + 2));
  return 4 * points * (double) cleave_shape_n_elements (&call->results[0].shape);
}

/* One dimension of a region: where it begins, how long one element of its result is, and by how
 * many points that is sampled. */
typedef struct
{
  double begin, step;
  gint64 n_points;
} Span;

static Span
find_span (const CleaveRoiAlignAttrs *a, double begin, double end, gint64 n_out)
{
  double half = a->coordinate_transformation_mode == CLEAVE_ROI_HALF_PIXEL ? 0.5 : 0;
  double extent = (end - begin) * a->spatial_scale;
  Span span = { .begin = begin * a->spatial_scale - half };

  if (half == 0)
    extent = MAX (extent, 1);
  span.step = extent / (double) n_out;
  if (a->sampling_ratio > 0)
    span.n_points = a->sampling_ratio;
  else /* nor for a NaN */
    span.n_points = span.step > 0 ? (gint64) MIN (ceil (span.step), MAX_POINTS) : 0;
  return span;
}

static double
point_of (const Span *span, gint64 out, gint64 i)
{
  return span->begin + (double) out * span->step +
         ((double) i + 0.5) * span->step / (double) span->n_points;
}

/* The points from the last before the image to the first behind it, where positions grow.  Those
 * farther off add a zero each: one at each end stands for all.  A NaN is behind. */
static CleaveSpan
find_points (const Span *span, gint64 out, gint64 extent)
{
  CleaveSpan points = { 0, span->n_points };

  if (!(span->step > 0))
    return points;
  for (gint64 end = span->n_points; points.begin < end;)
    {
      gint64 middle = points.begin + (end - points.begin) / 2;

      if (point_of (span, out, middle) < -1)
        points.begin = middle + 1;
      else
        end = middle;
    }
  for (gint64 begin = points.begin; begin < points.end;)
    {
      gint64 middle = begin + (points.end - begin) / 2;

      if (point_of (span, out, middle) <= (double) extent)
        begin = middle + 1;
      else
        points.end = middle;
    }
  return (CleaveSpan){ MAX (points.begin - 1, 0), MIN (points.end + 1, span->n_points) };
}

static double
load (const CleaveView *x, gint64 channel, gint64 row, gint64 column)
{
  return cleave_real_load (x->type.element, cleave_view_element (x, channel + row * x->stride[2] +
                                                                        column * x->stride[3]));
}

/* The neighbours of a position: at the last element there is only that one. */
static gint64
neighbours (double *at, gint64 n, gint64 *next)
{
  gint64 low;

  *at = MAX (*at, 0);
  low = MIN ((gint64) *at, n - 1);
  *next = MIN (low + 1, n - 1);
  if (low == n - 1)
    *at = (double) low;
  return low;
}

static double
interpolate (const CleaveView *x, gint64 channel, double row, double column)
{
  gint64 height = x->type.shape.dim[2], width = x->type.shape.dim[3], top, bottom, left, right;
  double v, h;

  if (!(row >= -1 && row <= (double) height && column >= -1 && column <= (double) width))
    return 0;
  top = neighbours (&row, height, &bottom);
  left = neighbours (&column, width, &right);
  v = row - (double) top;
  h = column - (double) left;
  return (1 - v) * (1 - h) * load (x, channel, top, left) +
         (1 - v) * h * load (x, channel, top, right) +
         v * (1 - h) * load (x, channel, bottom, left) + v * h * load (x, channel, bottom, right);
}

static double
pool (const CleaveRoiAlignAttrs *a,
      const CleaveView *x,
      gint64 channel,
      const Span spans[2],
      const gint64 out[2])
{
  gboolean is_max = a->mode == CLEAVE_ROI_MAX;
  gint64 n = spans[0].n_points * spans[1].n_points;
  CleaveSpan rows = find_points (&spans[0], out[0], x->type.shape.dim[2]);
  CleaveSpan columns = find_points (&spans[1], out[1], x->type.shape.dim[3]);
  double all = is_max && n > 0 ? -INFINITY : 0;

  for (gint64 i = rows.begin; i < rows.end; i++)
    for (gint64 j = columns.begin; j < columns.end; j++)
      {
        double value = interpolate (x, channel, point_of (&spans[0], out[0], i),
                                    point_of (&spans[1], out[1], j));

        all = is_max ? MAX (all, value) : all + value;
      }
  return is_max ? all : all / (double) MAX (n, 1);
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveRoiAlignAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *rois = &operands[ROIS], *y = &results[0];
  gint64 i[CLEAVE_MAX_RANK];

  for (gboolean more = cleave_index_first (&y->type.shape, i); more;
       more = cleave_index_next (&y->type.shape, i))
    {
      double corner[4]; /* x1, y1, x2, y2 */
      gint64 image = cleave_move_index (
          &operands[BATCH_INDICES], i[0] * operands[BATCH_INDICES].stride[0], x->type.shape.dim[0]);
      Span spans[2];

      for (guint k = 0; k < 4; k++)
        corner[k] = cleave_roi_load (rois, i[0], k);
      spans[0] = find_span (a, corner[1], corner[3], a->output_height);
      spans[1] = find_span (a, corner[0], corner[2], a->output_width);
      cleave_real_store (y->type.element, cleave_view_at (y, i),
                         pool (a, x, image * x->stride[0] + i[1] * x->stride[1], spans, &i[2]));
    }
}

const CleaveOp cleave_op_roi_align = {
  .name = "RoiAlign",
  .operands = (const char *const[]){ "X", "rois", "batch_indices", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 3,
  .attrs_size = sizeof (CleaveRoiAlignAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = cleave_roi_maps,
  .macs = macs,
  .work = work,
  .compute = compute,
};
