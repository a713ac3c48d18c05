/* SPDX-License-Identifier: GPL-2.0-or-later */

/* CumSum: sums of all elements up to each, along the axis, which is whole; every other dimension
 * splits at will.
 *
 * Order: element after element; floats are added up as doubles and each sum rounded once, integers
 * wrap around. */

#include "../ir/op.h"
#include "elementwise-math.h"
#include "lines.h"

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return cleave_call_check_element (call, 0, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error) &&
         cleave_call_check_rank (call, 0, 1, CLEAVE_MAX_RANK, error) &&
         cleave_infer_same (call, results, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveCumsumAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_whole (call->operands[0].shape.dim[a->axis]);
}

/* The elements along the axis in the order in which they are added up. */
typedef struct
{
  const CleaveView *x, *y;
  gint64 from, x_step, to, y_step, n;
  gboolean exclusive;
} Row;

#define RUN(name, T, t, wide)                                                                      \
  static void name (const Row *row)                                                                \
  {                                                                                                \
    CleaveLineBuffer buffer;                                                                       \
    T sums[CLEAVE_LINE], sum = 0;                                                                  \
                                                                                                   \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE);                                                 \
        const T *x = cleave_line_read (row->x, row->from + at * row->x_step, row->x_step, n, wide, \
                                       &buffer);                                                   \
                                                                                                   \
        for (gint64 i = 0; i < n; i++)                                                             \
          {                                                                                        \
            T next = cleave_##t##_add (sum, x[i]);                                                 \
                                                                                                   \
            sums[i] = row->exclusive ? sum : next;                                                 \
            sum = next;                                                                            \
          }                                                                                        \
        cleave_line_write (row->y, row->to + at * row->y_step, row->y_step, n, wide, sums);        \
      }                                                                                            \
  }
RUN (run_f64, double, f64, CLEAVE_WIDE_F64)
RUN (run_i64, gint64, i64, CLEAVE_WIDE_I64)
RUN (run_u64, guint64, u64, CLEAVE_WIDE_U64)

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static void (*const runs[CLEAVE_N_WIDES]) (const Row *) = { run_f64, run_f64, run_i64, run_u64 };
  const CleaveCumsumAttrs *a = call->attrs;
  const CleaveView *x = &operands[0], *y = &results[0], *views[] = { y, x };
  gint64 n = x->type.shape.dim[a->axis], first = a->reverse ? n - 1 : 0, sign = a->reverse ? -1 : 1;
  Row row = { .x = x,
              .y = y,
              .x_step = sign * x->stride[a->axis],
              .y_step = sign * y->stride[a->axis],
              .n = n,
              .exclusive = a->exclusive };
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << a->axis)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        row.to = lines.offset[0] + i * lines.step[0] + first * y->stride[a->axis];
        row.from = lines.offset[1] + i * lines.step[1] + first * x->stride[a->axis];
        runs[cleave_wide_of (x->type.element)](&row);
      }
}

static const CleaveAttr cumsum_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveCumsumAttrs, axis), .onnx_operand = 1,
    .flags = CLEAVE_ATTR_AXIS | CLEAVE_ATTR_SCALAR },
  { "exclusive", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveCumsumAttrs, exclusive) },
  { "reverse", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveCumsumAttrs, reverse) },
  { 0 },
};

const CleaveOp cleave_op_cumsum = {
  .name = "CumSum",
  .operands = (const char *const[]){ "x", NULL },
  .results = (const char *const[]){ "y", NULL },
  .min_operands = 1,
  .flags = CLEAVE_OP_IN_PLACE,
  .attrs_size = sizeof (CleaveCumsumAttrs),
  .attrs = cumsum_attrs,
  .infer = infer,
  .maps = maps,
  .work = cleave_work_once,
  .compute = compute,
};
