/* SPDX-License-Identifier: GPL-2.0-or-later */

/* MaxRoiPool, opset 1. Regions and channels can be split. Rows and columns of the result cannot,
 * since they depend on the whole extent of their region.
 *
 * ONNX says little more than "max pooling across each RoI". The details are as in Fast R-CNN and
 * ONNX Runtime:
 *
 * - Corners are scaled, rounded (halves away from zero), and inclusive. A region has at least one
 *   element.
 * - Row i of h begins at floor (i * extent / h) and ends at ceil ((i + 1) * extent / h), clipped to
 *   X. If the clipped row is empty, the result is 0.
 * - The kernel computes these divisions exactly, in integers. ONNX Runtime computes the divisions
 *   in floats, and sometimes reads one row behind the region.
 *
 * Order of operations: row by row; the maximum is the first of equal elements, and a NaN replaces
 * the maximum, as in MaxPool. */

#include <math.h>
#include <string.h>

#include "roi.h"
#include "window.h"

enum { X, ROIS };

/* Corners are clamped to this magnitude, in elements. Such corners are far outside of any image,
 * and products of corners fit 64 bits. */
#define MAX_CORNER (1 << 30)

static const CleaveAttr attr_table[] = {
  { "pooled_shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveMaxRoiPoolAttrs, pooled_shape),
    CLEAVE_AT_LEAST (1), .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "spatial_scale", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveMaxRoiPoolAttrs, spatial_scale),
    .fallback = 1 },
  { 0 },
};

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveMaxRoiPoolAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[X].shape, *rois = &call->operands[ROIS].shape;
  guint floats = CLEAVE_ELEMENTS_FLOAT & ~CLEAVE_ELEMENT_BIT (CLEAVE_BFLOAT16);

  if (!cleave_call_check_element (call, X, floats, error) ||
      !cleave_call_check_same_element (call, X, ROIS, error) ||
      !cleave_call_check_rank (call, X, 4, 4, error) ||
      !cleave_call_check_rank (call, ROIS, 2, 2, error))
    return FALSE;
  if (a->pooled_shape.n != 2)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "pooled_shape has %u entries, but must have 2", a->pooled_shape.n);
  if (!cleave_window_check_list (&a->pooled_shape, 2, "pooled_shape", error))
    return FALSE;
  if (rois->dim[1] != 5)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "rois is %" G_GINT64_FORMAT "x%" G_GINT64_FORMAT
                        ", but should be Rx5: image, left, top, right, bottom",
                        rois->dim[0], rois->dim[1]);
  if (!cleave_roi_check_images (x, error))
    return FALSE;
  results[0] = CLEAVE_TYPE (call->operands[X].element, rois->dim[0], x->dim[1],
                            a->pooled_shape.v[0], a->pooled_shape.v[1]);
  return TRUE;
}

/* Returns a corner of a region, in elements of X; 0 for NaN. */
static gint64
load_corner (const CleaveView *rois, gint64 roi, guint k, double scale)
{
  double corner =
      round (cleave_real_round (rois->type.element, cleave_roi_load (rois, roi, k) * scale));

  return isnan (corner) ? 0 : (gint64) CLAMP (corner, -MAX_CORNER, MAX_CORNER);
}

/* Returns the index of the image that a region refers to, clamped to the batch. */
static gint64
load_image (const CleaveView *rois, gint64 roi, gint64 n_images)
{
  double image = cleave_roi_load (rois, roi, 0);

  return isnan (image) ? 0 : (gint64) CLAMP (image, 0, (double) (n_images - 1));
}

/* Returns, along one dimension, the span of X that element `at` of the result reads. The result has
 * n elements; the region has the elements from `first` to `last` of X, both included. `extent` is
 * the extent of X. */
static CleaveSpan
find_span (gint64 first, gint64 last, gint64 at, gint64 n, gint64 extent)
{
  gint64 size = MAX (last - first + 1, 1);

  return (CleaveSpan){ CLAMP (first + at * size / n, 0, extent),
                       CLAMP (first + ((at + 1) * size + n - 1) / n, 0, extent) };
}

/* Finds the maximum in some rows and columns of a channel, and copies its bits to `y`; writes 0 if
 * there are no rows or columns. */
static void
take_greatest (const CleaveView *x, gint64 channel, CleaveSpan rows, CleaveSpan columns, gpointer y)
{
  static const guint64 zero = 0;
  gconstpointer greatest = NULL;
  double max = 0;

  for (gint64 row = rows.begin; row < rows.end; row++)
    for (gint64 column = columns.begin; column < columns.end; column++)
      {
        gconstpointer at =
            cleave_view_element (x, channel + row * x->stride[2] + column * x->stride[3]);
        double value = cleave_real_load (x->type.element, at);

        if (greatest != NULL && !(value > max || isnan (value)))
          continue;
        max = value;
        greatest = at;
      }
  memcpy (y, greatest == NULL ? &zero : greatest, cleave_element_size (x->type.element));
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveMaxRoiPoolAttrs *a = call->attrs;
  const CleaveView *x = &operands[X], *rois = &operands[ROIS], *y = &results[0];
  const CleaveShape *shape = &x->type.shape;
  gint64 i[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (i, &y->type.shape)
    {
      gint64 corner[4]; /* left, top, right, bottom of the region */
      gint64 channel = load_image (rois, i[0], shape->dim[0]) * x->stride[0] + i[1] * x->stride[1];

      for (guint k = 0; k < 4; k++)
        corner[k] = load_corner (rois, i[0], k + 1, a->spatial_scale);
      take_greatest (x, channel,
                     find_span (corner[1], corner[3], i[2], a->pooled_shape.v[0], shape->dim[2]),
                     find_span (corner[0], corner[2], i[3], a->pooled_shape.v[1], shape->dim[3]),
                     cleave_view_at (y, i));
    }
}

const CleaveOp cleave_op_max_roi_pool = {
  .name = "MaxRoiPool",
  .operands = (const char *const[]){ "X", "rois", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveMaxRoiPoolAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = cleave_roi_maps,
  .compute = compute,
};
