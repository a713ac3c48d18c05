/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Concat: joins values along an axis. All dimensions can be split; a piece reads only the operands
 * that its chunk overlaps. */

#include "move.h"

static const CleaveAttr attr_table[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveAxisAttrs, axis), .flags = CLEAVE_ATTR_AXIS },
  { 0 },
};

static gboolean
fits (const CleaveShape *a, const CleaveShape *b, guint axis)
{
  if (a->rank != b->rank)
    return FALSE;
  for (guint d = 0; d < a->rank; d++)
    if (d != axis && a->dim[d] != b->dim[d])
      return FALSE;
  return TRUE;
}

static gboolean
fail_shape (const CleaveCall *call, guint operand, GError **error)
{
  const CleaveAxisAttrs *a = call->attrs;
  g_autofree char *first = cleave_shape_to_string (&call->operands[0].shape);
  g_autofree char *other = cleave_shape_to_string (&call->operands[operand].shape);

  return cleave_fail (
      error, CLEAVE_ERROR_SHAPE,
      "operand 0 is %s and operand %u is %s: they may differ in dimension %" G_GINT64_FORMAT
      " only",
      first, operand, other, a->axis);
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAxisAttrs *a = call->attrs;
  const CleaveTensorType *x = call->operands;
  CleaveTensorType y = x[0];

  if (!cleave_call_check_rank (call, 0, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  for (guint i = 1; i < call->n_operands; i++)
    {
      if (!cleave_call_check_same_element (call, 0, i, error))
        return FALSE;
      if (!fits (&y.shape, &x[i].shape, (guint) a->axis))
        return fail_shape (call, i, error);
      if (__builtin_add_overflow (y.shape.dim[a->axis], x[i].shape.dim[a->axis],
                                  &y.shape.dim[a->axis]))
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "the sum of dimension %" G_GINT64_FORMAT
                            " does not fit 64 bits at operand %u",
                            a->axis, i);
    }
  results[0] = y;
  return TRUE;
}

/* Returns the index along the axis at which an operand begins in the result: the sum of the extents
 * of the operands before it. call->cursor stores this index from one function call to the next, so
 * that a loop over all operands takes linear time. */
static gint64
begin_of (const CleaveCall *call, guint operand)
{
  const CleaveAxisAttrs *a = call->attrs;
  CleaveCursor first = { 0 }, *cursor = call->cursor != NULL ? call->cursor : &first;

  if (cursor->operand > operand)
    *cursor = first;
  for (; cursor->operand < operand; cursor->operand++)
    cursor->begin += call->operands[cursor->operand].shape.dim[a->axis];
  return cursor->begin;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveAxisAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_offset ((guint) a->axis, -begin_of (call, operand));
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveAxisAttrs *a = call->attrs;
  CleaveRange part = cleave_range_whole (&results[0].type.shape);

  part.dim[a->axis].end = 0;
  for (guint i = 0; i < call->n_operands; i++)
    {
      CleaveView to;

      part.dim[a->axis].begin = part.dim[a->axis].end;
      part.dim[a->axis].end += operands[i].type.shape.dim[a->axis];
      to = cleave_view_slice (&results[0], &part);
      cleave_view_copy (&to, &operands[i]);
    }
}

const CleaveOp cleave_op_concat = {
  .name = "Concat",
  .operands = (const char *const[]){ "inputs", NULL },
  .results = (const char *const[]){ "concat_result", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_VARIADIC | CLEAVE_OP_JOIN,
  .attrs_size = sizeof (CleaveAxisAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .compute = compute,
};

/**
 * cleave_graph_add_concat:
 * @graph: the graph to add to
 * @name: (nullable): name of the node
 * @operands: (array length=n_operands): values with the same element type, rank and extents, except
 * for the extent of @axis
 * @n_operands: number of operands, at least 1
 * @axis: the dimension along which @operands are concatenated; negative values count from the end
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a concatenation: [ONNX Concat](https://onnx.ai/onnx/operators/onnx__Concat.html).
 *
 * In dimension @axis, the extent of the result is the sum of the operands' extents. The result can
 * be split along each dimension; a piece reads only the operands that its chunk overlaps. If
 * possible, a program computes the operands in the memory of the result, so that nothing is copied.
 *
 * Fails with %CLEAVE_ERROR_SHAPE or %CLEAVE_ERROR_ELEMENT_TYPE if the operands do not match each
 * other, and with %CLEAVE_ERROR_ATTRIBUTE if @axis is out of range. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_concat (CleaveGraph *graph,
                         const char *name,
                         CleaveResult *const *operands,
                         guint n_operands,
                         gint64 axis,
                         GError **error)
{
  g_return_val_if_fail (operands != NULL || n_operands == 0, NULL);

  CleaveAxisAttrs a = { .axis = axis };

  return cleave_build (graph, &cleave_op_concat, name, operands, n_operands, &a, error);
}
