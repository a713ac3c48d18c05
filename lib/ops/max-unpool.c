/* SPDX-License-Identifier: GPL-2.0-or-later */

/* MaxUnpool, opset 11: moves each element to the position at which a MaxPool found it; all other
 * elements of the result are 0.
 *
 * An index counts the elements of the whole value that was pooled, with all images and channels. A
 * MaxPool never finds an element of another channel, so the kernel uses only the position within
 * the channel. Images and channels can be split, rows cannot. In ONNX, indices count the elements
 * of the node's own operand; the exporter converts the indices of a piece. */

#include <string.h>

#include "max-unpool.h"
#include "move.h"
#include "window.h"

enum { X, INDICES };

static const CleaveAttr attr_table[] = {
  { "kernel_shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveMaxUnpoolAttrs, kernel_shape),
    CLEAVE_AT_LEAST (1), .flags = CLEAVE_ATTR_NO_DEFAULT },
  { "strides", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveMaxUnpoolAttrs, strides), .fallback = 1,
    CLEAVE_AT_LEAST (1) },
  { "pads", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveMaxUnpoolAttrs, pads), CLEAVE_AT_LEAST (0) },
  { "output_shape", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveMaxUnpoolAttrs, output_shape),
    CLEAVE_AT_LEAST (0), .onnx_operand = 2 },
  { 0 },
};

void
cleave_max_unpool_shape (const CleaveMaxUnpoolAttrs *a, const CleaveShape *x, CleaveShape *pooled)
{
  guint n = x->rank - 2;

  *pooled = *x;
  for (guint i = 0; i < n; i++)
    pooled->dim[2 + i] = (x->dim[2 + i] - 1) * cleave_ints_at (&a->strides, i, 1) +
                         a->kernel_shape.v[i] - cleave_ints_at (&a->pads, i, 0) -
                         cleave_ints_at (&a->pads, n + i, 0);
}

static gboolean
check_lists (const CleaveMaxUnpoolAttrs *a, guint n, GError **error)
{
  if (a->kernel_shape.n != n)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "kernel_shape has %u entries, not %u",
                        a->kernel_shape.n, n);
  if (a->output_shape.n != 0 && a->output_shape.n != n + 2)
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "output_shape has %u entries, not %u",
                        a->output_shape.n, n + 2);
  return cleave_window_check_list (&a->kernel_shape, n, "kernel_shape", error) &&
         cleave_window_check_list (&a->strides, n, "strides", error) &&
         cleave_window_check_list (&a->pads, 2 * n, "pads", error);
}

static gboolean
check_output_shape (const CleaveInts *wanted, const CleaveShape *pooled, GError **error)
{
  for (guint d = 0; d < wanted->n; d++)
    if (wanted->v[d] < pooled->dim[d] || (d < 2 && wanted->v[d] != pooled->dim[d]))
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                          "dimension %u of output_shape is %" G_GINT64_FORMAT
                          ", but must be %s%" G_GINT64_FORMAT,
                          d, wanted->v[d], d < 2 ? "" : "at least ", pooled->dim[d]);
  return TRUE;
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveMaxUnpoolAttrs *a = call->attrs;
  const CleaveTensorType *x = &call->operands[X], *indices = &call->operands[INDICES];

  if (!cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) ||
      !cleave_call_check_element (call, INDICES, CLEAVE_ELEMENT_BIT (CLEAVE_INT64), error) ||
      !cleave_call_check_rank (call, X, 3, CLEAVE_MAX_RANK, error) ||
      !check_lists (a, x->shape.rank - 2, error))
    return FALSE;
  if (!cleave_shape_equal (&x->shape, &indices->shape))
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "X and I have different shapes");
  results[0].element = x->element;
  cleave_max_unpool_shape (call->attrs, &x->shape, &results[0].shape);
  for (guint d = 2; d < x->shape.rank; d++)
    if (x->shape.dim[d] > CLEAVE_WINDOW_MAX || results[0].shape.dim[d] < 1)
      return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                          "dimension %u, %" G_GINT64_FORMAT ", cannot be a result of this pooling",
                          d, x->shape.dim[d]);
  if (!check_output_shape (&a->output_shape, &results[0].shape, error))
    return FALSE;
  for (guint d = 0; d < a->output_shape.n; d++)
    results[0].shape.dim[d] = a->output_shape.v[d];
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *x = &call->operands[X].shape;

  for (guint d = 0; d < x->rank; d++)
    map[d] = d < 2 ? cleave_dim_map_same (d) : cleave_dim_map_whole (x->dim[d]);
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  CleaveMaxUnpoolAttrs *a = attrs;

  for (guint d = 0; d < MIN (a->output_shape.n, 2); d++)
    a->output_shape.v[d] = chunk->range.dim[d].end - chunk->range.dim[d].begin;
  return TRUE;
}

/* Returns the offset, within a channel of the result, of the element to which `index` points. The
 * index counts elements of `pooled`, the whole value that was pooled. */
static gint64
find_offset (const CleaveShape *pooled, gint64 index, const CleaveView *y)
{
  gint64 offset = 0;

  for (guint d = pooled->rank; d-- > 2;)
    {
      gint64 above = cleave_floor_div (index, pooled->dim[d]);

      offset += (index - above * pooled->dim[d]) * y->stride[d];
      index = above;
    }
  return offset;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveView *x = &operands[X], *indices = &operands[INDICES], *y = &results[0];
  const guint64 zero = 0;
  CleaveShape pooled;
  gint64 i[CLEAVE_MAX_RANK];

  cleave_max_unpool_shape (call->attrs, &x->type.shape, &pooled);
  cleave_move_fill (y, &zero);
  CLEAVE_EACH_INDEX (i, &x->type.shape)
    cleave_move_element (
        y,
        i[0] * y->stride[0] + i[1] * y->stride[1] +
            find_offset (&pooled, *(const gint64 *) cleave_view_at (indices, i), y),
        x, cleave_view_offset (x, i));
}

const CleaveOp cleave_op_max_unpool = {
  .name = "MaxUnpool",
  .operands = (const char *const[]){ "X", "I", NULL },
  .results = (const char *const[]){ "output", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveMaxUnpoolAttrs),
  .attrs = attr_table,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .narrow = narrow,
  .layout = cleave_call_letters,
  .compute = compute,
};
