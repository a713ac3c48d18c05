/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Pad: adds elements around a value, or crops it. All dimensions can be split. The pads of a piece
 * are the part of the node's pads that its chunk overlaps. In mode reflect, the operand of a piece
 * must have more elements than the piece reflects. */

#include "move.h"

static const char *const mode_names[] = { "constant", "reflect", "edge", NULL };

static const CleaveAttr attr_table[] = {
  { "mode", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleavePadAttrs, mode), .names = mode_names },
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleavePadAttrs, pads), .onnx_operand = 1,
    .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "constant_value", CLEAVE_ATTR_DOUBLE, CLEAVE_FIELD (CleavePadAttrs, constant_value),
    .onnx_operand = 2 },
  { 0 },
};

/* Replaces empty pads by zeros, since a Pad in ONNX must have pads. */
static gboolean
normalize (const CleaveCall *call, gpointer attrs, GError **error)
{
  CleavePadAttrs *a = attrs;
  guint rank = call->operands[0].shape.rank;

  if (a->pads.n != 0 && a->pads.n != 2 * rank)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "pads has %u entries, not %u for rank %u",
                        a->pads.n, 2 * rank, rank);
  if (a->pads.n == 0)
    for (guint i = 0; i < 2 * rank; i++)
      a->pads.v[i] = 0;
  a->pads.n = 2 * rank;
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleavePadAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;
  CleaveShape *y = &results[0].shape;

  results[0] = call->operands[0];
  for (guint d = 0; d < x->rank; d++)
    {
      gint64 begin = a->pads.v[d], end = a->pads.v[x->rank + d];

      if (__builtin_add_overflow (x->dim[d], begin, &y->dim[d]) ||
          __builtin_add_overflow (y->dim[d], end, &y->dim[d]))
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "dimension %u with its pads does not fit 64 bits", d);
      if (y->dim[d] < 0)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "pads %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                            " remove more than the %" G_GINT64_FORMAT " elements of dimension %u",
                            begin, end, x->dim[d], d);
      if (x->dim[d] == 0 && y->dim[d] > 0 && a->mode != CLEAVE_PAD_CONSTANT)
        return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                            "dimension %u is empty: there is nothing that mode %s could repeat", d,
                            mode_names[a->mode]);
    }
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleavePadAttrs *a = call->attrs;

  for (guint d = 0; d < call->operands[operand].shape.rank; d++)
    map[d] = cleave_dim_map_offset (d, -a->pads.v[d]);
}

/* Sets the pads of a piece to the clips of its slice (CleaveSlice): the numbers of elements outside
 * of the operand. In mode reflect, refuses a piece that would repeat elements that it does not
 * read. This is so if the piece reads n elements of a dimension, fewer than all, and a pad of the
 * piece in this dimension is n or more. */
static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleavePadAttrs *a = attrs;

  for (guint d = 0; d < chunk->range.rank; d++)
    {
      gint64 begin = chunk->slices[0].clip_begin[d], end = chunk->slices[0].clip_end[d];
      gint64 n = chunk->slices[0].range.dim[d].end - chunk->slices[0].range.dim[d].begin;

      if (a->mode == CLEAVE_PAD_REFLECT && n != call->operands[0].shape.dim[d] &&
          MAX (begin, end) >= n)
        return cleave_refuse (why,
                              "in dimension %u it reflects %" G_GINT64_FORMAT
                              " elements, but has %" G_GINT64_FORMAT ": it must have more",
                              d, MAX (begin, end), n);
      a->pads.v[d] = begin;
      a->pads.v[chunk->range.rank + d] = end;
    }
  return TRUE;
}

/* Returns the index, from 0 to n - 1, of the element of the operand that a Pad copies to position
 * i. The position is relative to element 0 of the operand, so i may be negative, or n or more. */
static gint64
find_element (CleavePadMode mode, gint64 i, gint64 n)
{
  gint64 period = 2 * (n - 1);

  if (mode == CLEAVE_PAD_EDGE || n == 1)
    return CLAMP (i, 0, n - 1);
  i -= cleave_floor_div (i, period) * period;
  return i < n ? i : period - i;
}

/* Pads element by element. The kernel calls this function if a negative pad crops elements that
 * another pad repeats. */
static void
repeat (const CleaveCall *call, const CleaveView *x, const CleaveView *y)
{
  const CleavePadAttrs *a = call->attrs;
  gint64 i[CLEAVE_MAX_RANK], j[CLEAVE_MAX_RANK];

  CLEAVE_EACH_INDEX (i, &y->type.shape)
    {
      for (guint d = 0; d < y->type.shape.rank; d++)
        j[d] = find_element (a->mode, i[d] - a->pads.v[d], x->type.shape.dim[d]);
      cleave_move_element (y, cleave_view_offset (y, i), x, cleave_view_offset (x, j));
    }
}

/* Returns a view of `part` of y that has only the rows [begin, end) of dimension d. */
static CleaveView
rows_of (const CleaveView *y, const CleaveRange *part, guint d, gint64 begin, gint64 end)
{
  CleaveRange rows = *part;

  rows.dim[d] = (CleaveSpan){ begin, end };
  return cleave_view_slice (y, &rows);
}

/* Fills the rows `rows` of dimension d of y; these rows lie outside of `part`. The mode decides
 * whether the function fills them with the constant or with copies of rows of `part`. */
static void
pad_rows (const CleavePadAttrs *a,
          const CleaveView *y,
          const CleaveRange *part,
          guint d,
          const CleaveSpan *rows)
{
  const CleaveSpan *inside = &part->dim[d];
  CleaveView to = rows_of (y, part, d, rows->begin, rows->end);
  guint64 value;

  if (a->mode == CLEAVE_PAD_CONSTANT && cleave_shape_n_elements (&to.type.shape) > 0)
    {
      cleave_move_from_double (y->type.element, a->constant_value, &value);
      cleave_move_fill (&to, &value);
      return;
    }
  for (gint64 i = rows->begin; i < rows->end; i++)
    {
      gint64 at =
          inside->begin + find_element (a->mode, i - inside->begin, inside->end - inside->begin);
      CleaveView from = rows_of (y, part, d, at, at + 1);

      to = rows_of (y, part, d, i, i + 1);
      cleave_view_copy (&to, &from);
    }
}

/* Fills all elements of y outside of `part`. Begins with the innermost dimension, so that outer
 * dimensions fill whole rows. */
static void
pad_around (const CleavePadAttrs *a, const CleaveView *y, CleaveRange *part)
{
  for (guint d = part->rank; d-- > 0;)
    {
      CleaveSpan before = { 0, part->dim[d].begin };
      CleaveSpan after = { part->dim[d].end, y->type.shape.dim[d] };

      pad_rows (a, y, part, d, &before);
      pad_rows (a, y, part, d, &after);
      part->dim[d] = (CleaveSpan){ 0, y->type.shape.dim[d] };
    }
}

static gboolean
crops (const CleavePadAttrs *a)
{
  for (guint i = 0; i < a->pads.n; i++)
    if (a->pads.v[i] < 0)
      return TRUE;
  return FALSE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleavePadAttrs *a = call->attrs;
  const CleaveView *y = &results[0];
  CleaveRange from = cleave_range_whole (&operands[0].type.shape), to = from;
  CleaveView part, place;

  if (a->mode != CLEAVE_PAD_CONSTANT && crops (a))
    {
      repeat (call, &operands[0], y);
      return;
    }
  for (guint d = 0; d < from.rank; d++)
    {
      gint64 pad = a->pads.v[d], n = y->type.shape.dim[d];

      from.dim[d].begin = MAX (0, -pad);
      from.dim[d].end = MIN (from.dim[d].end, n - pad);
      from.dim[d].end = MAX (from.dim[d].end, from.dim[d].begin);
      to.dim[d] = (CleaveSpan){ MIN (from.dim[d].begin + pad, n), MIN (from.dim[d].end + pad, n) };
    }
  part = cleave_view_slice (&operands[0], &from);
  place = cleave_view_slice (y, &to);
  cleave_view_copy (&place, &part);
  pad_around (a, y, &to);
}

const CleaveOp cleave_op_pad = {
  .name = "Pad",
  .operands = (const char *const[]){ "data", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 1,
  .attrs_size = sizeof (CleavePadAttrs),
  .attrs = attr_table,
  .normalize = normalize,
  .infer = infer,
  .maps = maps,
  .narrow = narrow,
  .flags = CLEAVE_OP_CROPS,
  .kernel = cleave_move_kernel,
  .compute = compute,
};
