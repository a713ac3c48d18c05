/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Gather, GatherElements and GatherND. An index outside of the dimension, which ONNX forbids, is
 * clamped. */

#include "lines.h"
#include "move.h"

#include <string.h>

enum { DATA, INDICES };

static const CleaveAttr axis_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveAxisAttrs, axis), .flags = CLEAVE_ATTR_AXIS },
  { 0 },
};

#define NOTHING "there is nothing for the indices to read"

/* The code below defines the op Gather. */

static gboolean
infer_gather (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAxisAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;
  CleaveShape *y = &results[0].shape;

  if (!cleave_call_check_rank (call, DATA, 1, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_element (call, INDICES, CLEAVE_ELEMENTS_INDEX, error) ||
      !cleave_call_check_rank (call, INDICES, 0, CLEAVE_MAX_RANK + 1 - x->rank, error) ||
      !cleave_move_check_indexed (x, (guint) a->axis, i, NOTHING, error))
    return FALSE;
  results[0] = CLEAVE_SCALAR (call->operands[DATA].element);
  for (guint d = 0; d < a->axis; d++)
    y->dim[y->rank++] = x->dim[d];
  for (guint d = 0; d < i->rank; d++)
    y->dim[y->rank++] = i->dim[d];
  for (guint d = (guint) a->axis + 1; d < x->rank; d++)
    y->dim[y->rank++] = x->dim[d];
  return TRUE;
}

static void
maps_gather (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveAxisAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape;
  guint axis = (guint) a->axis, n = call->operands[INDICES].shape.rank;

  if (operand == INDICES)
    for (guint d = 0; d < n; d++)
      map[d] = cleave_dim_map_same (axis + d);
  else
    for (guint d = 0; d < x->rank; d++)
      map[d] = d == axis ? cleave_dim_map_whole (x->dim[d])
                         : cleave_dim_map_same (d < axis ? d : d - 1 + n);
}

/* Returns the number of elements of a block: all elements of x with the same indices along the axis
 * and before it. Returns 0 if blocks are not contiguous in x and in y. */
static gint64
find_block (const CleaveView *x, guint axis, const CleaveView *y, guint n_indices)
{
  gint64 n = 1;

  for (guint d = x->type.shape.rank; d-- > axis + 1;)
    {
      gint64 extent = x->type.shape.dim[d];

      if (extent != 1 && (x->stride[d] != n || y->stride[d + n_indices - 1] != n))
        return 0;
      n *= extent;
    }
  return n;
}

/* The blocks that are copied for a line of `indices`. The block of index i is contiguous elements
 * of x at position i of the axis. `y_step` and `axis_step`: distances in bytes of adjacent blocks
 * in y and in x; `index_step`: distance of adjacent indices, in elements. */
typedef struct
{
  char *y;
  const char *x;
  gconstpointer indices;
  gint64 extent, n, index_step, y_step, axis_step;
  gsize n_bytes;
} Blocks;

/* Defines a function that copies the blocks of a line. Blocks of one element are copied by
 * assignments, since a call of memcpy() takes longer. */
#define COPY_BLOCKS(name, Index, move)                                                             \
  static void name (const Blocks *b)                                                               \
  {                                                                                                \
    const Index *indices = b->indices;                                                             \
    const gint64 n = b->n, extent = b->extent, y_step = b->y_step, axis_step = b->axis_step;       \
                                                                                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      {                                                                                            \
        const gint64 at = indices[i * b->index_step];                                              \
        char *to = b->y + i * y_step;                                                              \
        const char *from = b->x + CLAMP (at < 0 ? at + extent : at, 0, extent - 1) * axis_step;    \
                                                                                                   \
        move;                                                                                      \
      }                                                                                            \
  }
#define MOVE_AS(Element) *(Element *) to = *(const Element *) from
#define COPY_BLOCKS_OF(Index)                                                                      \
  COPY_BLOCKS (copy_1_##Index, Index, MOVE_AS (guint8))                                            \
  COPY_BLOCKS (copy_2_##Index, Index, MOVE_AS (guint16))                                           \
  COPY_BLOCKS (copy_4_##Index, Index, MOVE_AS (guint32))                                           \
  COPY_BLOCKS (copy_8_##Index, Index, MOVE_AS (guint64))                                           \
  COPY_BLOCKS (copy_any_##Index, Index, memcpy (to, from, b->n_bytes))
COPY_BLOCKS_OF (gint32)
COPY_BLOCKS_OF (gint64)

/* Copy functions, indexed by the type of an index (int32, int64), and by the size of a block: 1, 2,
 * 4, 8 or any number of bytes. */
static void (*const block_copies[2][5]) (const Blocks *b) = {
  { copy_1_gint32, copy_2_gint32, copy_4_gint32, copy_8_gint32, copy_any_gint32 },
  { copy_1_gint64, copy_2_gint64, copy_4_gint64, copy_8_gint64, copy_any_gint64 },
};

/* Copies a block for each entry of `indices` and each index of the dimensions before the axis.
 */
static void
copy_blocks (
    const CleaveView *x, const CleaveView *indices, const CleaveView *y, guint axis, gint64 n_block)
{
  const CleaveView front = cleave_move_drop_dims (y, axis + indices->type.shape.rank,
                                                  y->type.shape.rank, 0),
                   to = cleave_move_drop_dims (&front, 0, axis, 0), *views[] = { indices, &to };
  CleaveShape outer = { .rank = axis };
  gint64 size = (gint64) cleave_element_size (x->type.element), o[CLEAVE_MAX_RANK];
  Blocks b = { .extent = x->type.shape.dim[axis],
               .axis_step = x->stride[axis] * size,
               .n_bytes = (gsize) (n_block * size) };
  guint kind = n_block == 1 ? (guint) g_bit_nth_lsf ((gulong) size, -1) : 4;
  CleaveLines lines;

  for (guint d = 0; d < axis; d++)
    outer.dim[d] = x->type.shape.dim[d];
  if (!cleave_lines_init_dims (&lines, views, 2, ~0u))
    return;
  b.n = lines.length;
  b.index_step = lines.step[0];
  b.y_step = lines.step[1] * size;
  CLEAVE_EACH_INDEX (o, &outer)
    do
      {
        b.indices = cleave_view_element (indices, lines.offset[0]);
        b.x = cleave_view_element (x, cleave_index_offset (axis, o, x->stride));
        b.y = cleave_view_element (y, cleave_index_offset (axis, o, y->stride) + lines.offset[1]);
        block_copies[indices->type.element == CLEAVE_INT64][kind](&b);
      }
    while (cleave_lines_next (&lines));
}

/* An index has one block for each position in the dimensions before the axis. The kernel copies all
 * blocks of an index as one strided view if a block is shorter than SHORT_BLOCK bytes, and each of
 * the n indices has at least MANY_BLOCKS * n blocks. Example: one index selects column 0 of [65536,
 * 2]. The copy as a view takes 30 us, block by block 560 us. */
#define SHORT_BLOCK 64
#define MANY_BLOCKS 16

static gboolean
goes_by_index (const CleaveView *x, const CleaveView *indices, guint axis, gint64 n_block)
{
  gint64 n_outer = 1, size = (gint64) cleave_element_size (x->type.element);

  for (guint d = 0; d < axis; d++)
    n_outer *= x->type.shape.dim[d];
  return n_block * size < SHORT_BLOCK &&
         n_outer >= MANY_BLOCKS * cleave_shape_n_elements (&indices->type.shape);
}

static void
compute_gather (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveAxisAttrs *a = call->attrs;
  const CleaveView *x = &operands[DATA], *indices = &operands[INDICES], *y = &results[0];
  guint axis = (guint) a->axis, n = indices->type.shape.rank;
  gint64 i[CLEAVE_MAX_RANK], n_block;

  if (cleave_shape_n_elements (&y->type.shape) == 0)
    return;
  n_block = find_block (x, axis, y, n);
  if (n_block != 0 && !goes_by_index (x, indices, axis, n_block))
    {
      copy_blocks (x, indices, y, axis, n_block);
      return;
    }
  CLEAVE_EACH_INDEX (i, &indices->type.shape)
    {
      gint64 at =
          cleave_move_index (indices, cleave_view_offset (indices, i), x->type.shape.dim[axis]);
      CleaveView from = cleave_move_drop_dims (x, axis, 1, at * x->stride[axis]);
      CleaveView to =
          cleave_move_drop_dims (y, axis, n, cleave_index_offset (n, i, y->stride + axis));

      cleave_view_copy (&to, &from);
    }
}

/* Fields that the records of Gather, GatherElements and GatherND share. */
#define GATHERS                                                                                    \
  .operands = (const char *const[]){ "data", "indices", NULL },                                    \
  .results = (const char *const[]){ "output", NULL }, .min_operands = 2, .work = cleave_work_once

const CleaveOp cleave_op_gather = {
  .name = "Gather",
  GATHERS,
  .attrs_size = sizeof (CleaveAxisAttrs),
  .attrs = axis_attrs,
  .infer = infer_gather,
  .maps = maps_gather,
  .kernel = cleave_move_kernel,
  .compute = compute_gather,
};

/* The code below defines the op GatherElements. */

static gboolean
infer_elements (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveAxisAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;

  if (!cleave_call_check_rank (call, DATA, 1, CLEAVE_MAX_RANK, error) ||
      !cleave_call_check_element (call, INDICES, CLEAVE_ELEMENTS_INDEX, error) ||
      !cleave_call_check_rank (call, INDICES, x->rank, x->rank, error) ||
      !cleave_move_check_indexed (x, (guint) a->axis, i, NOTHING, error) ||
      !cleave_move_check_within (i, x, (guint) a->axis, error))
    return FALSE;
  results[0] = (CleaveTensorType){ call->operands[DATA].element, *i };
  return TRUE;
}

static void
maps_elements (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveAxisAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  if (operand == DATA)
    map[a->axis] = cleave_dim_map_whole (call->operands[DATA].shape.dim[a->axis]);
}

static void
compute_elements (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveAxisAttrs *a = call->attrs;

  cleave_move_picked (&results[0], &operands[DATA], &operands[INDICES], (guint) a->axis, FALSE);
}

const CleaveOp cleave_op_gather_elements = {
  .name = "GatherElements",
  GATHERS,
  .flags = CLEAVE_OP_BY_STRIDES,
  .attrs_size = sizeof (CleaveAxisAttrs),
  .attrs = axis_attrs,
  .infer = infer_elements,
  .maps = maps_elements,
  .kernel = cleave_move_kernel,
  .compute = compute_elements,
};

/* GatherND. An index tuple has one index for each of the `taken` dimensions:
 *
 *   data     [batch …, taken …, rest …]
 *   indices  [batch …, more …, number of taken dimensions]
 *   result   [batch …, more …, rest …] */

static const CleaveAttr nd_attrs[] = {
  { "batch_dims", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveGatherNdAttrs, batch_dims),
    CLEAVE_AT_LEAST (0) },
  { 0 },
};

/* Returns the number of dimensions of data for which an index tuple has an index. */
static guint
n_taken (const CleaveShape *indices)
{
  return (guint) indices->dim[indices->rank - 1];
}

static gboolean
check_nd (const CleaveCall *call, GError **error)
{
  const CleaveGatherNdAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;
  gint64 taken;

  if (!cleave_call_check_element (call, INDICES, CLEAVE_ELEMENTS_INDEX, error) ||
      !cleave_call_check_rank (call, INDICES, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  taken = i->dim[i->rank - 1];
  if (a->batch_dims >= i->rank || a->batch_dims > x->rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                        "batch_dims is %" G_GINT64_FORMAT
                        " for data of rank %u and indices of rank %u",
                        a->batch_dims, x->rank, i->rank);
  if (taken < 1 || taken > x->rank - a->batch_dims)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the last dimension of indices must be between 1 and %" G_GINT64_FORMAT
                        ", not %" G_GINT64_FORMAT,
                        x->rank - a->batch_dims, taken);
  for (guint d = 0; d < a->batch_dims; d++)
    if (x->dim[d] != i->dim[d])
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "batch dimension %u has %" G_GINT64_FORMAT
                          " in data and %" G_GINT64_FORMAT " in indices",
                          d, x->dim[d], i->dim[d]);
  for (guint d = (guint) a->batch_dims; d < a->batch_dims + taken; d++)
    if (!cleave_move_check_indexed (x, d, i, NOTHING, error))
      return FALSE;
  return TRUE;
}

static gboolean
infer_nd (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveGatherNdAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;
  CleaveShape *y = &results[0].shape;
  guint first;

  if (!check_nd (call, error))
    return FALSE;
  first = (guint) a->batch_dims + n_taken (i);
  if (i->rank - 1 + x->rank - first > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "the result would have rank %u, more than %d",
                        i->rank - 1 + x->rank - first, CLEAVE_MAX_RANK);
  results[0] = CLEAVE_SCALAR (call->operands[DATA].element);
  for (guint d = 0; d + 1 < i->rank; d++)
    y->dim[y->rank++] = i->dim[d];
  for (guint d = first; d < x->rank; d++)
    y->dim[y->rank++] = x->dim[d];
  return TRUE;
}

static void
maps_nd (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveGatherNdAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;
  guint batch = (guint) a->batch_dims, first = batch + n_taken (i), n = i->rank - 1;

  if (operand == INDICES)
    {
      for (guint d = 0; d < n; d++)
        map[d] = cleave_dim_map_same (d);
      map[n] = cleave_dim_map_whole (i->dim[n]);
      return;
    }
  for (guint d = 0; d < x->rank; d++)
    if (d < batch)
      map[d] = cleave_dim_map_same (d);
    else
      map[d] = d < first ? cleave_dim_map_whole (x->dim[d]) : cleave_dim_map_same (d - first + n);
}

static void
compute_nd (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveGatherNdAttrs *a = call->attrs;
  const CleaveView *x = &operands[DATA], *indices = &operands[INDICES], *y = &results[0];
  CleaveShape tuples = indices->type.shape;
  guint batch = (guint) a->batch_dims, taken = n_taken (&tuples), n = --tuples.rank;
  gint64 i[CLEAVE_MAX_RANK];

  if (cleave_shape_n_elements (&y->type.shape) == 0)
    return;
  CLEAVE_EACH_INDEX (i, &tuples)
    {
      gint64 at = cleave_index_offset (batch, i, x->stride);
      CleaveView from, to;

      for (guint k = 0; k < taken; k++)
        at += x->stride[batch + k] *
              cleave_move_index (
                  indices, cleave_index_offset (n, i, indices->stride) + k * indices->stride[n],
                  x->type.shape.dim[batch + k]);
      from = cleave_move_drop_dims (x, 0, batch + taken, at);
      to = cleave_move_drop_dims (y, 0, n, cleave_index_offset (n, i, y->stride));
      cleave_view_copy (&to, &from);
    }
}

const CleaveOp cleave_op_gather_nd = {
  .name = "GatherND",
  GATHERS,
  .attrs_size = sizeof (CleaveGatherNdAttrs),
  .attrs = nd_attrs,
  .infer = infer_nd,
  .maps = maps_nd,
  .kernel = cleave_move_kernel,
  .compute = compute_nd,
};
