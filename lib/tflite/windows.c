/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts poolings and resizes, and computes the pads of windows. Values are [N, H, W, C]. */

#include "convert.h"

#include "../ops/tflite.h"

enum { PADDING, STRIDE_W, STRIDE_H, FILTER_W, FILTER_H, ACTIVATION };
enum { PADDING_SAME, PADDING_VALID };

/* Computes the pads. With SAME, the result has ceil (extent / stride) elements. If the sum of the
 * pads is odd, the pad at the end is larger. */
gboolean
cleave_tflite_pads (const CleaveShape *x,
                    gint64 padding,
                    const gint64 *kernel,
                    const CleaveInts *strides,
                    const CleaveInts *dilations,
                    CleaveInts *pads,
                    GError **error)
{
  guint n = strides->n;

  pads->n = 2 * n;
  for (guint i = 0; i < n; i++)
    {
      gint64 extent = x->dim[1 + i], stride = strides->v[i], dilation = dilations->v[i], all = 0;

      if (stride < 1 || dilation < 1 || kernel[i] < 1 || extent < 1)
        return cleave_tflite_refuse (error, "strides, dilations and extents must be at least 1");
      if (padding != PADDING_SAME && padding != PADDING_VALID)
        return cleave_tflite_refuse (error, "padding %" G_GINT64_FORMAT " is unknown", padding);
      if (padding == PADDING_SAME)
        all = (extent - 1) / stride * stride + (kernel[i] - 1) * dilation + 1 - extent;
      pads->v[i] = MAX (all, 0) / 2;
      pads->v[n + i] = MAX (all, 0) - pads->v[i];
    }
  return TRUE;
}

static gboolean
read_pool (CleaveTfliteImport *import, CleavePoolAttrs *a, GError **error)
{
  static const CleaveInts ones = { 2, { 1, 1 } };
  const CleaveShape *x = &cleave_tflite_input_type (import, 0)->shape;
  gint64 padding;

  if (x->rank != 4)
    return cleave_tflite_refuse (error, "input 0 has %u dimensions, it must have 4", x->rank);
  a->layout = CLEAVE_LAYOUT_NHWC;
  a->kernel_shape.n = a->strides.n = 2;
  return cleave_tflite_option (import, PADDING, 1, 0, &padding, error) &&
         cleave_tflite_option (import, STRIDE_H, 4, 0, &a->strides.v[0], error) &&
         cleave_tflite_option (import, STRIDE_W, 4, 0, &a->strides.v[1], error) &&
         cleave_tflite_option (import, FILTER_H, 4, 0, &a->kernel_shape.v[0], error) &&
         cleave_tflite_option (import, FILTER_W, 4, 0, &a->kernel_shape.v[1], error) &&
         cleave_tflite_pads (x, padding, a->kernel_shape.v, &a->strides, &ones, &a->pads, error);
}

static gboolean
convert_pool (CleaveTfliteImport *import, const char *op, GError **error)
{
  CleavePoolAttrs attrs = { 0 };
  CleaveResult *x, *y;

  if (!read_pool (import, &attrs, error) || !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  y = cleave_tflite_add_unary (import, op, x, &attrs, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_activation (import, ACTIVATION, y, error),
                            error);
}

gboolean
cleave_tflite_convert_average_pool (CleaveTfliteImport *import, GError **error)
{
  return convert_pool (import, "AveragePool", error);
}

/* Converts L2_POOL_2D: the root of the mean of squares. */
gboolean
cleave_tflite_convert_l2_pool (CleaveTfliteImport *import, GError **error)
{
  CleavePoolAttrs attrs = { 0 };
  CleaveResult *x, *y;

  if (!read_pool (import, &attrs, error) || !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  y = cleave_tflite_add_binary (import, "Mul", x, x, error);
  y = cleave_tflite_add_unary (import, "AveragePool", y, &attrs, error);
  y = cleave_tflite_add_unary (import, "Sqrt", y, NULL, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_activation (import, ACTIVATION, y, error),
                            error);
}

gboolean
cleave_tflite_convert_max_pool (CleaveTfliteImport *import, GError **error)
{
  return convert_pool (import, "MaxPool", error);
}

/* Reads the attributes of a pooling on integers into `attrs`, and its operand into `x`. Fails if
 * operand and result have different scales, since the reference kernels do not rescale. */
static gboolean
read_integer_pool (CleaveTfliteImport *import,
                   CleaveTflitePoolAttrs *attrs,
                   CleaveResult **x,
                   GError **error)
{
  CleaveTfliteScales scales;

  return read_pool (import, &attrs->pool, error) &&
         cleave_tflite_check_same_scale (import, 0, error) &&
         cleave_tflite_read_scales (import, &scales, error) &&
         cleave_tflite_read_bounds (import, ACTIVATION, &scales.y, &attrs->min, &attrs->max,
                                    error) &&
         cleave_tflite_find_result (import, 0, x, error);
}

/* Returns whether all windows have an odd number of taps, so that no mean is halfway between two
 * integers. */
static gboolean
has_odd_windows (const CleavePoolAttrs *pool)
{
  for (guint i = 0; i < pool->pads.n; i++)
    if (pool->pads.v[i] != 0)
      return FALSE;
  return pool->kernel_shape.v[0] * pool->kernel_shape.v[1] % 2 != 0;
}

/* Adds an average pooling of elements that are uint8 in the file and int8 in the graph. A tie is
 * rounded up in uint8, but would be rounded away from 0 in int8. So the function averages the
 * unsigned elements, as int16. Returns NULL on error. */
static CleaveResult *
add_unsigned_average (CleaveTfliteImport *import,
                      CleaveResult *x,
                      const CleaveTflitePoolAttrs *attrs,
                      GError **error)
{
  const gint64 offset = -(gint64) G_MININT8;
  CleaveTflitePoolAttrs wide = *attrs;
  /* multiplier and shift that give the factor 1 */
  const CleaveTfliteRescaleAttrs narrow = { CLEAVE_INT8, 0, -offset, 1 << 30, 1, 1 << 30, 1 };
  gint16 table[256];

  for (gint16 i = 0; i < (gint16) G_N_ELEMENTS (table); i++)
    table[i] = i;
  wide.min += offset;
  wide.max += offset;
  x = cleave_tflite_add_binary (
      import, "TfliteLookup", x,
      cleave_tflite_add_data (import, CLEAVE_INT16, G_N_ELEMENTS (table), table), error);
  x = cleave_tflite_add_unary (import, "TfliteAveragePool", x, &wide, error);
  return cleave_tflite_add_unary (import, "TfliteRescale", x, &narrow, error);
}

gboolean
cleave_tflite_convert_integer_average_pool (CleaveTfliteImport *import, GError **error)
{
  CleaveTflitePoolAttrs attrs = { 0 };
  CleaveResult *x, *y;

  if (!read_integer_pool (import, &attrs, &x, error))
    return FALSE;
  y = cleave_tflite_input (import, 0)->is_unsigned && !has_odd_windows (&attrs.pool)
          ? add_unsigned_average (import, x, &attrs, error)
          : cleave_tflite_add_unary (import, "TfliteAveragePool", x, &attrs, error);
  return cleave_tflite_set (import, 0, y, error);
}

/* Converts MAX_POOL_2D on integers. The MaxPool of ONNX lacks int16, so such integers are converted
 * to float32, which is exact. */
gboolean
cleave_tflite_convert_integer_max_pool (CleaveTfliteImport *import, GError **error)
{
  CleaveElement element = cleave_tflite_output (import, 0)->type.element;
  CleaveCastAttrs real = { CLEAVE_FLOAT32 }, back = { element };
  CleaveTflitePoolAttrs attrs = { 0 };
  CleaveClipAttrs clip;
  CleaveResult *x, *y;

  if (!read_integer_pool (import, &attrs, &x, error))
    return FALSE;
  clip = (CleaveClipAttrs){ (double) attrs.min, (double) attrs.max };
  if (element == CLEAVE_INT16)
    x = cleave_tflite_add_unary (import, "Cast", x, &real, error);
  y = cleave_tflite_add_unary (import, "MaxPool", x, &attrs.pool, error);
  if (attrs.min > cleave_tflite_lowest (element) || attrs.max < cleave_tflite_highest (element))
    y = cleave_tflite_add_unary (import, "Clip", y, &clip, error);
  if (element == CLEAVE_INT16)
    y = cleave_tflite_add_unary (import, "Cast", y, &back, error);
  return cleave_tflite_set (import, 0, y, error);
}

/* The functions below convert operators that resize images. */

static gboolean
convert_resize (CleaveTfliteImport *import,
                CleaveResizeAttrs *attrs,
                guint align_field,
                GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, 0)->shape;
  CleaveInts size;
  gint64 align, half;
  CleaveResult *from;

  if (!cleave_tflite_read_ints (import, 1, &size, error) ||
      !cleave_tflite_option (import, align_field, 1, 0, &align, error) ||
      !cleave_tflite_option (import, align_field + 1, 1, 0, &half, error) ||
      !cleave_tflite_check_same_scale (import, 0, error) ||
      !cleave_tflite_find_result (import, 0, &from, error))
    return FALSE;
  if (x->rank != 4 || size.n != 2)
    return cleave_tflite_refuse (error, "input 0 must have 4 dimensions, input 1 two elements");
  if (align != 0 && half != 0)
    return cleave_tflite_refuse (error, "align_corners and half_pixel_centers exclude each other");
  attrs->coordinate_transformation_mode = align != 0  ? CLEAVE_RESIZE_ALIGN_CORNERS
                                          : half != 0 ? CLEAVE_RESIZE_HALF_PIXEL
                                                      : CLEAVE_RESIZE_ASYMMETRIC;
  /* With half_pixel_centers or align_corners, positions are rounded to the nearest element, and a
   * fraction of 0.5 is rounded up. Without these options, positions are rounded down. */
  attrs->nearest_mode =
      align != 0 || half != 0 ? CLEAVE_RESIZE_ROUND_PREFER_CEIL : CLEAVE_RESIZE_FLOOR;
  attrs->sizes = (CleaveInts){ 4, { x->dim[0], size.v[0], size.v[1], x->dim[3] } };
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add_unary (import, "Resize", from, attrs, error), error);
}

gboolean
cleave_tflite_convert_resize_nearest (CleaveTfliteImport *import, GError **error)
{
  CleaveResizeAttrs attrs = { .mode = CLEAVE_RESIZE_NEAREST };

  return convert_resize (import, &attrs, 0, error);
}

gboolean
cleave_tflite_convert_resize_bilinear (CleaveTfliteImport *import, GError **error)
{
  CleaveResizeAttrs attrs = { .mode = CLEAVE_RESIZE_LINEAR };

  return convert_resize (import, &attrs, 2, error);
}

/* Converts RESIZE_BILINEAR on integers. Output pixel i reads the position i * step + shift of the
 * input, in units of 1 / 1024. */
gboolean
cleave_tflite_convert_integer_resize_bilinear (CleaveTfliteImport *import, GError **error)
{
  const gint64 unit = 1024, max_extent = 1 << 20;
  const CleaveShape *x = &cleave_tflite_input_type (import, 0)->shape;
  CleaveTfliteResizeAttrs attrs = { .steps.n = 2, .shifts.n = 2 };
  gint64 align, half;
  CleaveResult *from;

  if (!cleave_tflite_read_ints (import, 1, &attrs.sizes, error) ||
      !cleave_tflite_option (import, 2, 1, 0, &align, error) ||
      !cleave_tflite_option (import, 3, 1, 0, &half, error) ||
      !cleave_tflite_check_same_scale (import, 0, error) ||
      !cleave_tflite_find_result (import, 0, &from, error))
    return FALSE;
  if (x->rank != 4 || attrs.sizes.n != 2 || (align != 0 && half != 0))
    return cleave_tflite_refuse (error, "input 0 must have 4 dimensions, input 1 two elements, and "
                                        "align_corners and half_pixel_centers exclude each other");
  for (guint i = 0; i < 2; i++)
    {
      gint64 in = x->dim[1 + i], out = attrs.sizes.v[i], skipped = align != 0 && out > 1 ? 1 : 0;

      if (in < 1 || in > max_extent || out < 1 || out > max_extent)
        return cleave_tflite_refuse (error, "extents must be 1 to %" G_GINT64_FORMAT, max_extent);
      attrs.steps.v[i] = (unit * (in - skipped) + (out - skipped) / 2) / (out - skipped);
      attrs.shifts.v[i] = half != 0 ? attrs.steps.v[i] / 2 - unit / 2 : 0;
    }
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_unary (import, "TfliteResizeBilinear", from, &attrs, error),
      error);
}
