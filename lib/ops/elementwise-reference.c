/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the loops of element-wise reference kernels over all lines of a result. Elements are
 * converted to one of four wide types (CleaveWide: float, double, gint64, guint64), computed in
 * this type, and rounded once at the end. */

#include "elementwise-reference.h"
#include "elementwise-math.h"

/* Returns the wide type (CleaveWide) in which a call is computed: the wide type to which its
 * operands are converted, or double if the operands have different wide types. */
static CleaveWide
wide_of (const CleaveCall *call)
{
  CleaveWide wide = cleave_wide_of (call->operands[0].element);

  for (guint k = 1; k < call->n_operands; k++)
    if (cleave_wide_of (call->operands[k].element) != wide)
      return CLEAVE_WIDE_F64;
  return wide;
}

void
cleave_elementwise_compute_lines (const CleaveCall *call,
                                  const CleaveView *operands,
                                  const CleaveView *y,
                                  const CleaveElementwiseLoop *loops)
{
  const CleaveView *views[] = { y, &operands[0], &operands[call->n_operands - 1] };
  CleaveWide wide = wide_of (call);
  CleaveLineBuffer buffers[3];
  gconstpointer x[3];
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_views (&lines, views, 3); more;
       more = cleave_lines_next (&lines))
    for (gint64 at = 0; at < lines.length; at += CLEAVE_LINE)
      {
        gint64 n = MIN (lines.length - at, CLEAVE_LINE);
        gint64 to = lines.offset[0] + at * lines.step[0];
        gpointer out = cleave_line_begin (y, to, lines.step[0], wide, &buffers[0]);

        if (y->type.element != operands[0].type.element)
          out = &buffers[0];
        for (guint k = 1; k <= call->n_operands; k++)
          x[k] = cleave_line_read (views[k], lines.offset[k] + at * lines.step[k], lines.step[k], n,
                                   wide, &buffers[k]);
        loops[wide](x[1], x[call->n_operands], out, n, call->attrs);
        cleave_line_write (y, to, lines.step[0], n, wide, out);
      }
}

/* Returns the offset in `view` of the element that is broadcast to `index` of the result. Sets
 * `step` to the stride along the last dimension. */
static gint64
broadcast_offset (const CleaveView *view, guint rank, const gint64 *index, gint64 *step)
{
  gint64 stride[CLEAVE_MAX_RANK] = { 0 };

  cleave_view_broadcast_strides (view, rank, stride);
  *step = rank == 0 ? 0 : stride[rank - 1];
  return cleave_index_offset (rank, index, stride);
}

/* Computes n elements of the result of an op with many operands, from `index` on: combines the
 * elements of all operands, one operand after the other. */
static void
fold_line (const CleaveCall *call,
           const CleaveView *operands,
           const CleaveView *y,
           const gint64 *index,
           gint64 n,
           CleaveElementwiseLoop loop)
{
  guint rank = y->type.shape.rank;
  CleaveWide wide = cleave_wide_of (y->type.element);
  CleaveLineBuffer first, next, folded;
  gconstpointer so_far;
  gint64 step, offset = broadcast_offset (&operands[0], rank, index, &step);

  so_far = cleave_line_read (&operands[0], offset, step, n, wide, &first);
  for (guint k = 1; k < call->n_operands; k++)
    {
      CleaveFold fold = { .index = k, .n_operands = call->n_operands };
      gconstpointer b;

      offset = broadcast_offset (&operands[k], rank, index, &step);
      b = cleave_line_read (&operands[k], offset, step, n, wide, &next);
      loop (so_far, b, &folded, n, &fold);
      so_far = &folded;
    }
  offset = broadcast_offset (y, rank, index, &step);
  cleave_line_write (y, offset, step, n, wide, so_far);
}

void
cleave_elementwise_compute_fold (const CleaveCall *call,
                                 const CleaveView *operands,
                                 const CleaveView *y,
                                 const CleaveElementwiseLoop *loops)
{
  CleaveShape starts = y->type.shape; /* the shape of y with extent 1 in the last dimension, so
                                       * that it has one index for each line of y */
  guint rank = starts.rank;
  gint64 length = rank == 0 ? 1 : starts.dim[rank - 1];
  gint64 index[CLEAVE_MAX_RANK] = { 0 };

  if (rank > 0)
    starts.dim[rank - 1] = MIN (length, 1);
  CLEAVE_EACH_INDEX (index, &starts)
    for (gint64 at = 0; at < length; at += CLEAVE_LINE)
      {
        gint64 here[CLEAVE_MAX_RANK];

        for (guint d = 0; d < rank; d++)
          here[d] = d + 1 < rank ? index[d] : at;
        fold_line (call, operands, y, here, MIN (length - at, CLEAVE_LINE),
                   loops[cleave_wide_of (y->type.element)]);
      }
}
