/* SPDX-License-Identifier: GPL-2.0-or-later */

/* RoiAlign, opset 16. Regions and channels can be split. Rows and columns of the result cannot,
 * since they depend on the whole extent of their region.
 *
 * Order of operations: sampling points row by row, each interpolated from its four neighbors, in
 * double. The mean or the maximum of the points is rounded once. (ONNX Runtime's `max` takes the
 * maximum of the weighted neighbors instead, contrary to the ONNX specification.) */

#include "move.h"
#include "roi-points.h"

enum { X, ROIS, BATCH_INDICES };

/* The largest legal value of the attribute `sampling_ratio`. */
#define MAX_RATIO 4096

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveRoiAlignAttrs, mode),
    .names = (const char *const[]){ "avg", "max", NULL } },
  { "coordinate_transformation_mode", CLEAVE_ATTR_ENUM,
    CLEAVE_FIELD (CleaveRoiAlignAttrs, coordinate_transformation_mode),
    .names = (const char *const[]){ "half_pixel", "output_half_pixel", NULL } },
  { "output_height", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveRoiAlignAttrs, output_height),
    .fallback = 1, CLEAVE_AT_LEAST (1) },
  { "output_width", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveRoiAlignAttrs, output_width),
    .fallback = 1, CLEAVE_AT_LEAST (1) },
  { "sampling_ratio", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveRoiAlignAttrs, sampling_ratio),
    CLEAVE_AT_LEAST (0) },
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

/* Returns the work of the kernel: the number of elements that it reads. If `sampling_ratio` is 0,
 * the region decides the number of sampling points. The estimate then assumes that points are at
 * least half an element apart. */
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

static double
load (const CleaveView *x, gint64 channel, gint64 row, gint64 column)
{
  return cleave_real_load (x->type.element, cleave_view_element (x, channel + row * x->stride[2] +
                                                                        column * x->stride[3]));
}

static double
interpolate (const CleaveView *x, gint64 channel, double row, double column)
{
  gint64 height = x->type.shape.dim[2], width = x->type.shape.dim[3], top, bottom, left, right;
  double v, h;

  if (!(row >= -1 && row <= (double) height && column >= -1 && column <= (double) width))
    return 0;
  top = cleave_roi_neighbors (&row, height, &bottom);
  left = cleave_roi_neighbors (&column, width, &right);
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
      const CleaveRoiSpan spans[2],
      const gint64 out[2])
{
  gboolean is_max = a->mode == CLEAVE_ROI_MAX;
  gint64 n = spans[0].n_points * spans[1].n_points;
  CleaveSpan rows = cleave_roi_points (&spans[0], out[0], x->type.shape.dim[2]);
  CleaveSpan columns = cleave_roi_points (&spans[1], out[1], x->type.shape.dim[3]);
  double all = is_max && n > 0 ? -INFINITY : 0;

  for (gint64 i = rows.begin; i < rows.end; i++)
    for (gint64 j = columns.begin; j < columns.end; j++)
      {
        double value = interpolate (x, channel, cleave_roi_point (&spans[0], out[0], i),
                                    cleave_roi_point (&spans[1], out[1], j));

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

  CLEAVE_EACH_INDEX (i, &y->type.shape)
    {
      gint64 image = cleave_move_index (
          &operands[BATCH_INDICES], i[0] * operands[BATCH_INDICES].stride[0], x->type.shape.dim[0]);
      CleaveRoiSpan spans[2];

      cleave_roi_spans (a, rois, i[0], spans);
      cleave_real_store (y->type.element, cleave_view_at (y, i),
                         pool (a, x, image * x->stride[0] + i[1] * x->stride[1], spans, &i[2]));
    }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_ROI_ALIGN);
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
  .kernel = kernel,
  .compute = compute,
};
