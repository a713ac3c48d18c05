/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TopK: the k largest or smallest elements along the axis, and their indices along the axis. All
 * dimensions but the axis can be split, in both results at once.
 *
 * The order is total, so that the result does not depend on the algorithm. Equal elements are in
 * the order of their indices, and NaN is larger than all numbers. Results are in order even if
 * `sorted` is not set. */

#include <string.h>

#include "../ir/op.h"
#include "lines.h"

#include <math.h>

enum { VALUES, INDICES };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveTopkAttrs *a = call->attrs;

  if (!cleave_call_check_element (call, 0, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error) ||
      !cleave_call_check_rank (call, 0, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (a->k > call->operands[0].shape.dim[a->axis])
    return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "k must be at most %d, not %d",
                        (int) call->operands[0].shape.dim[a->axis], (int) a->k);
  results[VALUES] = call->operands[0];
  results[VALUES].shape.dim[a->axis] = a->k;
  results[INDICES] = (CleaveTensorType){ CLEAVE_INT64, results[VALUES].shape };
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveTopkAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_whole (call->operands[0].shape.dim[a->axis]);
}

/* The elements of a line along the axis, and a heap with the indices of the elements that are
 * selected so far. The heap is stored in the result. The root of the heap is the selected element
 * that comes last in the order. If a further element comes before the root, it replaces the
 * root. */
typedef struct
{
  const CleaveView *x;
  gint64 offset, step;
  gboolean largest;
  CleaveWide wide;
  gint64 *heap;
  gint64 heap_step, size;
} Row;

static gboolean
comes_before (const Row *row, gint64 a, gint64 b)
{
  CleaveLineBuffer x, y;
  int order = cleave_wide_compare (
      row->wide, cleave_line_read (row->x, row->offset + a * row->step, 1, 1, row->wide, &x),
      cleave_line_read (row->x, row->offset + b * row->step, 1, 1, row->wide, &y));

  return order == 0 ? a < b : (order > 0) == row->largest;
}

/* Inserts `position`, an index of an element, into the heap: at the free entry `at`, or below that
 * entry. */
static void
sift_down (Row *row, gint64 at, gint64 position)
{
  for (gint64 child = 2 * at + 1; child < row->size; child = 2 * at + 1)
    {
      if (child + 1 < row->size && comes_before (row, row->heap[child * row->heap_step],
                                                 row->heap[(child + 1) * row->heap_step]))
        child++;
      if (!comes_before (row, position, row->heap[child * row->heap_step]))
        break;
      row->heap[at * row->heap_step] = row->heap[child * row->heap_step];
      at = child;
    }
  row->heap[at * row->heap_step] = position;
}

/* Selects the k elements of a row of n elements that come first in the order of comes_before().
 * Sets `heap` to the indices of these elements, sorted by this order. */
static void
select_first (Row *row, gint64 k, gint64 n)
{
  row->size = k;
  for (gint64 i = 0; i < k; i++)
    row->heap[i * row->heap_step] = i;
  for (gint64 i = k / 2; i-- > 0;)
    sift_down (row, i, row->heap[i * row->heap_step]);
  for (gint64 i = k; i < n; i++)
    if (comes_before (row, i, row->heap[0]))
      sift_down (row, 0, i);
  while (--row->size > 0)
    {
      gint64 last = row->heap[0], moved = row->heap[row->size * row->heap_step];

      row->heap[row->size * row->heap_step] = last;
      sift_down (row, 0, moved);
    }
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveTopkAttrs *a = call->attrs;
  const CleaveView *x = &operands[0], *y = &results[VALUES], *indices = &results[INDICES];
  const CleaveView *views[] = { y, x, indices };
  gsize size = cleave_element_size (x->type.element);
  Row row = { .x = x,
              .step = x->stride[a->axis],
              .largest = a->largest,
              .wide = cleave_wide_of (x->type.element),
              .heap_step = indices->stride[a->axis] };
  CleaveLines lines;

  if (a->k == 0)
    return;
  for (gboolean more = cleave_lines_init_dims (&lines, views, 3, ~(1u << a->axis)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        gint64 to = lines.offset[0] + i * lines.step[0];

        row.offset = lines.offset[1] + i * lines.step[1];
        row.heap = (gint64 *) indices->data + lines.offset[2] + i * lines.step[2];
        select_first (&row, a->k, x->type.shape.dim[a->axis]);
        for (gint64 j = 0; j < a->k; j++)
          memcpy (cleave_view_element (y, to + j * y->stride[a->axis]),
                  cleave_view_element (x, row.offset + row.heap[j * row.heap_step] * row.step),
                  size);
      }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  const guint integers = CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8) |
                         CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64);

  if ((integers & CLEAVE_ELEMENT_BIT (call->operands[0].element)) != 0)
    return CLEAVE_KERNEL_TOPK;
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_TOPK);
}

/* Returns the work of the worst case, in which each element is inserted into the heap. */
static double
work (const CleaveCall *call)
{
  const CleaveTopkAttrs *a = call->attrs;

  return (double) cleave_shape_n_elements (&call->operands[0].shape) * log2 ((double) a->k + 1);
}

static const CleaveAttr topk_attrs[] = {
  { "k", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTopkAttrs, k), .fallback = 1, CLEAVE_AT_LEAST (0),
    .onnx_operand = 1 },
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveTopkAttrs, axis), .fallback = -1,
    .flags = CLEAVE_ATTR_AXIS },
  { "largest", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveTopkAttrs, largest), .fallback = 1 },
  { "sorted", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveTopkAttrs, sorted), .fallback = 1 },
  { 0 },
};

const CleaveOp cleave_op_topk = {
  .name = "TopK",
  .operands = (const char *const[]){ "X", NULL },
  .results = (const char *const[]){ "Values", "Indices", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_ALL_RESULTS,
  .attrs_size = sizeof (CleaveTopkAttrs),
  .attrs = topk_attrs,
  .infer = infer,
  .maps = maps,
  .work = work,
  .kernel = kernel,
  .compute = compute,
};
