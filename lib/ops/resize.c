/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Resize of any number of dimensions, opset 13. A piece has attributes with which it reads, for
 * each element of the result, the same place of the operand as the whole node.
 *
 * resize-reference.c computes the result. */

#include <math.h>

#include "resize-reference.h"
#include "resize-taps.h"

static const char *const coordinate_names[] = { "half_pixel", "pytorch_half_pixel", "align_corners",
                                                "asymmetric", "tf_crop_and_resize", NULL };

#define OF_PIECES CLEAVE_AT_LEAST (0), .flags = CLEAVE_ATTR_NO_DEFAULT | CLEAVE_ATTR_NOT_ONNX

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveResizeAttrs, mode),
    .names = (const char *const[]){ "nearest", "linear", "cubic", NULL } },
  { "coordinate_transformation_mode", CLEAVE_ATTR_ENUM,
    CLEAVE_FIELD (CleaveResizeAttrs, coordinate_transformation_mode), .names = coordinate_names },
  { "nearest_mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveResizeAttrs, nearest_mode),
    .names =
        (const char *const[]){ "round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL } },
  { "cubic_coeff_a", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleaveResizeAttrs, cubic_coeff_a),
    .fallback = -0.75 },
  { "exclude_outside", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveResizeAttrs, exclude_outside) },
  { "extrapolation_value", CLEAVE_ATTR_DOUBLE,
    CLEAVE_FIELD (CleaveResizeAttrs, extrapolation_value) },
  { "roi", CLEAVE_ATTR_DOUBLES, CLEAVE_FIELD (CleaveResizeAttrs, roi), .onnx_operand = 1 },
  { "scales", CLEAVE_ATTR_DOUBLES, CLEAVE_FIELD (CleaveResizeAttrs, scales), .onnx_operand = 2 },
  { "sizes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveResizeAttrs, sizes), CLEAVE_AT_LEAST (0),
    .onnx_operand = 3, .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "phase", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveResizeAttrs, phase), OF_PIECES },
  { "begin", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveResizeAttrs, begin), OF_PIECES },
  { "extents", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveResizeAttrs, extents), OF_PIECES },
  { "lengths", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveResizeAttrs, lengths), OF_PIECES },
  { 0 },
};

static gboolean
check_length (const char *name, guint n, guint expected, GError **error)
{
  if (n == 0 || n == expected)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%s has %u entries, not %u", name, n,
                      expected);
}

/* Sets each attribute to its default if the modes of the node do not use the attribute. */
static void
forget_unread (CleaveResizeAttrs *a)
{
  if (a->mode != CLEAVE_RESIZE_NEAREST)
    a->nearest_mode = CLEAVE_RESIZE_ROUND_PREFER_FLOOR;
  if (a->mode != CLEAVE_RESIZE_CUBIC)
    {
      a->cubic_coeff_a = -0.75;
      a->exclude_outside = FALSE;
    }
  if (a->coordinate_transformation_mode != CLEAVE_RESIZE_TF_CROP_AND_RESIZE)
    {
      a->roi.n = 0;
      a->extrapolation_value = 0;
    }
}

/* Checks the attributes. A node has either scales or sizes. A piece with the attribute `phase`
 * (narrow()) has both scales and sizes. */
static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveResizeAttrs *a = attrs;
  guint rank = call->operands[0].shape.rank;
  gboolean crop = a->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE;

  forget_unread (a);
  if (!check_length ("scales", a->scales.n, rank, error) ||
      !check_length ("sizes", a->sizes.n, rank, error) ||
      !check_length ("phase", a->phase.n, rank, error) ||
      !check_length ("begin", a->begin.n, a->phase.n, error) ||
      !check_length ("extents", a->extents.n, a->begin.n, error) ||
      !check_length ("lengths", a->lengths.n, a->begin.n, error) ||
      !check_length ("roi", a->roi.n, 2 * rank, error))
    return FALSE;
  if (crop && a->roi.n == 0 && rank > 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "tf_crop_and_resize needs roi");
  if (a->scales.n == 0 && a->sizes.n == 0 && rank > 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "scales or sizes is needed");
  if (a->scales.n != 0 && a->sizes.n != 0 && a->phase.n == 0)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "scales and sizes are both given, only one may be");
  if (a->phase.n != 0 && (a->scales.n == 0 || a->sizes.n == 0))
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "phase needs scales and sizes");
  if (a->begin.n != a->extents.n || a->begin.n != a->lengths.n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "begin needs extents and lengths");
  for (guint i = 0; i < a->roi.n; i++)
    if (!isfinite (a->roi.v[i]))
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "entry %u of roi is %g", i, a->roi.v[i]);
  for (guint d = 0; d < a->scales.n; d++)
    if (!(a->scales.v[d] > 0 && isfinite (a->scales.v[d])))
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "scale %u must be a number above 0, not %g", d, a->scales.v[d]);
  return TRUE;
}

/* Sets `scaled` to an extent times its scale, rounded down. Computes in float32, as ONNX's shape
 * inference does; the result is exact for an integer scale. Returns FALSE if the result is too
 * large. */
static gboolean
scale_extent (const CleaveResizeAttrs *a, guint d, gint64 extent, gint64 *scaled)
{
  double scale = a->scales.v[d];
  float product = (float) extent * (float) scale;
  gint64 factor;

  if (a->roi.n != 0)
    product *= (float) (a->roi.v[a->roi.n / 2 + d] - a->roi.v[d]);
  else if (scale < 0x1p62 && scale == floor (scale))
    {
      factor = (gint64) scale;
      return !__builtin_mul_overflow (extent, factor, scaled);
    }
  if (!(product < 0x1p62f))
    return FALSE;
  *scaled = product > 0 ? (gint64) product : 0;
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveResizeAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;
  gint64 *y = results[0].shape.dim;

  if (a->mode != CLEAVE_RESIZE_NEAREST &&
      !cleave_call_check_element (call, 0, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error))
    return FALSE;
  results[0] = call->operands[0];
  for (guint d = 0; d < x->rank; d++)
    {
      if (a->sizes.n != 0)
        y[d] = a->sizes.v[d];
      else if (!scale_extent (a, d, x->dim[d], &y[d]))
        return cleave_fail (error, CLEAVE_ERROR_SHAPE, "dimension %u times %g does not fit 64 bits",
                            d, a->scales.v[d]);
      if (cleave_ints_at (&a->extents, d, 0) != 0 &&
          (a->begin.v[d] + x->dim[d] > a->extents.v[d] || a->phase.v[d] + y[d] > a->lengths.v[d]))
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "dimension %u is not a part of a dimension of %" G_GINT64_FORMAT
                            " that is resized to %" G_GINT64_FORMAT,
                            d, a->extents.v[d], a->lengths.v[d]);
      if (x->dim[d] == 0 && y[d] > 0)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "dimension %u is empty and cannot become %" G_GINT64_FORMAT, d, y[d]);
    }
  return TRUE;
}

static CleaveResizeAxis
axis_of_call (const CleaveCall *call, guint d)
{
  return cleave_resize_axis (call->attrs, d, call->operands[0].shape.dim[d],
                             call->results[0].shape.dim[d]);
}

/* Returns whether, for every i, element i of the result is a copy of element i / factor of the
 * operand. */
static gboolean
repeats (const CleaveResizeAxis *axis)
{
  const CleaveResizeAttrs *a = axis->attrs;

  if (a->mode != CLEAVE_RESIZE_NEAREST)
    return FALSE;
  if (axis->half)
    return a->nearest_mode == CLEAVE_RESIZE_ROUND_PREFER_FLOOR ||
           a->nearest_mode == CLEAVE_RESIZE_ROUND_PREFER_CEIL;
  return a->nearest_mode == CLEAVE_RESIZE_FLOOR;
}

/* Returns whether a dimension can be cut. If the factor is no integer and the mode is not nearest,
 * the elements must be floats: the exporter writes a piece as products with matrices of weights. */
static gboolean
can_be_cut (const CleaveCall *call, const CleaveResizeAxis *axis)
{
  return axis->factor != 0 ||
         (axis->attrs->roi.n == 0 && axis->all_to > 1 &&
          (axis->attrs->mode == CLEAVE_RESIZE_NEAREST ||
           (CLEAVE_ELEMENT_BIT (call->operands[0].element) & CLEAVE_ELEMENTS_FLOAT) != 0));
}

/* If positions are not fractions of integers, maps approximate them by fractions with this
 * denominator. The error is less than half an element. */
#define NEAR_BLOCK ((gint64) 1 << 20)

static gboolean
map_near (const CleaveResizeAxis *axis, CleaveDimMap *map)
{
  double step = 1 / axis->scale;

  if (axis->attrs->coordinate_transformation_mode == CLEAVE_RESIZE_ALIGN_CORNERS)
    step = (double) (axis->all_from - 1) / (axis->length - 1);
  step = nearbyint (step * (double) NEAR_BLOCK);
  if (axis->all_to > NEAR_BLOCK || !(step >= 1 && step < 0x1p40))
    return FALSE;
  map->block = NEAR_BLOCK;
  map->times = (gint64) step;
  map->shift = axis->phase * map->times;
  if (axis->half)
    map->shift += (map->times - map->block) / 2;
  map->offset--;
  map->window += 2;
  return TRUE;
}

/* Sets the map from a span of the result to the elements of the operand around the span's
 * positions. Each position needs two elements, or four for cubic interpolation. Returns FALSE if
 * there is no such map. */
static gboolean
map_around (const CleaveResizeAxis *axis, CleaveDimMap *map)
{
  map->window = axis->attrs->mode == CLEAVE_RESIZE_CUBIC ? 4 : 2;
  map->offset = -axis->begin - (axis->attrs->mode == CLEAVE_RESIZE_CUBIC ? 1 : 0);
  if (axis->block == 0)
    return map_near (axis, map);
  map->block = axis->block;
  map->times = axis->times;
  map->shift = axis->shift;
  return axis->block > 1 && axis->times > 0;
}

static void
map_factor (const CleaveResizeAxis *axis, CleaveDimMap *map)
{
  map->shift = axis->phase;
  map->block = axis->factor;
  if (axis->factor == 1 || repeats (axis))
    return;
  map->shift -= axis->half ? axis->factor / 2 : 0;
  map->window = axis->attrs->mode == CLEAVE_RESIZE_CUBIC ? 4 : 2;
  map->offset = axis->attrs->mode == CLEAVE_RESIZE_CUBIC ? -1 : 0;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  for (guint d = 0; d < call->operands[0].shape.rank; d++)
    {
      CleaveResizeAxis axis = axis_of_call (call, d);

      map[d] = cleave_dim_map_same (d);
      if (axis.factor != 0)
        map_factor (&axis, &map[d]);
      else if (!can_be_cut (call, &axis) || !map_around (&axis, &map[d]))
        map[d] = cleave_dim_map_whole (axis.from);
    }
}

static double
work (const CleaveCall *call)
{
  static const double taps[] = { 1, 2, 4 };
  const CleaveResizeAttrs *a = call->attrs;
  double n = (double) cleave_shape_n_elements (&call->results[0].shape);

  for (guint d = 0; d < call->operands[0].shape.rank; d++)
    n *= axis_of_call (call, d).factor == 1 ? 1 : taps[a->mode];
  return n;
}

/* Sets the attributes of a piece:
 *
 * - If a Resize of the slice gives exactly the chunk, the piece has `scales` or `sizes`, as the
 *   node has.
 * - If the chunk begins or ends elsewhere, and the factor is an integer, the piece has `scales`,
 *   `sizes` and `phase`. `phase` is the begin of the chunk, relative to the begin of a Resize of
 *   the slice.
 * - If a dimension whose factor is no integer is cut, the piece also has `begin`, `lengths` and
 *   `extents`. In this dimension, `phase` is the begin of the chunk in the whole result, and
 *   `begin` is the begin of the slice in the whole operand. `lengths` is the extent of the whole
 *   result, and `extents` is the extent of the whole operand. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  const CleaveResizeAttrs *whole = call->attrs;
  CleaveResizeAttrs *a = attrs;
  gboolean is_plain = whole->phase.n == 0, is_placed = FALSE;

  for (guint d = 0; d < chunk->range.rank; d++)
    {
      CleaveResizeAxis axis = axis_of_call (call, d);
      CleaveSpan slice = chunk->slices[0].range.dim[d], span = chunk->range.dim[d];
      gint64 n = span.end - span.begin, n_slice = slice.end - slice.begin;
      gboolean is_cut = axis.factor == 0 && (n != axis.to || n_slice != axis.from);

      if (is_cut && !can_be_cut (call, &axis))
        return cleave_refuse (why,
                              "dimension %u, resized by %g with %s, cannot be cut: a cut needs a "
                              "whole factor, or floats or mode nearest without a roi",
                              d, axis.scale, coordinate_names[a->coordinate_transformation_mode]);
      a->sizes.v[d] = n;
      a->scales.v[d] = axis.scale;
      a->phase.v[d] = axis.factor == 0 ? 0 : span.begin + axis.phase - slice.begin * axis.factor;
      a->begin.v[d] = a->extents.v[d] = a->lengths.v[d] = 0;
      if (axis.factor == 0 && (is_cut || cleave_ints_at (&whole->extents, d, 0) != 0))
        {
          a->phase.v[d] = axis.phase + span.begin;
          a->begin.v[d] = axis.begin + slice.begin;
          a->extents.v[d] = axis.all_from;
          a->lengths.v[d] = axis.all_to;
          is_placed = TRUE;
        }
      is_plain = is_plain && !is_placed &&
                 (axis.factor == 0 || (a->phase.v[d] == 0 && n == n_slice * axis.factor));
    }
  if (!is_plain)
    a->scales.n = a->sizes.n = a->phase.n = chunk->range.rank;
  if (is_placed)
    a->begin.n = a->extents.n = a->lengths.n = chunk->range.rank;
  return TRUE;
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  const CleaveResizeAttrs *a = call->attrs;
  CleaveElement element = call->operands[0].element;

  if (a->mode == CLEAVE_RESIZE_NEAREST)
    return CLEAVE_KERNEL_NEAREST;
  return element == CLEAVE_INT8 || element == CLEAVE_UINT8 || element == CLEAVE_INT32
             ? CLEAVE_KERNEL_UPCAST_PIECES
             : cleave_kernel_of_floats (call, CLEAVE_KERNEL_RESIZE);
}

const CleaveOp cleave_op_resize = {
  .name = "Resize",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleaveResizeAttrs),
  .attrs = attr_table,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .work = work,
  .narrow = narrow,
  .kernel = kernel,
  .compute = cleave_resize_compute,
};
