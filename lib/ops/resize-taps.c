/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the positions of a Resize, and the elements around them. Positions are computed exactly,
 * as fractions of integers, in two cases. First, if the field `factor` of CleaveResizeAxis is set.
 * Second, if the scale is the extent of the result divided by the extent of the operand, and the
 * mode is not nearest. */

#include "resize-taps.h"

#include <math.h>

/* The kernels compute positions as fractions of integers only if the extents are below this number.
 * Products of two extents and a small factor then fit into 64 bits. */
#define MAX_EXTENT ((gint64) 1 << 29)

/* If the positions of an axis are fractions of integers, sets `times`, `shift` and `block` of the
 * axis: element i is at (i * times + shift) / block. */
static void
find_fraction (CleaveResizeAxis *axis)
{
  CleaveResizeCoordinates mode = axis->attrs->coordinate_transformation_mode;
  gboolean is_exact = axis->all_from < MAX_EXTENT && axis->all_to < MAX_EXTENT &&
                      axis->scale == (double) axis->all_to / (double) axis->all_from;
  gint64 from = axis->factor != 0 ? 1 : axis->all_from;
  gint64 to = axis->factor != 0 ? axis->factor : axis->all_to;

  if (axis->factor == 0 && (!is_exact || axis->attrs->mode == CLEAVE_RESIZE_NEAREST))
    return;
  if (axis->half && (to > 1 || axis->factor != 0))
    {
      axis->times = 2 * from;
      axis->shift = from - to;
      axis->block = 2 * to;
    }
  else if (axis->factor != 0 || mode == CLEAVE_RESIZE_ASYMMETRIC)
    {
      axis->times = from;
      axis->block = to;
    }
  else if (mode == CLEAVE_RESIZE_ALIGN_CORNERS && to > 1)
    {
      axis->times = from - 1;
      axis->block = to - 1;
    }
  axis->shift += axis->phase * axis->times;
}

CleaveResizeAxis
cleave_resize_axis (const CleaveResizeAttrs *a, guint d, gint64 from, gint64 to)
{
  CleaveResizeAxis axis = {
    .attrs = a,
    .from = from,
    .to = to,
    .all_from = from,
    .all_to = to,
    .begin = cleave_ints_at (&a->begin, d, 0),
    .end = 1,
    .phase = cleave_ints_at (&a->phase, d, 0),
  };
  gboolean same;

  if (cleave_ints_at (&a->extents, d, 0) != 0)
    {
      axis.all_from = a->extents.v[d];
      axis.all_to = cleave_ints_at (&a->lengths, d, 0);
    }
  if (a->roi.n != 0)
    {
      axis.start = a->roi.v[d];
      axis.end = a->roi.v[a->roi.n / 2 + d];
    }
  axis.scale = a->scales.n != 0 ? a->scales.v[d] : (double) axis.all_to / (double) axis.all_from;
  /* If the scale gives a fractional length, ONNX's own tests compute positions with that length,
   * without rounding. */
  axis.length = a->roi.n != 0 || axis.scale == (double) axis.all_to / (double) axis.all_from
                    ? (double) axis.all_to
                    : axis.scale * (double) axis.all_from;
  axis.half = a->coordinate_transformation_mode == CLEAVE_RESIZE_HALF_PIXEL ||
              a->coordinate_transformation_mode == CLEAVE_RESIZE_PYTORCH_HALF_PIXEL;
  same = axis.scale == 1 && axis.start == 0 && axis.end == 1;
  if (same || ((axis.half || a->coordinate_transformation_mode == CLEAVE_RESIZE_ASYMMETRIC) &&
               axis.scale >= 1 && axis.scale < 0x1p31 && axis.scale == floor (axis.scale)))
    axis.factor = (gint64) axis.scale;
  find_fraction (&axis);
  return axis;
}

/* The position of an element of the result, in elements of the operand. */
typedef struct
{
  gint64 floor;
  double fraction;
  gboolean outside; /* whether the position is outside of the region of tf_crop_and_resize */
} Position;

/* Rounds a number to float32 for the mode nearest: the last bit can decide which element is
 * nearest, and other runtimes compute positions in float32. Returns the number unchanged in other
 * modes, and if an extent exceeds 2^24: float32 cannot represent all larger integers. */
static double
as_float (const CleaveResizeAxis *axis, double number)
{
  gboolean is_counted = axis->all_from <= 1 << 24 && axis->all_to <= 1 << 24;

  return axis->attrs->mode == CLEAVE_RESIZE_NEAREST && is_counted ? (float) number : number;
}

#define F(number) as_float (axis, number)

static double
find_real (const CleaveResizeAxis *axis, double at)
{
  double last = (double) (axis->all_from - 1), scale = F (axis->scale);

  switch (axis->attrs->coordinate_transformation_mode)
    {
    case CLEAVE_RESIZE_PYTORCH_HALF_PIXEL:
      if (axis->all_to <= 1)
        return 0;
      return F (F ((at + 0.5) / scale) - 0.5);
    case CLEAVE_RESIZE_HALF_PIXEL:
      return F (F ((at + 0.5) / scale) - 0.5);
    case CLEAVE_RESIZE_ALIGN_CORNERS:
      return axis->length == 1 ? 0 : F (F (at * last) / F (axis->length - 1));
    case CLEAVE_RESIZE_ASYMMETRIC:
      return F (at / scale);
    case CLEAVE_RESIZE_TF_CROP_AND_RESIZE:
      if (axis->all_to <= 1)
        return F (F (0.5 * F (axis->start + axis->end)) * last);
      return F (F (axis->start * last) +
                F (F (F (at * F (axis->end - axis->start)) * last) / (axis->length - 1)));
    }
  return 0;
}

#undef F

static Position
find_position (const CleaveResizeAxis *axis, gint64 at)
{
  double last = (double) (axis->all_from - 1), real;
  Position position = { 0 };

  if (axis->block != 0)
    {
      gint64 n = at * axis->times + axis->shift;

      position.floor = cleave_floor_div (n, axis->block);
      position.fraction = (double) (n - position.floor * axis->block) / (double) axis->block;
      return position;
    }
  real = find_real (axis, (double) (at + axis->phase));
  position.outside =
      axis->attrs->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE &&
      !(real >= 0 && real <= last);
  /* Clamp the position, since a scale close to 0 gives huge positions. At these limits and beyond,
   * all taps are outside of the operand. */
  real = CLAMP (real, -4, last + 4);
  position.floor = (gint64) floor (real);
  position.fraction = real - floor (real);
  return position;
}

static gint64
nearest (CleaveResizeNearest mode, const Position *position)
{
  switch (mode)
    {
    case CLEAVE_RESIZE_ROUND_PREFER_FLOOR:
      return position->floor + (position->fraction > 0.5);
    case CLEAVE_RESIZE_ROUND_PREFER_CEIL:
      return position->floor + (position->fraction >= 0.5);
    case CLEAVE_RESIZE_FLOOR:
      return position->floor;
    case CLEAVE_RESIZE_CEIL:
      return position->floor + (position->fraction > 0);
    }
  return position->floor;
}

/* keys_near() and keys_far() return the weight of the cubic convolution of R. G. Keys at distance
 * t: keys_near() for t up to 1, keys_far() for t from 1 to 2. `a` is the coefficient cubic_coeff_a.
 */
static double
keys_near (double a, double t)
{
  return ((a + 2) * t - (a + 3)) * t * t + 1;
}

static double
keys_far (double a, double t)
{
  return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a;
}

/* Removes the taps outside of the operand, and scales the other weights to a sum of 1. */
static void
exclude_outside (CleaveResizeTaps *taps, gint64 extent)
{
  double sum = 0;
  guint n = 0;

  for (guint k = 0; k < taps->n; k++)
    if (taps->at[k] >= 0 && taps->at[k] < extent)
      {
        taps->at[n] = taps->at[k];
        taps->weight[n++] = taps->weight[k];
        sum += taps->weight[k];
      }
  if (n == 0)
    return;
  taps->n = n;
  for (guint k = 0; k < n; k++)
    taps->weight[k] /= sum;
}

CleaveResizeTaps
cleave_resize_taps (const CleaveResizeAxis *axis, gint64 at)
{
  const CleaveResizeAttrs *a = axis->attrs;
  Position position = find_position (axis, at);
  double t = position.fraction;
  CleaveResizeTaps taps = {
    .n = 1, .outside = position.outside, .at = { position.floor }, .weight = { 1 }
  };

  if (a->mode == CLEAVE_RESIZE_NEAREST)
    taps.at[0] = nearest (a->nearest_mode, &position);
  /* the position is exactly at an element: skip its neighbors, since 0 * infinity would be NaN */
  else if (t == 0)
    taps.n = 1;
  else if (a->mode == CLEAVE_RESIZE_LINEAR)
    taps = (CleaveResizeTaps){
      2, position.outside, { position.floor, position.floor + 1 }, { 1 - t, t }
    };
  else
    taps = (CleaveResizeTaps){
      4,
      position.outside,
      { position.floor - 1, position.floor, position.floor + 1, position.floor + 2 },
      { keys_far (a->cubic_coeff_a, 1 + t), keys_near (a->cubic_coeff_a, t),
        keys_near (a->cubic_coeff_a, 1 - t), keys_far (a->cubic_coeff_a, 2 - t) },
    };
  if (a->mode == CLEAVE_RESIZE_CUBIC && a->exclude_outside)
    exclude_outside (&taps, axis->all_from);
  for (guint k = 0; k < taps.n; k++)
    taps.at[k] = CLAMP (CLAMP (taps.at[k], 0, axis->all_from - 1) - axis->begin, 0, axis->from - 1);
  return taps;
}

CleaveResizeTaps *
cleave_resize_new_taps (const CleaveResizeAxis *axis)
{
  CleaveResizeTaps *taps = g_new (CleaveResizeTaps, (gsize) axis->to);

  for (gint64 i = 0; i < axis->to; i++)
    taps[i] = cleave_resize_taps (axis, i);
  return taps;
}

guint
cleave_resize_most_taps (const CleaveResizeTaps *taps, gint64 n)
{
  guint most = 1;

  for (gint64 i = 0; i < n; i++)
    most = MAX (most, taps[i].n);
  return most;
}

static gboolean
is_identity (const CleaveResizeAxis *axis)
{
  for (gint64 i = 0; i < axis->to; i++)
    {
      CleaveResizeTaps taps = cleave_resize_taps (axis, i);

      if (taps.n != 1 || taps.at[0] != i)
        return FALSE;
    }
  return axis->to == axis->from;
}

guint
cleave_resize_find_channels (const CleaveResizeAttrs *attrs,
                             const CleaveView *x,
                             const CleaveView *y)
{
  for (guint d = 0; d < x->type.shape.rank; d++)
    if (x->stride[d] == 1 && y->stride[d] == 1 && y->type.shape.dim[d] > 1)
      {
        CleaveResizeAxis axis =
            cleave_resize_axis (attrs, d, x->type.shape.dim[d], y->type.shape.dim[d]);

        if (is_identity (&axis))
          return d;
      }
  return x->type.shape.rank;
}
