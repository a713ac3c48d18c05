/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Operators that take parts of a value, or put parts together. Integers keep their scale. */

#include "convert.h"

static gboolean
find_moved (CleaveTfliteImport *import, guint i, CleaveResult **x, GError **error)
{
  return cleave_tflite_check_same_scale (import, i, error) &&
         cleave_tflite_find_result (import, i, x, error);
}

/* SLICE: begins, and sizes; -1 is the rest. */
gboolean
cleave_tflite_convert_slice (CleaveTfliteImport *import, GError **error)
{
  CleaveInts begins, sizes;
  CleaveSliceAttrs attrs = { 0 };
  CleaveResult *x;
  const CleaveShape *shape;

  if (!cleave_tflite_read_ints (import, 1, &begins, error) ||
      !cleave_tflite_read_ints (import, 2, &sizes, error) || !find_moved (import, 0, &x, error))
    return FALSE;
  shape = &cleave_result_get_type (x)->shape;
  if (begins.n != shape->rank || sizes.n != shape->rank)
    return cleave_tflite_refuse (error, "inputs 1 and 2 must have %u elements", shape->rank);
  attrs.starts.n = attrs.ends.n = shape->rank;
  for (guint d = 0; d < shape->rank; d++)
    {
      gint64 size = sizes.v[d] == -1 ? shape->dim[d] - begins.v[d] : sizes.v[d];

      if (begins.v[d] < 0 || size < 0 || begins.v[d] > shape->dim[d] ||
          size > shape->dim[d] - begins.v[d])
        return cleave_tflite_refuse (error, "the part is beyond dimension %u", d);
      attrs.starts.v[d] = begins.v[d];
      attrs.ends.v[d] = begins.v[d] + size;
    }
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Slice", x, &attrs, error),
                            error);
}

/* STRIDED_SLICE: begins, ends, strides, and masks with a bit for each dimension. A begin or an end
 * whose bit is set is the edge; a dimension whose shrink bit is set is removed. */

enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, OFFSET };

static gboolean
read_masks (CleaveTfliteImport *import, gint64 *masks, GError **error)
{
  gint64 is_offset;

  for (guint i = BEGIN_MASK; i <= SHRINK_MASK; i++)
    if (!cleave_tflite_option (import, i, 4, 0, &masks[i], error))
      return FALSE;
  if (!cleave_tflite_option (import, OFFSET, 1, 0, &is_offset, error))
    return FALSE;
  if (masks[ELLIPSIS_MASK] != 0 || masks[NEW_AXIS_MASK] != 0 || is_offset != 0)
    return cleave_tflite_refuse (error, "ellipsis, new axes and offsets are not supported");
  return TRUE;
}

/* Sets the slice of dimension `d`. */
static gboolean
slice_dim (const gint64 *masks, CleaveSliceAttrs *a, guint d, gint64 extent, GError **error)
{
  gint64 bit = (gint64) 1 << d, step = a->steps.v[d];

  if (step == 0)
    return cleave_tflite_refuse (error, "stride %u is 0", d);
  if ((masks[SHRINK_MASK] & bit) != 0)
    {
      gint64 at = a->starts.v[d] + (a->starts.v[d] < 0 ? extent : 0);

      if (at < 0 || at >= extent)
        return cleave_tflite_refuse (error, "index %" G_GINT64_FORMAT " is beyond dimension %u",
                                     a->starts.v[d], d);
      a->starts.v[d] = at;
      a->ends.v[d] = at + 1;
      a->steps.v[d] = 1;
      return TRUE;
    }
  if ((masks[BEGIN_MASK] & bit) != 0)
    a->starts.v[d] = step > 0 ? 0 : G_MAXINT32;
  if ((masks[END_MASK] & bit) != 0)
    a->ends.v[d] = step > 0 ? G_MAXINT32 : G_MININT32;
  return TRUE;
}

gboolean
cleave_tflite_convert_strided_slice (CleaveTfliteImport *import, GError **error)
{
  CleaveSliceAttrs attrs = { 0 };
  gint64 masks[SHRINK_MASK + 1];
  const CleaveShape *shape;
  CleaveResult *x;

  if (!read_masks (import, masks, error) ||
      !cleave_tflite_read_ints (import, 1, &attrs.starts, error) ||
      !cleave_tflite_read_ints (import, 2, &attrs.ends, error) ||
      !cleave_tflite_read_ints (import, 3, &attrs.steps, error) ||
      !find_moved (import, 0, &x, error))
    return FALSE;
  shape = &cleave_result_get_type (x)->shape;
  if (attrs.starts.n > shape->rank || attrs.ends.n != attrs.starts.n ||
      attrs.steps.n != attrs.starts.n)
    return cleave_tflite_refuse (error, "inputs 1 to 3 must have as many elements, at most %u",
                                 shape->rank);
  attrs.axes.n = attrs.starts.n;
  for (guint d = 0; d < attrs.starts.n; d++)
    {
      attrs.axes.v[d] = d;
      if (!slice_dim (masks, &attrs, d, shape->dim[d], error))
        return FALSE;
    }
  x = cleave_tflite_add_unary (import, "Slice", x, &attrs, error);
  if (masks[SHRINK_MASK] != 0 && x != NULL &&
      cleave_shape_n_elements (&cleave_result_get_type (x)->shape) ==
          cleave_shape_n_elements (&cleave_tflite_output (import, 0)->type.shape))
    x = cleave_tflite_add_reshape (import, x, &cleave_tflite_output (import, 0)->type.shape, error);
  return cleave_tflite_set (import, 0, x, error);
}

/* Adds a Split into parts along an axis, and makes them the outputs. */
static gboolean
set_parts (
    CleaveTfliteImport *import, CleaveResult *x, gint64 axis, const gint64 *sizes, GError **error)
{
  guint n = import->op->outputs.n;
  CleaveNode *node = cleave_graph_add_split (import->graph, NULL, x, axis, sizes, n, error);

  for (guint i = 0; node != NULL && i < n; i++)
    if (!cleave_tflite_set (import, i, cleave_node_get_result (node, i), error))
      return FALSE;
  return node != NULL;
}

static gboolean
check_axis (const CleaveShape *shape, gint64 *axis, GError **error)
{
  if (*axis < 0)
    *axis += shape->rank;
  if (*axis < 0 || *axis >= shape->rank)
    return cleave_tflite_refuse (error, "the axis is beyond the %u dimensions", shape->rank);
  return TRUE;
}

/* SPLIT: the axis, then the value. */
gboolean
cleave_tflite_convert_split (CleaveTfliteImport *import, GError **error)
{
  guint n = import->op->outputs.n;
  g_autofree gint64 *sizes = g_new (gint64, n + 1);
  CleaveInts axis;
  CleaveResult *x;
  const CleaveShape *shape;

  if (!cleave_tflite_read_ints (import, 0, &axis, error) || !find_moved (import, 1, &x, error))
    return FALSE;
  shape = &cleave_result_get_type (x)->shape;
  if (axis.n != 1 || n == 0)
    return cleave_tflite_refuse (error, "input 0 must be one axis");
  if (!check_axis (shape, &axis.v[0], error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    sizes[i] = shape->dim[axis.v[0]] / n;
  return set_parts (import, x, axis.v[0], sizes, error);
}

/* SPLIT_V: the value, the sizes, of which one may be -1, and the axis. */
gboolean
cleave_tflite_convert_split_v (CleaveTfliteImport *import, GError **error)
{
  CleaveInts sizes, axis;
  CleaveResult *x;
  const CleaveShape *shape;
  gint64 rest;

  if (!cleave_tflite_read_ints (import, 1, &sizes, error) ||
      !cleave_tflite_read_ints (import, 2, &axis, error) || !find_moved (import, 0, &x, error))
    return FALSE;
  shape = &cleave_result_get_type (x)->shape;
  if (axis.n != 1 || sizes.n != import->op->outputs.n || sizes.n == 0)
    return cleave_tflite_refuse (error, "there must be one axis, and one size for each output");
  if (!check_axis (shape, &axis.v[0], error))
    return FALSE;
  rest = shape->dim[axis.v[0]];
  for (guint i = 0; i < sizes.n; i++)
    if (sizes.v[i] >= 0 && __builtin_sub_overflow (rest, sizes.v[i], &rest))
      return cleave_tflite_refuse (error, "the sizes are too large");
  for (guint i = 0; i < sizes.n; i++)
    if (sizes.v[i] == -1)
      sizes.v[i] = rest;
  return set_parts (import, x, axis.v[0], sizes.v, error);
}

/* PACK: the values, with a new dimension, put together. */
gboolean
cleave_tflite_convert_pack (CleaveTfliteImport *import, GError **error)
{
  enum { AXIS = 1 };
  guint n = import->op->inputs.n;
  g_autofree CleaveResult **parts = g_new0 (CleaveResult *, n);
  CleaveAxesAttrs unsqueeze = { { 1, { 0 } } };
  CleaveAxisAttrs concat;

  if (!cleave_tflite_option (import, AXIS, 4, 0, &concat.axis, error))
    return FALSE;
  unsqueeze.axes.v[0] = concat.axis;
  for (guint i = 0; i < n; i++)
    {
      if (!find_moved (import, i, &parts[i], error))
        return FALSE;
      parts[i] = cleave_tflite_add_unary (import, "Unsqueeze", parts[i], &unsqueeze, error);
      parts[i] = cleave_tflite_fold (import, parts[i], error);
      if (parts[i] == NULL)
        return FALSE;
    }
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add (import, "Concat", parts, n, &concat, error), error);
}

/* UNPACK: one output for each index of a dimension, which is removed. */
gboolean
cleave_tflite_convert_unpack (CleaveTfliteImport *import, GError **error)
{
  enum { AXIS = 1 };
  guint n = import->op->outputs.n;
  CleaveResult *x;
  const CleaveShape *shape;
  gint64 axis;

  if (!cleave_tflite_option (import, AXIS, 4, 0, &axis, error) ||
      !find_moved (import, 0, &x, error))
    return FALSE;
  shape = &cleave_result_get_type (x)->shape;
  if (!check_axis (shape, &axis, error))
    return FALSE;
  if (shape->dim[axis] != n)
    return cleave_tflite_refuse (error, "there are %u outputs for an extent of %" G_GINT64_FORMAT,
                                 n, shape->dim[axis]);
  for (guint i = 0; i < n; i++)
    {
      CleaveRange range = cleave_range_whole (shape);
      CleaveResult *part;

      range.dim[axis] = (CleaveSpan){ i, i + 1 };
      part = cleave_graph_add_slice_range (import->graph, NULL, x, &range, error);
      part = cleave_tflite_add_reshape (import, part, &cleave_tflite_output (import, i)->type.shape,
                                        error);
      if (!cleave_tflite_set (import, i, part, error))
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_tflite_convert_gather (CleaveTfliteImport *import, GError **error)
{
  enum { AXIS, BATCH };
  CleaveAxisAttrs attrs;
  gint64 n_batch;
  CleaveResult *x, *indices;

  if (!cleave_tflite_option (import, AXIS, 4, 0, &attrs.axis, error) ||
      !cleave_tflite_option (import, BATCH, 4, 0, &n_batch, error) ||
      !find_moved (import, 0, &x, error) || !cleave_tflite_find_result (import, 1, &indices, error))
    return FALSE;
  if (n_batch != 0)
    return cleave_tflite_refuse (error, "batch dimensions are not supported");
  return cleave_tflite_set (
      import, 0,
      cleave_tflite_add (import, "Gather", (CleaveResult *[]){ x, indices }, 2, &attrs, error),
      error);
}

/* SELECT and SELECT_V2 */
gboolean
cleave_tflite_convert_select (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *operands[3];

  for (guint i = 0; i < 3; i++)
    if ((i > 0 && !cleave_tflite_check_same_scale (import, i, error)) ||
        !cleave_tflite_find_result (import, i, &operands[i], error))
      return FALSE;
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add (import, "Where", operands, 3, NULL, error), error);
}
