/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts operators that take parts of a value or join values. If the elements are integers with a
 * scale, the result has the same scale. */

#include "convert.h"

static gboolean
find_moved (CleaveTfliteImport *import, guint i, CleaveResult **x, GError **error)
{
  return cleave_tflite_check_same_scale (import, i, error) &&
         cleave_tflite_find_result (import, i, x, error);
}

/* Converts SLICE, which has begins and sizes. The size -1 means all elements from the begin. */
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

/* STRIDED_SLICE has begins, ends, strides, and five masks. Entry i consists of element i of each
 * list and bit i of each mask.
 *
 * - An entry usually stands for one dimension of x. If the entry's bit in the mask of begins or of
 *   ends is set, the slice begins or ends at the edge of x.
 * - An ellipsis stands for all dimensions that no other entry stands for.
 * - A new dimension of extent 1 stands for no dimension of x.
 * - A dimension whose entry has a shrink bit is removed.
 *
 * For example, x [2, 3, 4] with [..., new, 1] has the entries ellipsis, new dimension, and 1 with a
 * shrink bit. Its result is [2, 3, 1]. */

enum { BEGIN_MASK, END_MASK, ELLIPSIS_MASK, NEW_AXIS_MASK, SHRINK_MASK, OFFSET };

typedef struct
{
  CleaveInts begins, ends, steps;
  gint64 masks[OFFSET];
  gint64 is_offset; /* whether the ends are relative to the begins */
} Entries;

static gboolean
has_bit (const Entries *e, guint mask, guint entry)
{
  return (e->masks[mask] >> entry & 1) != 0;
}

static gboolean
read_entries (CleaveTfliteImport *import, Entries *e, GError **error)
{
  for (guint i = BEGIN_MASK; i < OFFSET; i++)
    if (!cleave_tflite_option (import, i, 4, 0, &e->masks[i], error))
      return FALSE;
  if (!cleave_tflite_option (import, OFFSET, 1, 0, &e->is_offset, error) ||
      !cleave_tflite_read_ints (import, 1, &e->begins, error) ||
      !cleave_tflite_read_ints (import, 2, &e->ends, error) ||
      !cleave_tflite_read_ints (import, 3, &e->steps, error))
    return FALSE;
  return (e->ends.n == e->begins.n && e->steps.n == e->begins.n) ||
         cleave_tflite_refuse (error, "inputs 1 to 3 must have as many elements");
}

/* Adds dimension `d` to `a`, the attributes of a Slice. The dimension gets the begin, end and step
 * of entry `i` of `e`, unless the masks of `e` replace them. */
static gboolean
add_dim (const Entries *e, guint i, guint d, gint64 extent, CleaveSliceAttrs *a, GError **error)
{
  gint64 begin = e->begins.v[i], end = e->ends.v[i], step = e->steps.v[i];
  guint n = a->axes.n;

  if (step == 0)
    return cleave_tflite_refuse (error, "stride %u is 0", i);
  if (begin < 0 && (e->is_offset != 0 || has_bit (e, SHRINK_MASK, i)))
    begin += extent;
  if (e->is_offset != 0 && __builtin_add_overflow (begin, end, &end))
    return cleave_tflite_refuse (error, "end %u is too large", i);
  if (has_bit (e, SHRINK_MASK, i))
    {
      if (begin < 0 || begin >= extent)
        return cleave_tflite_refuse (error, "index %" G_GINT64_FORMAT " is beyond dimension %u",
                                     e->begins.v[i], d);
      end = begin + 1;
      step = 1;
    }
  else
    {
      if (has_bit (e, BEGIN_MASK, i))
        begin = step > 0 ? 0 : G_MAXINT32;
      if (has_bit (e, END_MASK, i))
        end = step > 0 ? G_MAXINT32 : G_MININT32;
    }
  a->axes.v[n] = d;
  a->starts.v[n] = begin;
  a->ends.v[n] = end;
  a->steps.v[n] = step;
  a->axes.n = a->starts.n = a->ends.n = a->steps.n = n + 1;
  return TRUE;
}

/* Returns the number of entries of a STRIDED_SLICE that stand for one dimension of x. An ellipsis
 * and a new dimension do not count. */
static guint
count_dims (const Entries *e)
{
  guint n = 0;

  for (guint i = 0; i < e->begins.n; i++)
    n += !has_bit (e, ELLIPSIS_MASK, i) && !has_bit (e, NEW_AXIS_MASK, i);
  return n;
}

static gboolean
add_dims (const Entries *e, const CleaveShape *x, CleaveSliceAttrs *a, GError **error)
{
  guint n = count_dims (e), d = 0;

  if (n > x->rank)
    return cleave_tflite_refuse (error, "it takes parts of %u dimensions, input 0 has %u", n,
                                 x->rank);
  for (guint i = 0; i < e->begins.n; i++)
    if (has_bit (e, ELLIPSIS_MASK, i))
      {
        d += x->rank - n;
        n = x->rank; /* a further ellipsis then stands for no dimension */
      }
    else if (!has_bit (e, NEW_AXIS_MASK, i))
      {
        if (!add_dim (e, i, d, x->dim[d], a, error))
          return FALSE;
        d++;
      }
  return TRUE;
}

gboolean
cleave_tflite_convert_strided_slice (CleaveTfliteImport *import, GError **error)
{
  const CleaveShape *y = &cleave_tflite_output (import, 0)->type.shape;
  CleaveSliceAttrs attrs = { 0 };
  Entries entries = { 0 };
  CleaveResult *x;

  if (!read_entries (import, &entries, error) || !find_moved (import, 0, &x, error) ||
      !add_dims (&entries, &cleave_result_get_type (x)->shape, &attrs, error))
    return FALSE;
  if (attrs.axes.n > 0)
    x = cleave_tflite_add_unary (import, "Slice", x, &attrs, error);
  if ((entries.masks[SHRINK_MASK] != 0 || entries.masks[NEW_AXIS_MASK] != 0) && x != NULL &&
      cleave_shape_n_elements (&cleave_result_get_type (x)->shape) == cleave_shape_n_elements (y))
    x = cleave_tflite_add_reshape (import, x, y, error);
  return cleave_tflite_set (import, 0, x, error);
}

/* Adds a Split of `x` along dimension `axis` into parts with the sizes `sizes`. The parts become
 * the outputs of the operator. */
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

/* Converts SPLIT. Input 0 is the axis, input 1 the value. */
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

/* Converts SPLIT_V. Its inputs are the value, the sizes and the axis. One size may be -1: all
 * remaining elements.
 */
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

/* Converts PACK: adds a dimension of extent 1 to each value, and joins the values along it. */
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

/* Converts UNPACK. Each output is the slice of x at one index of a dimension, without that
 * dimension. */
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

/* Converts a GATHER with `n` batch dimensions, whose axis is the first dimension after these, to a
 * GatherND. GatherND reads vectors of indices, so each index becomes a vector of one element. */
static CleaveResult *
gather_batch (
    CleaveTfliteImport *import, CleaveResult *x, CleaveResult *indices, gint64 n, GError **error)
{
  CleaveGatherNdAttrs attrs = { n };
  CleaveShape shape = cleave_result_get_type (indices)->shape;

  if (shape.rank >= CLEAVE_MAX_RANK)
    return cleave_fail_null (error, CLEAVE_ERROR_MODEL, "the indices have too many dimensions");
  shape.dim[shape.rank++] = 1;
  indices = cleave_tflite_add_reshape (import, indices, &shape, error);
  return indices == NULL ? NULL
                         : cleave_tflite_add (import, "GatherND", (CleaveResult *[]){ x, indices },
                                              2, &attrs, error);
}

gboolean
cleave_tflite_convert_gather (CleaveTfliteImport *import, GError **error)
{
  enum { AXIS, BATCH };
  CleaveAxisAttrs attrs;
  gint64 n_batch;
  CleaveResult *x, *indices, *y;

  if (!cleave_tflite_option (import, AXIS, 4, 0, &attrs.axis, error) ||
      !cleave_tflite_option (import, BATCH, 4, 0, &n_batch, error) ||
      !find_moved (import, 0, &x, error) || !cleave_tflite_find_result (import, 1, &indices, error))
    return FALSE;
  if (n_batch < 0)
    n_batch += cleave_result_get_type (indices)->shape.rank;
  if (attrs.axis < 0)
    attrs.axis += cleave_result_get_type (x)->shape.rank;
  if (n_batch < 0 || (n_batch != 0 && attrs.axis != n_batch))
    return cleave_tflite_refuse (error,
                                 "the axis %" G_GINT64_FORMAT " is supported with %" G_GINT64_FORMAT
                                 " batch dimensions only",
                                 attrs.axis, attrs.axis);
  y = n_batch > 0 ? gather_batch (import, x, indices, n_batch, error)
                  : cleave_tflite_add (import, "Gather", (CleaveResult *[]){ x, indices }, 2,
                                       &attrs, error);
  return cleave_tflite_set (import, 0, y, error);
}

/* Returns a vector of conditions of SELECT, reshaped to the rank of the values, so that the vector
 * broadcasts. Each condition is for one index of dimension 0. */
static CleaveResult *
widen (CleaveTfliteImport *import, CleaveResult *condition, GError **error)
{
  const guint select = 64;
  const CleaveShape *from = &cleave_result_get_type (condition)->shape;
  CleaveShape to = { cleave_tflite_output (import, 0)->type.shape.rank, { 0 } };

  if (import->op->code != select || from->rank != 1 || to.rank < 2)
    return condition;
  for (guint d = 0; d < to.rank; d++)
    to.dim[d] = d == 0 ? from->dim[0] : 1;
  return cleave_tflite_add_reshape (import, condition, &to, error);
}

gboolean
cleave_tflite_convert_select (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *operands[3];

  for (guint i = 0; i < 3; i++)
    if ((i > 0 && !cleave_tflite_check_same_scale (import, i, error)) ||
        !cleave_tflite_find_result (import, i, &operands[i], error))
      return FALSE;
  operands[0] = widen (import, operands[0], error);
  if (operands[0] == NULL)
    return FALSE;
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add (import, "Where", operands, 3, NULL, error), error);
}
