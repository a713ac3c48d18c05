/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The reference kernel of Resize.
 *
 * Order of operations: the operand is interpolated along the last dimension, the results along the
 * second to last dimension, and so on to the first. Each interpolation is a sum of products in
 * float32, or float64 for float64. So a kernel can interpolate a row of the operand once for
 * several rows of the result. Integers are truncated and clamped. */

#include "resize-reference.h"

#include "move.h"
#include "resize-taps.h"

/* The kernel computes at most this many elements of the last dimension together, and computes the
 * taps of these elements once for all rows. */
#define N_TOGETHER 64

/* A part of a row of the result: n elements, of which the first has the offset `to` in y. */
typedef struct
{
  const CleaveView *x, *y;
  const CleaveResizeTaps *outer; /* indexed by dimension, except the last: taps of the row along
                                  * this dimension */
  const CleaveResizeTaps *last;  /* indexed by element, from 0 to n - 1: taps of the element along
                                  * the last dimension */
  gint64 n, to, to_stride, from_stride;
} Row;

/* Returns the offset of a row of x, for a row of the result. In each dimension except the last, the
 * row of x has the index of the first tap. Sets `outside` to whether the row of the result is
 * outside of the region of tf_crop_and_resize. */
static gint64
find_row (const Row *row, gboolean *outside)
{
  gint64 from = 0;

  *outside = FALSE;
  for (guint d = 0; d + 1 < row->x->type.shape.rank; d++)
    {
      from += row->outer[d].at[0] * row->x->stride[d];
      *outside = *outside || row->outer[d].outside;
    }
  return from;
}

/* Rounds a number to the type in which sums are computed: float64 for float64, else float32. */
static double
narrowed (const Row *row, double value)
{
  return row->x->type.element == CLEAVE_FLOAT64 ? value : (double) (float) value;
}

/* Adds the product of `weight` and `value` to a sum. The first product replaces the sum, so that -0
 * stays -0. */
static double
add_product (const Row *row, gboolean is_first, double sum, double weight, double value)
{
  double product = narrowed (row, narrowed (row, weight) * value);

  return is_first ? product : narrowed (row, sum + product);
}

static void
interpolate_last (const Row *row, gint64 from, double *sum)
{
  const CleaveView *x = row->x;

  for (gint64 i = 0; i < row->n; i++)
    for (guint t = 0; t < row->last[i].n; t++)
      sum[i] = add_product (
          row, t == 0, sum[i], row->last[i].weight[t],
          narrowed (row, cleave_real_load (x->type.element,
                                           cleave_view_element (x, from + row->last[i].at[t] *
                                                                              row->from_stride))));
}

/* Interpolates along dimension d and all dimensions after it, from offset `from` of x on, and
 * writes row->n elements to `sum`. For each tap along d, calls itself to interpolate along the
 * dimensions after d. Then adds the results of these calls, each times the weight of its tap. */
static void
interpolate_from (const Row *row, guint d, gint64 from, double *sum)
{
  const CleaveResizeTaps *taps = &row->outer[d];
  double part[N_TOGETHER];

  if (d + 1 == row->x->type.shape.rank)
    interpolate_last (row, from, sum);
  else if (taps->n == 1 && taps->weight[0] == 1)
    interpolate_from (row, d + 1, from + taps->at[0] * row->x->stride[d], sum);
  else
    for (guint t = 0; t < taps->n; t++)
      {
        interpolate_from (row, d + 1, from + taps->at[t] * row->x->stride[d], part);
        for (gint64 i = 0; i < row->n; i++)
          sum[i] = add_product (row, t == 0, sum[i], taps->weight[t], part[i]);
      }
}

static void
interpolate_row (const Row *row)
{
  CleaveView one = { .type = { .element = row->y->type.element } };
  double sum[N_TOGETHER] = { 0 };
  guint64 bytes;

  one.data = &bytes;
  interpolate_from (row, 0, 0, sum);
  for (gint64 i = 0; i < row->n; i++)
    {
      cleave_move_from_double (one.type.element, sum[i], &bytes);
      cleave_move_element (row->y, row->to + i * row->to_stride, &one, 0);
    }
}

static void
move_row (const Row *row, gint64 from)
{
  for (gint64 i = 0; i < row->n; i++)
    cleave_move_element (row->y, row->to + i * row->to_stride, row->x,
                         from + row->last[i].at[0] * row->from_stride);
}

/* Sets the elements outside of the region, or all elements if `all`, to the extrapolation value. */
static void
extrapolate_row (const Row *row, gboolean all, double value)
{
  CleaveView one = { .type = { .element = row->y->type.element } };
  guint64 bytes;

  one.data = &bytes;
  cleave_move_from_double (one.type.element, value, &bytes);
  for (gint64 i = 0; i < row->n; i++)
    if (all || row->last[i].outside)
      cleave_move_element (row->y, row->to + i * row->to_stride, &one, 0);
}

static void
resize_row (const CleaveResizeAttrs *a, const Row *row)
{
  gboolean outside;
  gint64 from = find_row (row, &outside);

  if (a->mode == CLEAVE_RESIZE_NEAREST)
    move_row (row, from);
  else
    interpolate_row (row);
  if (a->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE)
    extrapolate_row (row, outside, a->extrapolation_value);
}

/* Computes a block of columns of all rows: the elements of the last dimension from `begin` on, at
 * most N_TOGETHER. */
static void
resize_columns (const CleaveCall *call,
                const CleaveView *x,
                const CleaveView *y,
                const CleaveResizeAxis *axis,
                gint64 begin)
{
  CleaveResizeTaps outer[CLEAVE_MAX_RANK], last[N_TOGETHER];
  CleaveShape rows = y->type.shape;
  guint end = --rows.rank;
  gint64 i[CLEAVE_MAX_RANK];
  Row row = {
    x, y, outer, last, MIN (rows.dim[end] - begin, N_TOGETHER), 0, y->stride[end], x->stride[end]
  };

  for (gint64 k = 0; k < row.n; k++)
    last[k] = cleave_resize_taps (&axis[end], begin + k);
  CLEAVE_EACH_INDEX (i, &rows)
    {
      for (guint d = rows.rank; d-- > 0;) /* computes the taps only of dimensions whose index has
                                           * changed */
        {
          outer[d] = cleave_resize_taps (&axis[d], i[d]);
          if (i[d] != 0)
            break;
        }
      row.to = cleave_index_offset (rows.rank, i, y->stride) + begin * row.to_stride;
      resize_row (call->attrs, &row);
    }
}

void
cleave_resize_compute (const CleaveCall *call,
                       const CleaveView *operands,
                       const CleaveView *results)
{
  const CleaveShape *x = &operands[0].type.shape, *y = &results[0].type.shape;
  CleaveResizeAxis axis[CLEAVE_MAX_RANK];

  if (y->rank == 0)
    cleave_view_copy (&results[0], &operands[0]);
  if (y->rank == 0 || cleave_shape_n_elements (y) == 0)
    return;
  for (guint d = 0; d < y->rank; d++)
    axis[d] = cleave_resize_axis (call->attrs, d, x->dim[d], y->dim[d]);
  for (gint64 begin = 0; begin < y->dim[y->rank - 1]; begin += N_TOGETHER)
    resize_columns (call, &operands[0], &results[0], axis, begin);
}
