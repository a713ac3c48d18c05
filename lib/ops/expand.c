/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Expand: broadcasts a value to a shape. All dimensions can be split. */

#include "move.h"

static const CleaveAttr attr_table[] = {
  { "shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveReshapeAttrs, shape), CLEAVE_AT_LEAST (0),
    .onnx_operand = 1, .flags = CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

/* Replaces the attribute `shape` by the shape of the result. In ONNX, an extent of 1 may stand for
 * the extent of the operand. */
static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleaveReshapeAttrs *a = attrs;
  const CleaveShape *x = &call->operands[0].shape;
  CleaveShape wanted = { .rank = a->shape.n }, both;
  g_autofree char *from = NULL, *to = NULL;

  if (a->shape.n > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "shape has rank %u, more than %d",
                        a->shape.n, CLEAVE_MAX_RANK);
  for (guint d = 0; d < wanted.rank; d++)
    wanted.dim[d] = a->shape.v[d];
  if (!cleave_shape_broadcast (x, &wanted, &both))
    {
      from = cleave_shape_to_string (x);
      to = cleave_shape_to_string (&wanted);
      return cleave_fail (error, CLEAVE_ERROR_SHAPE, "input is %s, which cannot be expanded to %s",
                          from, to);
    }
  a->shape.n = both.rank;
  for (guint d = 0; d < both.rank; d++)
    a->shape.v[d] = both.dim[d];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  cleave_maps_broadcast (&call->operands[operand].shape, &call->results[0].shape, map);
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveReshapeAttrs *a = attrs;

  for (guint d = 0; d < chunk->range.rank; d++)
    a->shape.v[d] = chunk->range.dim[d].end - chunk->range.dim[d].begin;
  return TRUE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveView from = { .data = operands[0].data, .type = results[0].type };

  cleave_view_broadcast_strides (&operands[0], from.type.shape.rank, from.stride);
  cleave_view_copy (&results[0], &from);
}

const CleaveOp cleave_op_expand = {
  .name = "Expand",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_BROADCAST,
  .attrs_size = sizeof (CleaveReshapeAttrs),
  .attrs = attr_table,
  .normalize = normalize,
  .infer = cleave_infer_shape_attr,
  .maps = maps,
  .narrow = narrow,
  .kernel = cleave_move_kernel,
  .compute = compute,
};
