/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Tile: repeats a value. A dimension that is not repeated can be split anywhere. A repeated
 * dimension can be split between two copies. */

#include "../ir/copy.h"
#include "move.h"

static const CleaveAttr attr_table[] = {
  { "repeats", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveTileAttrs, repeats), CLEAVE_AT_LEAST (0),
    .onnx_operand = 1, .flags = CLEAVE_ATTR_NO_DEFAULT },
  { 0 },
};

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTileAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;

  results[0] = call->operands[0];
  if (a->repeats.n != x->rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "repeats has %u entries for rank %u",
                        a->repeats.n, x->rank);
  for (guint d = 0; d < x->rank; d++)
    if (__builtin_mul_overflow (x->dim[d], a->repeats.v[d], &results[0].shape.dim[d]))
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "dimension %u with its repeats does not fit 64 bits", d);
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveTileAttrs *a = call->attrs;

  for (guint d = 0; d < a->repeats.n; d++)
    map[d] = a->repeats.v[d] == 1 ? cleave_dim_map_same (d)
                                  : cleave_dim_map_whole (call->operands[operand].shape.dim[d]);
}

/* Refuses a chunk that cuts a repeated dimension inside a copy of the operand instead of between
 * two copies. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveTileAttrs *a = attrs;

  for (guint d = 0; d < chunk->range.rank; d++)
    {
      gint64 n = call->operands[0].shape.dim[d], begin = chunk->range.dim[d].begin,
             end = chunk->range.dim[d].end;

      if (a->repeats.v[d] == 1)
        continue;
      if (begin % n != 0 || end % n != 0)
        return cleave_refuse (why,
                              "in dimension %u, where %" G_GINT64_FORMAT
                              " elements repeat, it must begin and end at a multiple of that",
                              d, n);
      a->repeats.v[d] = (end - begin) / n;
    }
  return TRUE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTileAttrs *a = call->attrs;
  const CleaveView *x = &operands[0], *y = &results[0];
  CleaveCopyLoops loops = { .size = (gint64) cleave_element_size (x->type.element) };

  for (guint d = 0; d < x->type.shape.rank; d++)
    {
      gint64 n = x->type.shape.dim[d];

      cleave_copy_loops_add (&loops, a->repeats.v[d], n * y->stride[d], 0);
      cleave_copy_loops_add (&loops, n, y->stride[d], x->stride[d]);
    }
  cleave_copy_loops_run (&loops, y->data, x->data);
}

const CleaveOp cleave_op_tile = {
  .name = "Tile",
  .operands = (const char *const[]){ "input", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_BROADCAST,
  .attrs_size = sizeof (CleaveTileAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .narrow = narrow,
  .kernel = cleave_move_kernel,
  .compute = compute,
};
