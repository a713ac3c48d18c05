/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ArgMax and ArgMin: the index along the axis of the largest or smallest element, as int64. If
 * several elements are equal, the result is the index of the first one or, with select_last_index,
 * of the last one. ArgMax treats NaN as larger than all numbers. ArgMin treats NaN as smaller than
 * all numbers. All dimensions but the axis can be split. */

#include "../ir/op.h"
#include "axes.h"
#include "lines.h"

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveArgAttrs *a = call->attrs;
  const CleaveShape *x = &call->operands[0].shape;

  if (!cleave_call_check_element (call, 0, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error) ||
      !cleave_call_check_rank (call, 0, 1, CLEAVE_MAX_RANK, error))
    return FALSE;
  if (x->dim[a->axis] == 0)
    return cleave_fail (error, CLEAVE_ERROR_SHAPE, "data has no elements along axis %d",
                        (int) a->axis);
  results[0] =
      (CleaveTensorType){ CLEAVE_INT64, cleave_axes_shape (x, 1u << a->axis, a->keepdims) };
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveArgAttrs *a = call->attrs;

  cleave_axes_maps (&call->operands[0].shape, 1u << a->axis, a->keepdims, map);
}

/* The elements of x along the axis for one element of the result: `n` elements from element
 * `offset` on, `step` elements apart. */
typedef struct
{
  const CleaveView *x;
  gint64 offset, step, n;
  CleaveWide wide;
  gboolean last; /* whether to find the last of several equal elements instead of the first */
} Row;

typedef gint64 (*Find) (const Row *row);

/* Defines a function that returns the index of the largest or smallest element of a Row.
 * `is_better` is the operator > or <. `nan_wins` is TRUE if x[i] is NaN and `best` is a number:
 * only NaN differs from itself. */
#define FIND(name, T, is_better)                                                                   \
  static gint64 name (const Row *row)                                                              \
  {                                                                                                \
    CleaveLineBuffer buffer;                                                                       \
    gint64 found = 0;                                                                              \
    T best = 0;                                                                                    \
                                                                                                   \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE);                                                 \
        const T *x = cleave_line_read (row->x, row->offset + at * row->step, row->step, n,         \
                                       row->wide, &buffer);                                        \
                                                                                                   \
        for (gint64 i = 0; i < n; i++)                                                             \
          {                                                                                        \
            gboolean nan_wins = (x[i] == x[i]) < (best == best);                                   \
            gboolean same = x[i] == best || (x[i] != x[i] && best != best);                        \
                                                                                                   \
            if (at + i > 0 && !(x[i] is_better best) && !nan_wins && !(row->last && same))         \
              continue;                                                                            \
            best = x[i];                                                                           \
            found = at + i;                                                                        \
          }                                                                                        \
      }                                                                                            \
    return found;                                                                                  \
  }
FIND (max_f32, float, >)
FIND (max_f64, double, >)
FIND (max_i64, gint64, >)
FIND (max_u64, guint64, >)
FIND (min_f32, float, <)
FIND (min_f64, double, <)
FIND (min_i64, gint64, <)
FIND (min_u64, guint64, <)

static void
run (const CleaveCall *call, const CleaveView *x, const CleaveView *result, const Find *finds)
{
  const CleaveArgAttrs *a = call->attrs;
  CleaveView y = cleave_axes_expand (result, &x->type.shape, 1u << a->axis, a->keepdims);
  const CleaveView *views[] = { &y, x };
  Row row = { .x = x,
              .step = x->stride[a->axis],
              .n = x->type.shape.dim[a->axis],
              .wide = cleave_wide_of (x->type.element),
              .last = a->select_last_index };
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << a->axis)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        row.offset = lines.offset[1] + i * lines.step[1];
        ((gint64 *) y.data)[lines.offset[0] + i * lines.step[0]] = finds[row.wide](&row);
      }
}

static void
compute_max (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static const Find finds[CLEAVE_N_WIDES] = { max_f32, max_f64, max_i64, max_u64 };

  run (call, &operands[0], &results[0], finds);
}

static void
compute_min (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static const Find finds[CLEAVE_N_WIDES] = { min_f32, min_f64, min_i64, min_u64 };

  run (call, &operands[0], &results[0], finds);
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  const guint integers = CLEAVE_ELEMENT_BIT (CLEAVE_INT8) | CLEAVE_ELEMENT_BIT (CLEAVE_UINT8) |
                         CLEAVE_ELEMENT_BIT (CLEAVE_INT32) | CLEAVE_ELEMENT_BIT (CLEAVE_INT64);

  if ((integers & CLEAVE_ELEMENT_BIT (call->operands[0].element)) != 0)
    return CLEAVE_KERNEL_ARG;
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_ARG);
}

static const CleaveAttr arg_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveArgAttrs, axis), .flags = CLEAVE_ATTR_AXIS },
  { "keepdims", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveArgAttrs, keepdims), .fallback = 1 },
  { "select_last_index", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveArgAttrs, select_last_index) },
  { 0 },
};

/* Fields that the records of ArgMax and ArgMin share. */
#define ARG                                                                                        \
  .operands = (const char *const[]){ "data", NULL },                                               \
  .results = (const char *const[]){ "reduced", NULL }, .min_operands = 1,                          \
  .attrs_size = sizeof (CleaveArgAttrs), .attrs = arg_attrs, .infer = infer, .maps = maps,         \
  .kernel = kernel

const CleaveOp cleave_op_arg_max = {
  .name = "ArgMax",
  ARG,
  .compute = compute_max,
};

const CleaveOp cleave_op_arg_min = {
  .name = "ArgMin",
  ARG,
  .compute = compute_min,
};
