/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reductions of floats in the order of their reference kernels, as doubles, or as floats where that
 * makes no difference: one row of elements that lie side by side after the other, or several rows
 * at once that lie side by side themselves, as channels do where an image is reduced. */

#include "level.h"
#include "loops.h"

#include "../../ops/axes.h"
#include "../../ops/elementwise-math.h"
#include "../../ops/lines.h"

/* Rows at once: a cache line of floats, or two of rows that lie side by side (12 to 24 GB/s). */
#define ROWS 16
#define MANY_ROWS 32
/* Elements that lie side by side are taken as a row from this length on. */
#define LONG_LINE 16

enum { Y_AT, X_AT };

typedef struct
{
  gint64 n; /* elements of a row */
  CleaveLines lines;
  gint64 row_step, n_rows; /* of rows at once */
} Block;

/* Each writes the results of rows side by side; y has room for the most that there may be. */
typedef struct
{
  void (*row) (const Block *block, const float *x, float *y);
  void (*few_rows) (const Block *block, const float *x, float *y);
  void (*many_rows) (const Block *block, const float *x, float *y);
} Reduction;

typedef float Lanes
    __attribute__ ((vector_size (CLEAVE_N_LANES * sizeof (float)), aligned (4), may_alias));
typedef gint32 Choice __attribute__ ((vector_size (CLEAVE_N_LANES * sizeof (gint32))));

/* Lanes of x join those before.  Of cleave_f32_max and cleave_f32_min gcc makes no vectors: a row
 * of 512 takes 0.9 us by its scalars. */
#define NOT_WORSE_max >=
#define NOT_WORSE_min <=
#define JOIN_LANES_f32(word, join)                                                                 \
  Lanes a = *(Lanes *) lane;                                                                       \
                                                                                                   \
  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)                                             \
    {                                                                                              \
      const Lanes b = *(const Lanes *) (x + i);                                                    \
      const Choice first = (a NOT_WORSE_##join b) | (a != a);                                      \
                                                                                                   \
      a = (Lanes) (((Choice) a & first) | ((Choice) b & ~first));                                  \
    }                                                                                              \
  *(Lanes *) lane = a;
#define JOIN_LANES_f64(word, join)                                                                 \
  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)                                             \
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                    \
      lane[j] = cleave_f64_##join (lane[j], word##_map ((double) x[i + j]));

/* X (word, T, its letters, start, map, join, finish), as in lib/ops/reduce.c */
/* clang-format off */
#define REDUCTIONS(X)                                                                              \
  X (reduce_sum, double, f64, 0, x, add, s)                                                        \
  X (reduce_mean, double, f64, 0, x, add, s / (double) block->n)                                   \
  X (reduce_max, float, f32, -INFINITY, x, max, s)                                                 \
  X (reduce_min, float, f32, INFINITY, x, min, s)                                                  \
  X (reduce_prod, double, f64, 1, x, mul, s)                                                       \
  X (reduce_l1, double, f64, 0, fabs (x), add, s)                                                  \
  X (reduce_sum_square, double, f64, 0, x * x, add, s)                                             \
  X (reduce_l2, double, f64, 0, x * x, add, sqrt (s))                                              \
  X (reduce_log_sum, double, f64, 0, x, add, log (s))

#define X(word, T, t, start, map, join, finish)                                                    \
  static inline T word##_map (T x) { return map; }                                                 \
  static inline float word##_finish (const Block *block, T s) { return (float) (finish); }         \
                                                                                                   \
  static inline void word##_line (T *lane, gint64 at, const float *x, gint64 n)                    \
  {                                                                                                \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; i < n && (at + i) % CLEAVE_N_LANES != 0; i++)                                           \
      lane[(at + i) % CLEAVE_N_LANES] =                                                            \
          cleave_##t##_##join (lane[(at + i) % CLEAVE_N_LANES], word##_map ((T) x[i]));            \
    JOIN_LANES_##t (word, join)                                                                    \
    for (gint64 j = 0; i < n; i++, j++)                                                            \
      lane[j] = cleave_##t##_##join (lane[j], word##_map ((T) x[i]));                              \
  }                                                                                                \
                                                                                                   \
  static void word##_row (const Block *block, const float *x, float *y)                            \
  {                                                                                                \
    T lane[CLEAVE_N_LANES] = { start, start, start, start, start, start, start, start };           \
                                                                                                   \
    if (block->n == block->lines.length)                                                           \
      word##_line (lane, 0, x, block->n);                                                          \
    else                                                                                           \
      {                                                                                            \
        CleaveLines lines = block->lines;                                                          \
        gint64 at = 0;                                                                             \
                                                                                                   \
        do                                                                                         \
          {                                                                                        \
            word##_line (lane, at, x + lines.offset[0], lines.length);                             \
            at += lines.length;                                                                    \
          }                                                                                        \
        while (cleave_lines_next (&lines));                                                        \
      }                                                                                            \
    *y = word##_finish (block, CLEAVE_LANES_JOIN (lane, cleave_##t##_##join));                     \
  }                                                                                                \
                                                                                                   \
  /* Where there are fewer rows, the last one again. */                                            \
  static inline void word##_rows (const Block *block, const float *from, float *y, gint64 most)    \
  {                                                                                                \
    CleaveLines lines = block->lines;                                                              \
    T lane[CLEAVE_N_LANES][MANY_ROWS];                                                             \
    gboolean dense = block->row_step == 1 && block->n_rows == most;                                \
    gint64 at = 0, apart[MANY_ROWS];                                                               \
                                                                                                   \
    for (gint64 r = 0; r < most; r++)                                                              \
      apart[r] = MIN (r, block->n_rows - 1) * block->row_step;                                     \
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                    \
      for (gint64 r = 0; r < most; r++)                                                            \
        lane[j][r] = start;                                                                        \
    do                                                                                             \
      for (gint64 i = 0; i < lines.length; i++, at++)                                              \
        {                                                                                          \
          const float *x = from + lines.offset[0] + i * lines.step[0];                             \
          T *to = lane[at % CLEAVE_N_LANES];                                                       \
                                                                                                   \
          if (dense)                                                                               \
            for (gint64 r = 0; r < most; r++)                                                      \
              to[r] = cleave_##t##_##join (to[r], word##_map ((T) x[r]));                          \
          else                                                                                     \
            for (gint64 r = 0; r < most; r++)                                                      \
              to[r] = cleave_##t##_##join (to[r], word##_map ((T) x[apart[r]]));                   \
        }                                                                                          \
    while (cleave_lines_next (&lines));                                                            \
    for (gint64 r = 0; r < most; r++)                                                              \
      {                                                                                            \
        const T of_row[] = { lane[0][r], lane[1][r], lane[2][r], lane[3][r],                       \
                             lane[4][r], lane[5][r], lane[6][r], lane[7][r] };                     \
                                                                                                   \
        y[r] = word##_finish (block, CLEAVE_LANES_JOIN (of_row, cleave_##t##_##join));             \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void word##_few_rows (const Block *block, const float *from, float *y)                    \
  {                                                                                                \
    word##_rows (block, from, y, ROWS);                                                            \
  }                                                                                                \
  static void word##_many_rows (const Block *block, const float *from, float *y)                   \
  {                                                                                                \
    word##_rows (block, from, y, MANY_ROWS);                                                       \
  }                                                                                                \
                                                                                                   \
  extern const CleaveOp cleave_op_##word;
REDUCTIONS (X)
#undef X

static const struct
{
  const CleaveOp *op;
  Reduction reduction;
} reductions[] = {
#define X(word, ...) { &cleave_op_##word, { word##_row, word##_few_rows, word##_many_rows } },
  REDUCTIONS (X)
#undef X
};
/* clang-format on */

typedef struct
{
  Reduction reduction;
  CleaveLoops loops; /* over the rows: of y, then of x */
  gint64 n;
  CleaveLines lines; /* of one row */
  gboolean by_row;
} Reduce;

static guint
axes_of (const CleaveCall *call)
{
  const CleaveReduceAttrs *a = call->attrs;
  guint all = (1u << call->operands[0].shape.rank) - 1, axes = 0;

  for (guint i = 0; i < a->axes.n; i++)
    axes |= 1u << a->axes.v[i];
  return a->axes.n > 0 ? axes & all : a->noop_with_empty_axes ? 0 : all;
}

static const Reduction *
find_reduction (const CleaveOp *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (reductions); i++)
    if (reductions[i].op == op)
      return &reductions[i].reduction;
  return NULL;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  const CleaveReduceAttrs *a = instance->call.attrs;
  const CleaveView *x = &instance->operands[0];
  const Reduction *reduction = find_reduction (instance->call.op);
  guint axes = axes_of (&instance->call);
  CleaveView y = cleave_axes_expand (&instance->results[0], &x->type.shape, axes, a->keepdims);
  CleaveView first = *x; /* element of each row */
  Reduce *r;

  if (reduction == NULL || cleave_shape_n_elements (&x->type.shape) == 0)
    return FALSE;
  r = g_new0 (Reduce, 1);
  r->reduction = *reduction;
  r->n = 1;
  for (guint d = 0; d < x->type.shape.rank; d++)
    if ((axes >> d & 1) != 0)
      {
        r->n *= x->type.shape.dim[d];
        first.type.shape.dim[d] = 1;
      }
  cleave_loops_init (&r->loops, &y, &first, 1);
  cleave_lines_init_dims (&r->lines, &x, 1, axes);
  r->by_row = r->lines.step[0] == 1 && (r->lines.length >= LONG_LINE || r->loops.length == 1) &&
              r->loops.step[X_AT] != 1;
  *state = r;
  return TRUE;
}

static void
run_line (gconstpointer state, const CleaveKernelInstance *instance, const gint64 *offset, gint64 n)
{
  const Reduce *reduce = state;
  const float *x = (const float *) instance->operands[0].data + offset[X_AT];
  float *y = (float *) instance->results[0].data + offset[Y_AT];
  const gint64 *step = reduce->loops.step;
  Block block = { reduce->n, reduce->lines, step[X_AT], 1 };

  for (gint64 row = 0; row < n; row += block.n_rows)
    {
      gboolean many = step[X_AT] == 1 && n - row >= MANY_ROWS;
      float made[MANY_ROWS];

      block.n_rows = reduce->by_row ? 1 : MIN (many ? MANY_ROWS : ROWS, n - row);
      if (reduce->by_row)
        reduce->reduction.row (&block, x + row * step[X_AT], made);
      else if (many)
        reduce->reduction.many_rows (&block, x + row * step[X_AT], made);
      else
        reduce->reduction.few_rows (&block, x + row * step[X_AT], made);
      for (gint64 r = 0; r < block.n_rows; r++)
        y[(row + r) * step[Y_AT]] = made[r];
    }
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  cleave_loops_run_lines (&((const Reduce *) state)->loops, run_line, state, instance);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_reduce); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_reduce) = { .prepare = prepare, .run = run, .free = g_free };
