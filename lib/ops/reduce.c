/* SPDX-License-Identifier: GPL-2.0-or-later */

/* ReduceSum, ReduceMean, ReduceMax and the other reductions. All dimensions but the axes can be
 * split.
 *
 * Order of operations: the elements along the axes, in row-major order, in 8 lanes (axes.h). Floats
 * are computed in double and rounded once; exponentials of float32 and shorter floats are float32.
 * Integers wrap around, but a formula with a root or a logarithm computes them in double. If there
 * are no elements, a sum is 0, a product 1, and a maximum the smallest value of the type. */

#include "../ir/op.h"
#include "axes.h"
#include "elementwise-math.h"
#include "lines.h"

/* Lists the reductions: X (word, "Name", kind, start, map, join, finish)
 *
 *   kind    SAME     computed in the wide type T (CleaveWide) for the elements
 *           REAL     computed in double
 *           SHIFTED  as REAL; m is the maximum of the elements
 *   start   the initial value of each lane, of type T
 *   map     the term of an element x
 *   join    the function that joins two terms
 *   finish  the result, given the joined terms s of n elements */
/* clang-format off */
#define REDUCTIONS(X)                                                                                         \
  X (reduce_sum, "ReduceSum", SAME, 0, x, add, s)                                                             \
  X (reduce_mean, "ReduceMean", SAME, 0, x, add, CLEAVE_N (div, s, (T) n))                                    \
  X (reduce_max, "ReduceMax", SAME, CLEAVE_BOUND (-INFINITY), x, max, s)                                      \
  X (reduce_min, "ReduceMin", SAME, CLEAVE_BOUND (INFINITY), x, min, s)                                       \
  X (reduce_prod, "ReduceProd", SAME, 1, x, mul, s)                                                           \
  X (reduce_l1, "ReduceL1", SAME, 0, CLEAVE_N (abs, x), add, s)                                               \
  X (reduce_sum_square, "ReduceSumSquare", SAME, 0, CLEAVE_N (mul, x, x), add, s)                             \
  X (reduce_l2, "ReduceL2", REAL, 0, x * x, add, sqrt (s))                                                    \
  X (reduce_log_sum, "ReduceLogSum", REAL, 0, x, add, log (s))                                                \
  X (reduce_log_sum_exp, "ReduceLogSumExp", SHIFTED, 0, exponential (block, x - m), add, log (s) + m)
/* clang-format on */

/* The elements that a kernel reduces to one element of the result. The kernel reads these elements
 * line by line. */
typedef struct
{
  const CleaveView *x;
  CleaveLines lines;
  CleaveWide wide;
  gint64 n; /* number of elements that are reduced to one */
} Block;

/* Reduces the block that begins at `offset`, and stores the result in `*y`, in the type
 * `block->wide`. */
typedef void (*Reduce) (Block *block, gint64 offset, gpointer y);

typedef union
{
  double f64;
  gint64 i64;
  guint64 u64;
} Wide;

static guint
axes_of (const CleaveCall *call)
{
  const CleaveReduceAttrs *a = call->attrs;
  guint all = (1u << call->operands[0].shape.rank) - 1, axes = 0;

  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  if (a->axes.n == 0)
    return a->noop_with_empty_axes ? 0 : all;
  return axes & all; /* drops axis 0 of a scalar, which has no dimension */
}

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  const CleaveReduceAttrs *a = call->attrs;
  guint seen = 0;

  if (!cleave_call_check_element (call, 0, ~CLEAVE_ELEMENT_BIT (CLEAVE_BOOL), error))
    return FALSE;
  for (guint i = 0; i < a->axes.n; seen |= 1u << a->axes.v[i++])
    if ((seen >> a->axes.v[i] & 1) != 0)
      return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE, "axes has %d twice", (int) a->axes.v[i]);
  results[0].element = call->operands[0].element;
  results[0].shape = cleave_axes_shape (&call->operands[0].shape, axes_of (call), a->keepdims);
  return TRUE;
}

static void
maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveReduceAttrs *a = call->attrs;

  cleave_axes_maps (&call->operands[0].shape, axes_of (call), a->keepdims, map);
}

/* The code below is the reference kernels of all reductions. */

static void
run (const CleaveCall *call,
     const CleaveView *x,
     const CleaveView *result,
     const Reduce *reduce,
     CleaveWide wide)
{
  const CleaveReduceAttrs *a = call->attrs;
  guint axes = axes_of (call);
  CleaveView y = cleave_axes_expand (result, &x->type.shape, axes, a->keepdims);
  const CleaveView *views[] = { &y, x };
  CleaveLines lines;
  Block block = { .x = x, .wide = wide, .n = 1 };

  for (guint d = 0; d < x->type.shape.rank; d++)
    block.n *= (axes >> d & 1) != 0 ? x->type.shape.dim[d] : 1;
  if (block.n == 0)
    /* compute in double: the maximum of no elements is then -infinity, and is converted to the
     * smallest value of an integer type */
    wide = block.wide = CLEAVE_WIDE_F64;
  cleave_lines_init_dims (&block.lines, &x, 1, axes);
  for (gboolean more = cleave_lines_init_dims (&lines, views, 2, ~axes); more;
       more = cleave_lines_next (&lines))
    for (gint64 i = 0; i < lines.length; i++)
      {
        Wide value;

        reduce[wide](&block, lines.offset[1] + i * lines.step[1], &value);
        if (cleave_element_is_float (y.type.element))
          value.f64 = cleave_real_round (y.type.element, value.f64);
        cleave_line_write (&y, lines.offset[0] + i * lines.step[0], 1, 1, wide, &value);
      }
}

/* Defines the function of one reduction for one type in which the reduction is computed. */
#define REDUCE(name, Type, join, start, map, finish, maximum)                                      \
  CLEAVE_LANES_FOLD (name##_fold, Type, join)                                                      \
  static void name (Block *block, gint64 offset, gpointer result)                                  \
  {                                                                                                \
    typedef Type T;                                                                                \
    CleaveLines *lines = &block->lines;                                                            \
    const T m G_GNUC_UNUSED = maximum;                                                             \
    const gint64 n G_GNUC_UNUSED = block->n;                                                       \
    T lane[CLEAVE_N_LANES], mapped[CLEAVE_LINE], s;                                                \
    CleaveLineBuffer buffer;                                                                       \
    gint64 at = 0;                                                                                 \
                                                                                                   \
    for (guint j = 0; j < CLEAVE_N_LANES; j++)                                                     \
      lane[j] = start;                                                                             \
    if (n > 0)                                                                                     \
      do                                                                                           \
        for (gint64 i = 0; i < lines->length; i += CLEAVE_LINE)                                    \
          {                                                                                        \
            gint64 length = MIN (lines->length - i, CLEAVE_LINE);                                  \
            const T *xs =                                                                          \
                cleave_line_read (block->x, offset + lines->offset[0] + i * lines->step[0],        \
                                  lines->step[0], length, block->wide, &buffer);                   \
                                                                                                   \
            for (gint64 j = 0; j < length; j++)                                                    \
              {                                                                                    \
                const T x = xs[j];                                                                 \
                                                                                                   \
                mapped[j] = (map);                                                                 \
              }                                                                                    \
            name##_fold (lane, mapped, at, length);                                                \
            at += length;                                                                          \
          }                                                                                        \
      while (cleave_lines_next (lines));                                                           \
    s = CLEAVE_LANES_JOIN (lane, join);                                                            \
    *(T *) result = (T) (finish);                                                                  \
  }

/* clang-format off */
#define SAME(word, start, map, join, finish)                                                       \
  REDUCE (word##_f64, double, cleave_f64_##join, start, map, finish, 0)                          \
  REDUCE (word##_i64, gint64, cleave_i64_##join, start, map, finish, 0)                          \
  REDUCE (word##_u64, guint64, cleave_u64_##join, start, map, finish, 0)                         \
  static const Reduce word##_reduce[CLEAVE_N_WIDES] = { NULL, word##_f64, word##_i64, word##_u64 };
#define REAL(word, start, map, join, finish)                                                       \
  REDUCE (word##_f64, double, cleave_f64_##join, start, map, finish, 0)                          \
  static const Reduce word##_reduce[CLEAVE_N_WIDES] = { NULL, word##_f64, NULL, NULL };
#define SHIFTED(word, start, map, join, finish)                                                    \
  REDUCE (word##_f64, double, cleave_f64_##join, start, map, finish, finite_maximum (block, offset)) \
  static const Reduce word##_reduce[CLEAVE_N_WIDES] = { NULL, word##_f64, NULL, NULL };

static double finite_maximum (Block *block, gint64 offset);
static double exponential (const Block *block, double x);

#define X(word, name, kind, start, map, join, finish) kind (word, start, map, join, finish)
REDUCTIONS (X)
#undef X
/* clang-format on */

/* Returns the largest element of a block, or 0 if the largest element is not finite. The caller
 * subtracts the result from all elements. */
static double
finite_maximum (Block *block, gint64 offset)
{
  double m;

  reduce_max_f64 (block, offset, &m);
  return m - m == 0 ? m : 0;
}

/* Returns e^x. If the elements have float32 or a shorter type, rounds x to float32 and computes in
 * float32. */
static double
exponential (const Block *block, double x)
{
  return cleave_wide_of (block->x->type.element) == CLEAVE_WIDE_F32
             ? (double) cleave_f32_exp_normal ((float) x)
             : exp (x);
}

static CleaveKernel
kernel_REAL (const CleaveCall *call)
{
  return cleave_kernel_of_floats (call, CLEAVE_KERNEL_REDUCE);
}
#define kernel_SHIFTED kernel_REAL

extern const CleaveOp cleave_op_reduce_max, cleave_op_reduce_min;

/* Returns the kernel of a reduction of the kind SAME (see REDUCTIONS): the fast kernel, except for
 * types that networks do not reduce. These types are 16-bit integers, and bytes except in ReduceMax
 * and ReduceMin. */
static CleaveKernel
kernel_SAME (const CleaveCall *call)
{
  CleaveElement element = call->operands[0].element;
  gboolean is_bound = call->op == &cleave_op_reduce_max || call->op == &cleave_op_reduce_min;
  gsize size = cleave_element_size (element);

  if (cleave_element_is_float (element))
    return kernel_REAL (call);
  return size >= 4 || (size == 1 && is_bound) ? CLEAVE_KERNEL_REDUCE : CLEAVE_KERNEL_REFERENCE;
}

/* The code below defines the records of the reductions. */

static const char *const operands[] = { "data", NULL };
static const char *const results[] = { "reduced", NULL };

#define AXES(index)                                                                                \
  {                                                                                                \
    "axes", CLEAVE_ATTR_INTS, CLEAVE_FIELD (CleaveReduceAttrs, axes),                              \
        .onnx_operand = index, .flags = CLEAVE_ATTR_AXIS | CLEAVE_ATTR_NO_DEFAULT                  \
  }
#define KEEPDIMS                                                                                   \
  {                                                                                                \
    "keepdims", CLEAVE_ATTR_BOOL, CLEAVE_FIELD (CleaveReduceAttrs, keepdims), .fallback = 1        \
  }

/* In opset 17, ReduceSum reads its axes from an operand, and all other reductions have the
 * attribute `axes`. */
static const CleaveAttr reduce_sum_attrs[] = {
  AXES (1),
  KEEPDIMS,
  { "noop_with_empty_axes", CLEAVE_ATTR_BOOL,
    CLEAVE_FIELD (CleaveReduceAttrs, noop_with_empty_axes) },
  { 0 },
};
static const CleaveAttr reduce_attrs[] = { AXES (0), KEEPDIMS, { 0 } };
#define reduce_mean_attrs reduce_attrs
#define reduce_max_attrs reduce_attrs
#define reduce_min_attrs reduce_attrs
#define reduce_prod_attrs reduce_attrs
#define reduce_l1_attrs reduce_attrs
#define reduce_sum_square_attrs reduce_attrs
#define reduce_l2_attrs reduce_attrs
#define reduce_log_sum_attrs reduce_attrs
#define reduce_log_sum_exp_attrs reduce_attrs

/* Returns the wide type (CleaveWide) in which a reduction is computed: cleave_wide_of() the element
 * type, or double if `reduce` has no function for this wide type. A reduction with a root, a
 * logarithm or an exponential has no function for integers. */
static CleaveWide
wide_of (CleaveElement element, const Reduce *reduce)
{
  CleaveWide wide = cleave_wide_of (element);

  return reduce[wide] == NULL ? CLEAVE_WIDE_F64 : wide;
}

/* clang-format off */
#define X(word, op_name, kind, start, map, join, finish)                                           \
  static void word##_compute (const CleaveCall *call, const CleaveView *x, const CleaveView *y)    \
  {                                                                                                \
    run (call, &x[0], &y[0], word##_reduce, wide_of (x[0].type.element, word##_reduce));           \
  }                                                                                                \
  const CleaveOp cleave_op_##word = {                                                              \
    .name = op_name,                                                                               \
    .operands = operands,                                                                          \
    .results = results,                                                                            \
    .min_operands = 1,                                                                             \
    .attrs_size = sizeof (CleaveReduceAttrs),                                                      \
    .attrs = word##_attrs,                                                                         \
    .infer = infer,                                                                                \
    .maps = maps,                                                                                  \
    .kernel = kernel_##kind,                                                                            \
    .compute = word##_compute,                                                                     \
  };
REDUCTIONS (X)
#undef X
/* clang-format on */
