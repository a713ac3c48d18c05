/* SPDX-License-Identifier: GPL-2.0-or-later */

/* CumSum: each element of the result is the sum of all elements up to it along the axis. All
 * dimensions but the axis can be split.
 *
 * Order of operations: one element after the other. Floats are added in double, and each sum is
 * rounded once. Integers wrap around. */

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

/* Rows of elements along the axis. Element 0 of a row is the element that is added first, also if
 * `reverse` is set. All offsets and distances are in elements. */
typedef struct
{
  const CleaveView *x, *y;
  gint64 from, to;               /* offset of the first row in x (`from`) and in y (`to`) */
  gint64 x_across, y_across;     /* distances from one row to the next, in x and in y */
  gint64 x_step, y_step, length; /* distances from one element of a row to the next, in x and in y;
                                  * number of elements of a row */
  gint64 n;                      /* number of rows */
  gboolean exclusive;
} Rows;

/* The kernel adds this many rows at the same time: within a row, each addition waits for the result
 * of the addition before it. */
#define N_ROWS 4

/* Defines two functions for type T. The first function adds a few rows, one after the other. The
 * second one adds rows whose elements are neighbors in memory, with one vector addition for all
 * rows. Both add the elements of a row in the same order. */
/* clang-format off */
#define SUMS(T, t, wide)                                                                           \
  static inline void add_##t (guint n_rows, const T *const *x, T *const *y, T *sums, gint64 n,     \
                              gboolean exclusive)                                                  \
  {                                                                                                \
    T sum[N_ROWS];                                                                                 \
                                                                                                   \
    for (guint r = 0; r < n_rows; r++)                                                             \
      sum[r] = sums[r];                                                                            \
    for (gint64 i = 0; i < n; i++)                                                                 \
      for (guint r = 0; r < n_rows; r++)                                                           \
        {                                                                                          \
          T next = cleave_##t##_add (sum[r], x[r][i]);                                             \
                                                                                                   \
          y[r][i] = exclusive ? sum[r] : next;                                                     \
          sum[r] = next;                                                                           \
        }                                                                                          \
    for (guint r = 0; r < n_rows; r++)                                                             \
      sums[r] = sum[r];                                                                            \
  }                                                                                                \
                                                                                                   \
  static void along_##t (const Rows *rows, gint64 first, guint n_rows)                             \
  {                                                                                                \
    CleaveLineBuffer buffers[2 * N_ROWS];                                                          \
    T sums[N_ROWS] = { 0 }, *y[N_ROWS];                                                            \
    const T *x[N_ROWS];                                                                            \
    gint64 to[N_ROWS];                                                                             \
                                                                                                   \
    for (gint64 at = 0; at < rows->length; at += CLEAVE_LINE)                                      \
      {                                                                                            \
        gint64 n = MIN (rows->length - at, CLEAVE_LINE);                                           \
                                                                                                   \
        for (guint r = 0; r < n_rows; r++)                                                         \
          {                                                                                        \
            gint64 from = rows->from + (first + r) * rows->x_across + at * rows->x_step;           \
                                                                                                   \
            x[r] = cleave_line_read (rows->x, from, rows->x_step, n, wide, &buffers[r]);           \
            to[r] = rows->to + (first + r) * rows->y_across + at * rows->y_step;                   \
            y[r] = cleave_line_begin (rows->y, to[r], rows->y_step, wide, &buffers[N_ROWS + r]);   \
          }                                                                                        \
        if (n_rows == N_ROWS)                                                                      \
          add_##t (N_ROWS, x, y, sums, n, rows->exclusive);                                        \
        else                                                                                       \
          add_##t (n_rows, x, y, sums, n, rows->exclusive);                                        \
        for (guint r = 0; r < n_rows; r++)                                                         \
          cleave_line_write (rows->y, to[r], rows->y_step, n, wide, y[r]);                         \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void across_##t (const Rows *rows, gint64 first, gint64 n)                                \
  {                                                                                                \
    T sums[2][CLEAVE_LINE] = { { 0 } };                                                            \
    CleaveLineBuffer buffer;                                                                       \
                                                                                                   \
    for (gint64 at = 0; at < rows->length; at++)                                                   \
      {                                                                                            \
        gint64 from = rows->from + first * rows->x_across + at * rows->x_step;                     \
        gint64 to = rows->to + first * rows->y_across + at * rows->y_step;                         \
        const T *x = cleave_line_read (rows->x, from, rows->x_across, n, wide, &buffer);           \
        T *sum = sums[at % 2], *next = sums[1 - at % 2];                                           \
                                                                                                   \
        for (gint64 i = 0; i < n; i++)                                                             \
          next[i] = cleave_##t##_add (sum[i], x[i]);                                               \
        cleave_line_write (rows->y, to, rows->y_across, n, wide, rows->exclusive ? sum : next);    \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void run_##t (const Rows *rows)                                                           \
  {                                                                                                \
    if (rows->n >= CLEAVE_MIN_ACROSS && ABS (rows->x_across) < ABS (rows->x_step))                        \
      for (gint64 i = 0; i < rows->n; i += CLEAVE_LINE)                                            \
        across_##t (rows, i, MIN (rows->n - i, CLEAVE_LINE));                                      \
    else                                                                                           \
      for (gint64 i = 0; i < rows->n; i += N_ROWS)                                                 \
        along_##t (rows, i, (guint) MIN (rows->n - i, N_ROWS));                                    \
  }
SUMS (double, f64, CLEAVE_WIDE_F64)
SUMS (gint64, i64, CLEAVE_WIDE_I64)
SUMS (guint64, u64, CLEAVE_WIDE_U64)
#undef SUMS
/* clang-format on */

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  static void (*const runs[CLEAVE_N_WIDES]) (const Rows *) = { run_f64, run_f64, run_i64, run_u64 };
  const CleaveCumsumAttrs *a = call->attrs;
  const CleaveView *x = &operands[0], *y = &results[0], *views[] = { y, x };
  gint64 n = x->type.shape.dim[a->axis], first = a->reverse ? n - 1 : 0, sign = a->reverse ? -1 : 1;
  Rows rows = { .x = x,
                .y = y,
                .x_step = sign * x->stride[a->axis],
                .y_step = sign * y->stride[a->axis],
                .length = n,
                .exclusive = a->exclusive };
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << a->axis)); more;
       more = cleave_lines_next (&lines))
    {
      rows.to = lines.offset[0] + first * y->stride[a->axis];
      rows.from = lines.offset[1] + first * x->stride[a->axis];
      rows.y_across = lines.step[0];
      rows.x_across = lines.step[1];
      rows.n = lines.length;
      runs[cleave_wide_of (x->type.element)](&rows);
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
