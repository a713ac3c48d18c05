/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ScatterElements and ScatterND: a copy of the data in which updates are combined with the elements
 * at the indices. An index outside of the dimension, which ONNX forbids, is clamped.
 *
 * Order of operations: the updates in row-major order, also if several go to the same element. A
 * sum or product is rounded after each update. In a maximum or minimum, a NaN stays, and the first
 * of equal elements stays. The dimensions in which indices select elements cannot be split. */

#include "scatter.h"
#include "elementwise-math.h"
#include "lines.h"
#include "move.h"

enum { DATA, INDICES, UPDATES };

static const char *const reduction_names[] = { "none", "add", "mul", "max", "min", NULL };

static const CleaveAttr elements_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveScatterAttrs, axis), .flags = CLEAVE_ATTR_AXIS },
  { "reduction", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveScatterAttrs, reduction),
    .names = reduction_names },
  { 0 },
};
static const CleaveAttr nd_attrs[] = {
  { "reduction", CLEAVE_ATTR_ENUM, CLEAVE_FIELD (CleaveScatterAttrs, reduction),
    .names = reduction_names },
  { 0 },
};

static gboolean
check_operands (const CleaveCall *call, GError **error)
{
  return cleave_call_check_rank (call, DATA, 1, CLEAVE_MAX_RANK, error) &&
         cleave_call_check_element (call, INDICES, CLEAVE_ELEMENTS_INDEX, error) &&
         cleave_call_check_same_element (call, DATA, UPDATES, error);
}

static gboolean
check_updates (const CleaveCall *call, const CleaveShape *wanted, GError **error)
{
  g_autofree char *want = NULL;
  g_autofree char *got = NULL;

  if (cleave_shape_equal (wanted, &call->operands[UPDATES].shape))
    return TRUE;
  want = cleave_shape_to_string (wanted);
  got = cleave_shape_to_string (&call->operands[UPDATES].shape);
  return cleave_fail (error, CLEAVE_ERROR_SHAPE, "updates are %s, but should be %s", got, want);
}

#define NOTHING "there is nothing for the indices to write"

/* The functions below combine updates with elements. */

typedef void (*Join) (gconstpointer as, gconstpointer bs, gpointer ys, gint64 n);

#define JOIN(T, t, join)                                                                           \
  static void join##_##t (gconstpointer as, gconstpointer bs, gpointer ys, gint64 n)               \
  {                                                                                                \
    const T *a = as, *b = bs;                                                                      \
    T *y = ys;                                                                                     \
                                                                                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      y[i] = cleave_##t##_##join (a[i], b[i]);                                                     \
  }
#define JOINS(join)                                                                                \
  JOIN (float, f32, join)                                                                          \
  JOIN (double, f64, join)                                                                         \
  JOIN (gint64, i64, join)                                                                         \
  JOIN (guint64, u64, join)
JOINS (add)
JOINS (mul)
JOINS (max)
JOINS (min)
#undef JOINS
#undef JOIN

/* joins[reduction - CLEAVE_SCATTER_ADD][wide type (CleaveWide)]: the function that combines updates
 * with elements. */
static const Join joins[][CLEAVE_N_WIDES] = {
  { add_f32, add_f64, add_i64, add_u64 },
  { mul_f32, mul_f64, mul_i64, mul_u64 },
  { max_f32, max_f64, max_i64, max_u64 },
  { min_f32, min_f64, min_i64, min_u64 },
};

void
cleave_scatter_join_line (const CleaveView *to,
                          gint64 to_offset,
                          gint64 to_step,
                          const CleaveView *update,
                          gint64 offset,
                          gint64 step,
                          gint64 length,
                          CleaveScatterReduction reduction)
{
  CleaveWide wide = cleave_wide_of (to->type.element);
  CleaveLineBuffer old, new, joined;

  for (gint64 at = 0; at < length; at += CLEAVE_LINE)
    {
      gint64 n = MIN (length - at, CLEAVE_LINE), to_at = to_offset + at * to_step;
      gconstpointer a = cleave_line_read (to, to_at, to_step, n, wide, &old);
      gconstpointer b = cleave_line_read (update, offset + at * step, step, n, wide, &new);
      gpointer y = cleave_line_begin (to, to_at, to_step, wide, &joined);

      joins[reduction - CLEAVE_SCATTER_ADD][wide](a, b, y, n);
      cleave_line_write (to, to_at, to_step, n, wide, y);
    }
}

/* The code below defines the op ScatterElements. */

static gboolean
infer_elements (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveScatterAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;

  if (!check_operands (call, error) ||
      !cleave_call_check_rank (call, INDICES, x->rank, x->rank, error) ||
      !check_updates (call, i, error) ||
      !cleave_move_check_indexed (x, (guint) a->axis, i, NOTHING, error))
    return FALSE;
  return cleave_move_check_within (i, x, (guint) a->axis, error) &&
         cleave_infer_same (call, results, error);
}

static void
maps_elements (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveScatterAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_whole (call->operands[operand].shape.dim[a->axis]);
}

/* Returns whether all n indices of a line are the same, for example because they are broadcast. */
static gboolean
is_one (const CleaveView *indices, gint64 offset, gint64 step, gint64 n)
{
  gconstpointer first = cleave_view_element (indices, offset);
  const gint32 *short_ones = first;
  const gint64 *long_ones = first;
  gint64 differ = 0;

  if (indices->type.element == CLEAVE_INT32)
    for (gint64 i = 0; i < n; i++)
      differ |= short_ones[i * step] ^ short_ones[0];
  else
    for (gint64 i = 0; i < n; i++)
      differ |= long_ones[i * step] ^ long_ones[0];
  return differ == 0;
}

/* Combines a line of updates with elements of y: a whole line at once if the updates go to
 * different elements, else one update after the other. */
static void
join_elements (const CleaveView *y,
               const CleaveView *updates,
               const CleaveView *indices,
               guint axis,
               CleaveScatterReduction reduction)
{
  const CleaveView first = cleave_move_first_along (y, &indices->type.shape, axis);
  const CleaveView *views[] = { indices, &first, updates };
  gint64 extent = y->type.shape.dim[axis], axis_step = y->stride[axis];
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 3, ~0u); more;
       more = cleave_lines_next (&lines))
    {
      gboolean at_once =
          lines.step[1] != 0 && is_one (indices, lines.offset[0], lines.step[0], lines.length);
      gint64 n = at_once ? lines.length : 1;

      for (gint64 i = 0; i < lines.length; i += n)
        {
          gint64 at = cleave_move_index (indices, lines.offset[0] + i * lines.step[0], extent);

          cleave_scatter_join_line (y, lines.offset[1] + i * lines.step[1] + at * axis_step,
                                    lines.step[1], updates, lines.offset[2] + i * lines.step[2],
                                    lines.step[2], n, reduction);
        }
    }
}

static void
compute_elements (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveScatterAttrs *a = call->attrs;
  const CleaveView *indices = &operands[INDICES], *updates = &operands[UPDATES], *y = &results[0];

  cleave_view_copy (y, &operands[DATA]);
  if (a->reduction == CLEAVE_SCATTER_NONE)
    cleave_move_picked (y, updates, indices, (guint) a->axis, TRUE);
  else
    join_elements (y, updates, indices, (guint) a->axis, a->reduction);
}

/* Returns 18 if the reduction is max or min, which opset 18 is the first to have. Returns 0 for the
 * other reductions, which every opset has. */
static guint
since (const CleaveCall *call)
{
  const CleaveScatterAttrs *a = call->attrs;

  return a->reduction >= CLEAVE_SCATTER_MAX ? 18 : 0;
}

static CleaveKernel
kernel_elements (const CleaveCall *call)
{
  return call->operands[DATA].element == CLEAVE_FLOAT32 ? CLEAVE_KERNEL_SCATTER
                                                        : CLEAVE_KERNEL_REFERENCE;
}

/* Fields that the records of ScatterElements and ScatterND share. */
#define SCATTERS                                                                                   \
  .operands = (const char *const[]){ "data", "indices", "updates", NULL },                         \
  .results = (const char *const[]){ "output", NULL }, .min_operands = 3,                           \
  .flags = CLEAVE_OP_BY_STRIDES, .attrs_size = sizeof (CleaveScatterAttrs),                        \
  .work = cleave_work_once, .since = since

const CleaveOp cleave_op_scatter_elements = {
  .name = "ScatterElements",
  SCATTERS,
  .attrs = elements_attrs,
  .infer = infer_elements,
  .maps = maps_elements,
  .kernel = kernel_elements,
  .compute = compute_elements,
};

/* ScatterND. An index tuple has one index for each of the `taken` dimensions:
 *
 *   data     [taken …, rest …]
 *   indices  [more …, number of taken dimensions]
 *   updates  [more …, rest …] */

/* Returns the number of dimensions of data for which an index tuple has an index. */
static guint
n_taken (const CleaveCall *call)
{
  const CleaveShape *i = &call->operands[INDICES].shape;

  return (guint) i->dim[i->rank - 1];
}

static gboolean
infer_nd (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveShape *x = &call->operands[DATA].shape, *i = &call->operands[INDICES].shape;
  CleaveShape updates = *i;
  gint64 taken;

  if (!check_operands (call, error) ||
      !cleave_call_check_rank (call, INDICES, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  taken = i->dim[--updates.rank];
  if (taken < 1 || taken > x->rank || updates.rank + x->rank - taken > CLEAVE_MAX_RANK)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                        "the last dimension of indices cannot be %" G_GINT64_FORMAT
                        " for data of rank %u",
                        taken, x->rank);
  for (guint d = (guint) taken; d < x->rank; d++)
    updates.dim[updates.rank++] = x->dim[d];
  if (!check_updates (call, &updates, error))
    return FALSE;
  for (guint d = 0; d < taken; d++)
    if (!cleave_move_check_indexed (x, d, &updates, NOTHING, error))
      return FALSE;
  return cleave_infer_same (call, results, error);
}

static void
maps_nd (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;
  guint taken = n_taken (call), n_tuples = call->operands[INDICES].shape.rank - 1;
  guint first = operand == DATA ? taken : operand == UPDATES ? n_tuples : own->rank;

  for (guint d = 0; d < own->rank; d++)
    map[d] =
        d < first ? cleave_dim_map_whole (own->dim[d]) : cleave_dim_map_same (d - first + taken);
}

/* Combines the elements of one update with the elements of y that one tuple of `indices` selects.
 * `y` and `updates`: views of these elements. `lines`: loops over both views. */
static void
join (const CleaveView *y,
      const CleaveView *updates,
      CleaveLines *lines,
      CleaveScatterReduction how)
{
  do
    cleave_scatter_join_line (y, lines->offset[0], lines->step[0], updates, lines->offset[1],
                              lines->step[1], lines->length, how);
  while (cleave_lines_next (lines));
}

static void
compute_nd (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  const CleaveScatterAttrs *a = call->attrs;
  const CleaveView *indices = &operands[INDICES], *updates = &operands[UPDATES], *y = &results[0];
  CleaveShape tuples = indices->type.shape;
  guint taken = (guint) tuples.dim[tuples.rank - 1], n = --tuples.rank;
  CleaveView to = cleave_move_drop_dims (y, 0, taken, 0),
             update = cleave_move_drop_dims (updates, 0, n, 0);
  const CleaveView *views[] = { &to, &update };
  gint64 i[CLEAVE_MAX_RANK];
  CleaveLines lines;

  cleave_view_copy (y, &operands[DATA]);
  if (cleave_shape_n_elements (&updates->type.shape) == 0)
    return;
  cleave_lines_init_views (&lines, views, 2);
  CLEAVE_EACH_INDEX (i, &tuples)
    {
      gint64 from = cleave_index_offset (n, i, indices->stride), at = 0;

      for (guint k = 0; k < taken; k++)
        at += y->stride[k] *
              cleave_move_index (indices, from + k * indices->stride[n], y->type.shape.dim[k]);
      to.data = cleave_view_element (y, at);
      update.data = cleave_view_element (updates, cleave_index_offset (n, i, updates->stride));
      if (a->reduction == CLEAVE_SCATTER_NONE)
        cleave_view_copy (&to, &update);
      else
        join (&to, &update, &lines, a->reduction);
    }
}

const CleaveOp cleave_op_scatter_nd = {
  .name = "ScatterND",
  SCATTERS,
  .attrs = nd_attrs,
  .infer = infer_nd,
  .maps = maps_nd,
  .kernel = cleave_move_kernel,
  .compute = compute_nd,
};
