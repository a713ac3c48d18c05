/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Softmax, LogSoftmax and Hardmax. All dimensions but the axis can be split.
 *
 * Order of operations: the maximum, then the sum of the exponentials, both in 8 lanes (axes.h).
 * Each exponential is multiplied by 1 / sum. All operations are in float64 for float64 elements,
 * else in float32. */

#include "axes.h"
#include "build.h"
#include "elementwise-math.h"
#include "lines.h"

/* A line of n elements along the axis, which a Softmax normalizes. `x_step` and `y_step`: distances
 * of adjacent elements of the line in x and in y, in elements. */
typedef struct
{
  const CleaveView *x, *y;
  gint64 from, to; /* offset of the first element of the line in x (`from`) and in y (`to`) */
  gint64 x_step, y_step;
  gint64 n;
  CleaveWide wide;
} Row;

static gconstpointer
read_block (const Row *row, gint64 at, gint64 n, CleaveLineBuffer *buffer)
{
  return cleave_line_read (row->x, row->from + at * row->x_step, row->x_step, n, row->wide, buffer);
}

static void
write_block (const Row *row, gint64 at, gint64 n, gconstpointer values)
{
  cleave_line_write (row->y, row->to + at * row->y_step, row->y_step, n, row->wide, values);
}

/* Defines functions for type T: the maximum, the sum of exponentials, and the line function of each
 * op. The result may overwrite the operand: no element is read after its result is written. */
/* clang-format off */
#define ROWS(T, t)                                                                                 \
  CLEAVE_LANES_FOLD (fold_max_##t, T, cleave_##t##_max)                                            \
  CLEAVE_LANES_FOLD (fold_sum_##t, T, cleave_##t##_add)                                            \
                                                                                                   \
  static T maximum_##t (const Row *row)                                                            \
  {                                                                                                \
    T lane[CLEAVE_N_LANES];                                                                        \
    CleaveLineBuffer buffer;                                                                       \
                                                                                                   \
    for (guint j = 0; j < CLEAVE_N_LANES; j++)                                                     \
      lane[j] = -(T) INFINITY;                                                                     \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE);                                                 \
                                                                                                   \
        fold_max_##t (lane, read_block (row, at, n, &buffer), at, n);                              \
      }                                                                                            \
    return CLEAVE_LANES_JOIN (lane, cleave_##t##_max);                                             \
  }                                                                                                \
                                                                                                   \
  static void exponentials_##t (const T *x, T m, T *e, gint64 n)                                   \
  {                                                                                                \
    for (gint64 i = 0; i < n; i++)                                                                 \
      e[i] = cleave_##t##_exp_normal (x[i] - m);                                                   \
  }                                                                                                \
                                                                                                   \
  static T sum_##t (const Row *row, T m)                                                           \
  {                                                                                                \
    T lane[CLEAVE_N_LANES] = { 0 }, e[CLEAVE_LINE];                                                \
    CleaveLineBuffer buffer;                                                                       \
                                                                                                   \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE);                                                 \
                                                                                                   \
        exponentials_##t (read_block (row, at, n, &buffer), m, e, n);                              \
        fold_sum_##t (lane, e, at, n);                                                             \
      }                                                                                            \
    return CLEAVE_LANES_JOIN (lane, cleave_##t##_add);                                             \
  }                                                                                                \
                                                                                                   \
  static void softmax_##t (const Row *row)                                                         \
  {                                                                                                \
    T m = maximum_##t (row), inverse = 1 / sum_##t (row, m), e[CLEAVE_LINE];                       \
    CleaveLineBuffer buffer;                                                                       \
                                                                                                   \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE);                                                 \
                                                                                                   \
        exponentials_##t (read_block (row, at, n, &buffer), m, e, n);                              \
        for (gint64 i = 0; i < n; i++)                                                             \
          e[i] = e[i] * inverse;                                                                       \
        write_block (row, at, n, e);                                                               \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void log_softmax_##t (const Row *row)                                                     \
  {                                                                                                \
    T m = maximum_##t (row), log = cleave_##t##_log (sum_##t (row, m)), y[CLEAVE_LINE];            \
    CleaveLineBuffer buffer;                                                                       \
                                                                                                   \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE);                                                 \
        const T *x = read_block (row, at, n, &buffer);                                             \
                                                                                                   \
        for (gint64 i = 0; i < n; i++)                                                             \
          y[i] = (x[i] - m) - log;                                                                 \
        write_block (row, at, n, y);                                                               \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  /* Writes 1 for the first of the largest elements, and 0 for all others. */                             \
  static void hardmax_##t (const Row *row)                                                         \
  {                                                                                                \
    T m = maximum_##t (row), y[CLEAVE_LINE];                                                       \
    gboolean found = FALSE;                                                                        \
    CleaveLineBuffer buffer;                                                                       \
                                                                                                   \
    for (gint64 at = 0; at < row->n; at += CLEAVE_LINE)                                            \
      {                                                                                            \
        gint64 n = MIN (row->n - at, CLEAVE_LINE), i = found ? n : 0;                              \
        const T *x = i < n ? read_block (row, at, n, &buffer) : NULL;                              \
                                                                                                   \
        while (i < n && !(x[i] == m || (x[i] != x[i] && m != m)))                                  \
          i++;                                                                                     \
        memset (y, 0, (gsize) n * sizeof (T));                                                     \
        if (i < n)                                                                                 \
          y[i] = 1;                                                                                \
        found = found || i < n;                                                                    \
        write_block (row, at, n, y);                                                               \
      }                                                                                            \
  }
ROWS (float, f32)
ROWS (double, f64)
#undef ROWS
/* clang-format on */

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return cleave_call_check_element (call, 0, CLEAVE_ELEMENTS_FLOAT, error) &&
         cleave_call_check_rank (call, 0, 1, CLEAVE_MAX_RANK, error) &&
         cleave_infer_same (call, results, error);
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveAxisAttrs *a = call->attrs;

  cleave_maps_same (call, operand, map);
  map[a->axis] = cleave_dim_map_whole (call->operands[0].shape.dim[a->axis]);
}

static void
run (const CleaveCall *call,
     const CleaveView *x,
     const CleaveView *y,
     void (*f32) (const Row *),
     void (*f64) (const Row *))
{
  gint64 axis = ((const CleaveAxisAttrs *) call->attrs)->axis;
  const CleaveView *views[] = { y, x };
  CleaveWide wide = cleave_wide_of (x->type.element);
  Row row = { .x = x,
              .y = y,
              .x_step = x->stride[axis],
              .y_step = y->stride[axis],
              .wide = wide,
              .n = x->type.shape.dim[axis] };
  CleaveLines lines;

  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~(1u << axis)); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        row.to = lines.offset[0] + i * lines.step[0];
        row.from = lines.offset[1] + i * lines.step[1];
        (wide == CLEAVE_WIDE_F32 ? f32 : f64) (&row);
      }
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_SOFTMAX);
}

static CleaveKernel
kernel_log (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_LOG_SOFTMAX);
}

static const char *const operands[] = { "input", NULL };
static const char *const results[] = { "output", NULL };

static const CleaveAttr axis_attrs[] = {
  { "axis", CLEAVE_ATTR_INT, CLEAVE_FIELD (CleaveAxisAttrs, axis), .fallback = -1,
    .flags = CLEAVE_ATTR_AXIS },
  { 0 },
};

/* clang-format off */
#define OP(word, op_name, kernel_of, more)                                                         \
  static void word##_compute (const CleaveCall *call, const CleaveView *x, const CleaveView *y)    \
  {                                                                                                \
    run (call, &x[0], &y[0], word##_f32, word##_f64);                                              \
  }                                                                                                \
  const CleaveOp cleave_op_##word = {                                                              \
    .name = op_name,                                                                               \
    .operands = operands,                                                                          \
    .results = results,                                                                            \
    .min_operands = 1,                                                                             \
    .flags = CLEAVE_OP_IN_PLACE | (more),                                                          \
    .attrs_size = sizeof (CleaveAxisAttrs),                                                        \
    .attrs = axis_attrs,                                                                                \
    .infer = infer,                                                                                \
    .maps = maps,                                                                                  \
    .work = cleave_work_once, \
    .compute = word##_compute,                                                                     \
    .kernel = kernel_of,                                                                           \
  };
OP (softmax, "Softmax", kernel, CLEAVE_OP_NOT_NEGATIVE)
OP (log_softmax, "LogSoftmax", kernel_log, 0)
OP (hardmax, "Hardmax", NULL, CLEAVE_OP_NOT_NEGATIVE)
#undef OP
/* clang-format on */

/**
 * cleave_graph_add_softmax:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `softmax`
 * @x: (transfer none): a value of one of the four float types, of rank 1 or more
 * @axis: the dimension along which the results add up to 1; negative values count from the end
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a [Softmax](https://onnx.ai/onnx/operators/onnx__Softmax.html).
 *
 * The result has the type of @x. The node can be split along each dimension except @axis.
 *
 * Fails with %CLEAVE_ERROR_ATTRIBUTE if @axis is out of range, with %CLEAVE_ERROR_SHAPE if @x is a
 * scalar, and with %CLEAVE_ERROR_ELEMENT_TYPE if @x is no float type. The graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_softmax (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 axis, GError **error)
{
  CleaveAxisAttrs a = { .axis = axis };

  return cleave_build (graph, &cleave_op_softmax, name, &x, 1, &a, error);
}
