/* SPDX-License-Identifier: GPL-2.0-or-later */

/* OneHot: for each index, a line of `off` values with one `on` value. For an index outside [-depth,
 * depth), all elements are `off`. An index that is no integer is truncated.
 *
 * A piece can compute a part of each line. The attribute `part`, which ONNX does not have, gives
 * the range of this part. A piece has the depth of the whole node, since negative indices count
 * from the end of the whole line. */

#include "lines.h"

#include <math.h>

#include "move.h"

enum { INDICES, VALUES };
enum { OFF, ON };

static const CleaveAttr one_hot_attrs[] = {
  { "depth", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveOneHotAttrs, depth), CLEAVE_AT_LEAST (0),
    .onnx_operand = 1, .flags = CLEAVE_ATTR_SCALAR },
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveOneHotAttrs, axis), .fallback = -1 },
  { "part", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveOneHotAttrs, part), CLEAVE_AT_LEAST (0),
    .flags = CLEAVE_ATTR_NOT_ONNX | CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

/* Returns the range of elements that the node computes in each line. The whole line is
 * [0, depth). */
static CleaveSpan
part_of (const CleaveOneHotAttrs *a)
{
  return a->part.n == 0 ? (CleaveSpan){ 0, a->depth } : (CleaveSpan){ a->part.v[0], a->part.v[1] };
}

static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveOneHotAttrs *a = attrs;
  gint64 rank = call->operands[INDICES].shape.rank + 1;
  CleaveSpan part;

  if (a->axis < -rank || a->axis >= rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "axis must be between %d and %d, not %" G_GINT64_FORMAT, (int) -rank,
                        (int) rank - 1, a->axis);
  if (a->axis < 0)
    a->axis += rank;
  if (a->part.n != 0 && a->part.n != 2)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "part has %u entries, not 2", a->part.n);
  part = part_of (a);
  if (part.begin > part.end || part.end > a->depth)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "part lies outside the depth");
  if (part.begin == 0 && part.end == a->depth)
    a->part.n = 0;
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveOneHotAttrs *a = call->attrs;
  const CleaveShape *i = &call->operands[INDICES].shape;
  CleaveSpan part = part_of (a);
  CleaveShape *y = &results[0].shape;

  if (!cleave_call_check_element (call, INDICES, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error) ||
      !cleave_call_check_rank (call, INDICES, 0, CLEAVE_MAX_RANK - 1, error) ||
      !cleave_call_check_rank (call, VALUES, 1, 1, error))
    return FALSE;
  if (call->operands[VALUES].shape.dim[0] != 2)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "values must have 2 elements, not %" G_GINT64_FORMAT,
                        call->operands[VALUES].shape.dim[0]);
  results[0] = CLEAVE_SCALAR (call->operands[VALUES].element);
  for (guint d = 0; d <= i->rank; d++)
    y->dim[y->rank++] = d == a->axis ? part.end - part.begin : i->dim[d < a->axis ? d : d - 1];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveOneHotAttrs *a = call->attrs;

  if (operand == VALUES)
    map[0] = cleave_dim_map_whole (2);
  else
    for (guint d = 0; d < call->operands[INDICES].shape.rank; d++)
      map[d] = cleave_dim_map_same (d < a->axis ? d : d + 1);
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveOneHotAttrs *a = attrs;
  gint64 begin = part_of (a).begin;

  a->part =
      CLEAVE_INTS (begin + chunk->range.dim[a->axis].begin, begin + chunk->range.dim[a->axis].end);
  return TRUE;
}

/* Returns the entry of `indices` at `offset` as an integer; a negative entry stays negative. If the
 * entry does not fit into gint64, returns `depth`, which is outside of the range of legal
 * indices. */
static gint64
load_index (const CleaveView *indices, gint64 offset, gint64 depth)
{
  CleaveElement element = indices->type.element;
  CleaveWide wide = cleave_wide_of (element);
  CleaveLineBuffer buffer;
  gconstpointer at = cleave_line_read (indices, offset, 1, 1, wide, &buffer);
  double real;

  if (wide == CLEAVE_WIDE_I64)
    return *(const gint64 *) at;
  if (wide == CLEAVE_WIDE_U64)
    return *(const guint64 *) at < (guint64) depth ? *(const gint64 *) at : depth;
  real = wide == CLEAVE_WIDE_F32 ? (double) *(const float *) at : *(const double *) at;
  return fabs (real) < 0x1p62 ? (gint64) real : depth;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveOneHotAttrs *a = call->attrs;
  const CleaveView *indices = &operands[INDICES], *values = &operands[VALUES], *y = &results[0];
  CleaveSpan part = part_of (a);
  gint64 i[CLEAVE_MAX_RANK], stride[CLEAVE_MAX_RANK];

  for (guint d = 0; d < indices->type.shape.rank; d++)
    stride[d] = y->stride[d < a->axis ? d : d + 1];
  cleave_move_fill (y, cleave_view_element (values, OFF * values->stride[0]));
  CLEAVE_EACH_INDEX (i, &indices->type.shape)
    {
      gint64 at = load_index (indices, cleave_view_offset (indices, i), a->depth);
      gint64 to = cleave_index_offset (indices->type.shape.rank, i, stride);

      if (at < 0)
        at += a->depth;
      if (at >= part.begin && at < part.end)
        cleave_move_element (y, to + (at - part.begin) * y->stride[a->axis], values,
                             ON * values->stride[0]);
    }
}

const CleaveOp cleave_op_one_hot = {
  .name = "OneHot",
  .operands = (const char *const[]){ "indices", "values", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveOneHotAttrs),
  .attrs = one_hot_attrs,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .narrow = narrow,
  .kernel = cleave_move_kernel,
  .compute = compute,
};
