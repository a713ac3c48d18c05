/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Slice: a range of a value, with a step in each dimension. All dimensions can be split. */

#include "../ir/text.h"

#include "move.h"

static const CleaveAttr attr_table[] = {
  { "starts", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveSliceAttrs, starts), .onnx_operand = 1,
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "ends", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveSliceAttrs, ends), .onnx_operand = 2,
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "axes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveSliceAttrs, axes), .onnx_operand = 3,
    .flags = CLEAVE_ATTR_AXIS },
  { "steps", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveSliceAttrs, steps), .onnx_operand = 4,
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

/* One dimension of a slice: the first index, the step, and the number of elements. */
typedef struct
{
  gint64 start, step, count;
} Dim;

static Dim
clip (gint64 start, gint64 end, gint64 step, gint64 extent)
{
  gint64 first = step > 0 ? 0 : -1, last = step > 0 ? extent : extent - 1;
  Dim dim = { .step = step };

  start += start < 0 ? extent : 0;
  end += end < 0 ? extent : 0;
  start = CLAMP (start, step > 0 ? 0 : MIN (0, last), last);
  end = CLAMP (end, first, last);
  dim.start = start;
  if (step > 0 && end > start)
    dim.count = (end - start - 1) / step + 1;
  else if (step < 0 &&
           start > end) /* divides before it negates, since G_MININT64 cannot be negated */
    dim.count = -((start - end - 1) / step) + 1;
  return dim;
}

static Dim
dim_of (const CleaveSliceAttrs *a, guint d, gint64 extent)
{
  return clip (a->starts.v[d], a->ends.v[d], a->steps.v[d], extent);
}

static gboolean
check_lists (const CleaveSliceAttrs *a, guint rank, GError **error)
{
  gint64 seen = 0;

  if (a->ends.n != a->starts.n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%u starts, but %u ends", a->starts.n,
                        a->ends.n);
  if (a->axes.n != 0 && a->axes.n != a->starts.n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%u starts, but %u axes", a->starts.n,
                        a->axes.n);
  if (a->steps.n != 0 && a->steps.n != a->starts.n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%u starts, but %u steps", a->starts.n,
                        a->steps.n);
  if (a->starts.n > rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "%u starts for rank %u", a->starts.n, rank);
  for (guint i = 0; i < a->starts.n; i++)
    if (cleave_ints_at (&a->steps, i, 1) == 0)
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "step %u is 0", i);
  for (guint i = 0; i < a->axes.n; i++)
    {
      if ((seen & 1 << a->axes.v[i]) != 0)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "axis %" G_GINT64_FORMAT " is given twice", a->axes.v[i]);
      seen |= 1 << a->axes.v[i];
    }
  return TRUE;
}

/* Returns the normal form of a slice's end: the index that follows the last element in the
 * direction of the step. If this index is -1, returns -extent - 1, since -1 as an end means the
 * last element. */
static gint64
exact_end (const Dim *dim, gint64 extent)
{
  gint64 end;

  if (dim->count == 0)
    return dim->start;
  end = dim->start + (dim->count - 1) * dim->step + (dim->step > 0 ? 1 : -1);
  return end < 0 ? -extent - 1 : end;
}

/* Brings the attributes to their normal form: one start, end and step for each dimension, clipped
 * to the operand. */
static gboolean
normalize (const CleaveCall *call, gpointer attributes, GError **error)
{
  CleaveSliceAttrs *a = attributes, given = *a;
  const CleaveShape *x = &call->operands[0].shape;

  if (!check_lists (a, x->rank, error))
    return FALSE;
  a->starts.n = a->ends.n = a->steps.n = x->rank;
  a->axes.n = 0;
  for (guint d = 0; d < x->rank; d++)
    {
      a->starts.v[d] = 0;
      a->ends.v[d] = x->dim[d];
      a->steps.v[d] = 1;
    }
  for (guint i = 0; i < given.starts.n; i++)
    {
      guint d = (guint) cleave_ints_at (&given.axes, i, i);
      Dim dim =
          clip (given.starts.v[i], given.ends.v[i], cleave_ints_at (&given.steps, i, 1), x->dim[d]);

      dim.start = MAX (dim.start, 0);
      dim.step = dim.count > 1 ? dim.step : 1;
      a->starts.v[d] = dim.start;
      a->ends.v[d] = exact_end (&dim, x->dim[d]);
      a->steps.v[d] = dim.step;
    }
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTensorType *x = &call->operands[0];

  results[0] = *x;
  for (guint d = 0; d < x->shape.rank; d++)
    results[0].shape.dim[d] = dim_of (call->attrs, d, x->shape.dim[d]).count;
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveSliceAttrs *a = call->attrs;

  for (guint d = 0; d < call->operands[operand].shape.rank; d++)
    {
      map[d] = cleave_dim_map_offset (d, a->starts.v[d]);
      map[d].stride = a->steps.v[d];
    }
}

/* Sets the starts and ends of a piece. The operand of the piece begins and ends with an element
 * that the piece reads. So the piece goes from one end of its operand to the other end, with the
 * steps of the node. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attributes, GString *why)
{
  CleaveSliceAttrs *a = attributes;

  for (guint d = 0; d < chunk->range.rank; d++)
    {
      gint64 n = chunk->slices[0].range.dim[d].end - chunk->slices[0].range.dim[d].begin;
      gboolean backwards = a->steps.v[d] < 0;

      a->starts.v[d] = backwards ? n - 1 : 0;
      a->ends.v[d] = backwards ? -n - 1 : n;
    }
  return TRUE;
}

static void
print (gconstpointer attributes, GString *out)
{
  const CleaveSliceAttrs *a = attributes;

  for (guint d = 0; d < a->starts.n; d++)
    {
      g_string_append_printf (out, "%c%" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, d == 0 ? ' ' : ',',
                              a->starts.v[d], a->ends.v[d]);
      if (a->steps.v[d] != 1)
        g_string_append_printf (out, ":%" G_GINT64_FORMAT, a->steps.v[d]);
    }
}

static gboolean
parse (const char *text, gpointer attributes, GError **error)
{
  CleaveSliceAttrs *a = attributes;
  g_auto (GStrv) dims = g_strsplit (text, ",", -1);

  for (guint d = 0; dims[d] != NULL; d++)
    {
      g_auto (GStrv) numbers = g_strsplit (dims[d], ":", -1);
      guint n = g_strv_length (numbers);
      gint64 value[3] = { 0, 0, 1 };

      if (d == CLEAVE_MAX_RANK || n < 2 || n > 3)
        return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                            "expected begin:end or begin:end:step of at most %d dimensions, not "
                            "'%s'",
                            CLEAVE_MAX_RANK, dims[d]);
      for (guint i = 0; i < n; i++)
        if (!cleave_text_to_int ("a range", numbers[i], G_MININT64, G_MAXINT64, &value[i], error))
          return FALSE;
      a->starts.v[d] = value[0];
      a->ends.v[d] = value[1];
      a->steps.v[d] = value[2];
      a->starts.n = a->ends.n = a->steps.n = d + 1;
    }
  return TRUE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveView from = operands[0];
  gint64 offset = 0;

  from.type = results[0].type;
  for (guint d = 0; d < from.type.shape.rank; d++)
    {
      Dim dim = dim_of (call->attrs, d, operands[0].type.shape.dim[d]);

      offset += dim.start * operands[0].stride[d];
      from.stride[d] = dim.step * operands[0].stride[d];
    }
  if (cleave_shape_n_elements (&from.type.shape) == 0)
    return;
  from.data = cleave_view_element (&operands[0], offset);
  cleave_view_copy (&results[0], &from);
}

const CleaveOp cleave_op_slice = {
  .name = "Slice",
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_VIEW,
  .attrs_size = sizeof (CleaveSliceAttrs),
  .attrs = attr_table,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .narrow = narrow,
  .print = print,
  .parse = parse,
  .kernel = cleave_move_kernel,
  .compute = compute,
};

/**
 * cleave_graph_add_slice:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `slice`
 * @x: (transfer none): any value
 * @attrs: (nullable): starts and ends (exclusive), one for each axis; axes, or empty for all
 * dimensions; steps, or empty for 1. %NULL for all of @x
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a slice: [ONNX Slice](https://onnx.ai/onnx/operators/onnx__Slice.html).
 *
 * Negative starts and ends count from the end. Starts and ends outside of the dimension are
 * clipped. A negative step goes backwards. The node stores one start, end and step for each
 * dimension, and no axes. The node can be split along each dimension. If no step is negative, the
 * result is a view in a program, and nothing is copied.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if the lists differ in length, if a step is 0, or if an axis
 * is out of range or given twice. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_slice (CleaveGraph *graph,
                        const char *name,
                        CleaveResult *x,
                        const CleaveSliceAttrs *attrs,
                        GError **error)
{
  return cleave_build (graph, &cleave_op_slice, name, &x, 1, attrs, error);
}

/**
 * cleave_graph_add_slice_range:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `slice`
 * @x: (transfer none): any value
 * @range: the range of @x, inside its shape
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a slice of a range, as [method@Cleave.Graph.add_slice] does.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if @range is not inside the shape. The graph is then
 * unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_slice_range (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveRange *range, GError **error)
{
  g_return_val_if_fail (x != NULL && cleave_range_is_legal (range), NULL);

  const CleaveShape *shape = &cleave_result_get_type (x)->shape;
  CleaveRange whole = cleave_range_whole (shape);
  CleaveSliceAttrs a = { { 0 }, { 0 }, { 0 }, { 0 } };

  if (range->rank != shape->rank || !cleave_range_contains (&whole, range))
    {
      g_autofree char *wanted = cleave_range_to_string (range);
      g_autofree char *there = cleave_range_to_string (&whole);

      return cleave_fail_null (error, CLEAVE_ERROR_ATTRIBUTE,
                               "Slice '%s': the range %s does not lie in %s",
                               name != NULL ? name : "", wanted, there);
    }
  a.starts.n = a.ends.n = range->rank;
  for (guint d = 0; d < range->rank; d++)
    {
      a.starts.v[d] = range->dim[d].begin;
      a.ends.v[d] = range->dim[d].end;
    }
  return cleave_graph_add_slice (graph, name, x, &a, error);
}
