/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts DYNAMIC_UPDATE_SLICE at a constant position, and SEGMENT_SUM with constant segments. */

#include "convert.h"

#include <string.h>

/* Returns the elements from `begin` to `end` of x along dimension `d`. Along the dimensions before
 * d, takes only the elements that the update replaces. Along the dimensions after d, takes all
 * elements. */
static CleaveResult *
take (CleaveTfliteImport *import,
      CleaveResult *x,
      const CleaveInts *starts,
      const CleaveShape *update,
      guint d,
      gint64 begin,
      gint64 end,
      GError **error)
{
  CleaveSliceAttrs attrs = { 0 };

  attrs.starts.n = attrs.ends.n = attrs.axes.n = d + 1;
  for (guint i = 0; i <= d; i++)
    {
      attrs.axes.v[i] = i;
      attrs.starts.v[i] = i < d ? starts->v[i] : begin;
      attrs.ends.v[i] = i < d ? starts->v[i] + update->dim[i] : end;
    }
  return cleave_tflite_add_unary (import, "Slice", x, &attrs, error);
}

/* Reads the position of the update into `starts`. If the update would reach beyond x, moves the
 * position so that the update lies inside x. */
static gboolean
read_starts (CleaveTfliteImport *import, CleaveInts *starts, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, 0)->shape;
  const CleaveShape *update = &cleave_tflite_input_type (import, 1)->shape;

  if (!cleave_tflite_read_ints (import, 2, starts, error))
    return FALSE;
  if (starts->n != x->rank || update->rank != x->rank)
    return cleave_tflite_refuse (error,
                                 "the operand has %u dimensions, the update %u, and %u numbers "
                                 "give its place; they must be equal",
                                 x->rank, update->rank, starts->n);
  for (guint d = 0; d < x->rank; d++)
    {
      if (update->dim[d] < 1 || update->dim[d] > x->dim[d])
        return cleave_tflite_refuse (error,
                                     "the update has the extent %" G_GINT64_FORMAT
                                     " in dimension %u, it must be 1 to %" G_GINT64_FORMAT,
                                     update->dim[d], d, x->dim[d]);
      starts->v[d] = CLAMP (starts->v[d], 0, x->dim[d] - update->dim[d]);
    }
  return TRUE;
}

/* Converts DYNAMIC_UPDATE_SLICE. From the last dimension to the first, joins the update with the
 * elements of x that come before and after the update along the dimension. */
gboolean
cleave_tflite_convert_update_slice (CleaveTfliteImport *import, GError **error)
{
  const CleaveShape *all = &cleave_tflite_input_type (import, 0)->shape;
  const CleaveShape *update = &cleave_tflite_input_type (import, 1)->shape;
  CleaveResult *x, *y;
  CleaveInts starts;

  if (!read_starts (import, &starts, error) || !cleave_tflite_check_same_scale (import, 0, error) ||
      !cleave_tflite_check_same_scale (import, 1, error) ||
      !cleave_tflite_find_result (import, 0, &x, error) ||
      !cleave_tflite_find_result (import, 1, &y, error))
    return FALSE;
  for (guint d = all->rank; d-- > 0;)
    {
      gint64 begin = starts.v[d], end = begin + update->dim[d];
      CleaveResult *parts[3];
      CleaveAxisAttrs attrs = { d };
      guint n = 0;

      if (begin > 0)
        parts[n++] = take (import, x, &starts, update, d, 0, begin, error);
      parts[n++] = y;
      if (end < all->dim[d])
        parts[n++] = take (import, x, &starts, update, d, end, all->dim[d], error);
      for (guint i = 0; i < n; i++)
        if (parts[i] == NULL)
          return FALSE;
      if (n > 1)
        y = cleave_tflite_add (import, "Concat", parts, n, &attrs, error);
    }
  return cleave_tflite_set (import, 0, y, error);
}

/* Converts SEGMENT_SUM. Row i of the result is the sum of the rows of x whose segment is i. */
gboolean
cleave_tflite_convert_segment_sum (CleaveTfliteImport *import, GError **error)
{
  const CleaveTensorType *type = &cleave_tflite_output (import, 0)->type;
  const CleaveShape *ids = &cleave_tflite_input_type (import, 1)->shape;
  CleaveScatterAttrs attrs = { .reduction = CLEAVE_SCATTER_ADD };
  CleaveCastAttrs cast = { CLEAVE_INT64 };
  CleaveResult *operands[3];

  if (ids->rank != 1)
    return cleave_tflite_refuse (error, "the segments have %u dimensions, they must have 1",
                                 ids->rank);
  if (!cleave_tflite_find_result (import, 1, &operands[1], error) ||
      !cleave_tflite_find_result (import, 0, &operands[2], error) ||
      (operands[0] = cleave_tflite_add_zeros (import, type, error)) == NULL)
    return FALSE;
  operands[1] = cleave_tflite_add_unary (import, "Cast", operands[1], &cast, error);
  operands[1] = cleave_tflite_fold (
      import,
      cleave_tflite_add_reshape (import, operands[1], &CLEAVE_SHAPE (ids->dim[0], 1), error),
      error);
  if (operands[1] == NULL)
    return FALSE;
  return cleave_tflite_set (
      import, 0, cleave_tflite_add (import, "ScatterND", operands, 3, &attrs, error), error);
}
