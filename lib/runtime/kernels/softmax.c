/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Softmax and LogSoftmax of several rows at once, side by side in vectors, so that short rows are
 * as fast as long ones, wherever the axis lies.  Each row has the order of the reference kernel:
 * its maximum and its sum in 8 parts.  The exponentials are made once and kept. */

#include "level.h"
#include "loops.h"
#include "vector.h"

#include "../../ops/axes.h"
#include "../../ops/elementwise-math.h"

#include <math.h>

enum { Y_AT, X_AT };

/* Rows at once. */
#define ROWS 16
/* Longer rows are left to the reference kernel, which does them one by one. */
#define MAX_LENGTH 4096

typedef float Values[ROWS]; /* one of each row */

typedef struct
{
  CleaveLoops loops; /* over the rows: of y, then of x */
  gint64 n, x_step, y_step;
  gboolean is_log;
} Softmax;

static gboolean
prepare_either (const CleaveKernelInstance *instance,
                gboolean is_log,
                gpointer *state,
                gsize *n_scratch)
{
  const CleaveAxisAttrs *a = instance->call.attrs;
  CleaveView x = instance->operands[0], y = instance->results[0];
  gint64 n = x.type.shape.dim[a->axis];
  Softmax *s;

  if (x.type.element != CLEAVE_FLOAT32 || n > MAX_LENGTH)
    return FALSE;
  s = g_new0 (Softmax, 1);
  s->n = n;
  s->is_log = is_log;
  s->x_step = x.stride[a->axis];
  s->y_step = y.stride[a->axis];
  x.type.shape.dim[a->axis] = y.type.shape.dim[a->axis] = 1;
  cleave_loops_init (&s->loops, &y, &x, 1);
  *n_scratch = (gsize) (s->is_log ? 2 * n : n) * sizeof (Values);
  *state = s;
  return TRUE;
}

static gboolean
prepare (const CleaveKernelInstance *instance,
         CleaveWeights *weights,
         gpointer *state,
         gsize *n_scratch)
{
  return prepare_either (instance, FALSE, state, n_scratch);
}

static gboolean
prepare_log (const CleaveKernelInstance *instance,
             CleaveWeights *weights,
             gpointer *state,
             gsize *n_scratch)
{
  return prepare_either (instance, TRUE, state, n_scratch);
}

/* Where there are fewer rows, the last one again. */
static void
read_rows (const Softmax *s, const float *x, gint64 n_rows, Values *e)
{
  gint64 step = s->loops.step[X_AT];
  gint64 at[ROWS];

  for (gint64 r = 0; r < ROWS; r++)
    at[r] = MIN (r, n_rows - 1) * step;
  for (gint64 i = 0; i < s->n; i++, x += s->x_step)
    for (gint64 r = 0; r < ROWS; r++)
      e[i][r] = x[at[r]];
}

static void
write_rows (const Softmax *s, const Values *e, gint64 n_rows, float *y)
{
  gint64 step = s->loops.step[Y_AT];

  for (gint64 i = 0; i < s->n; i++, y += s->y_step)
    for (gint64 r = 0; r < n_rows; r++)
      y[r * step] = e[i][r];
}

/* cleave_f32_max, which compilers do not make vectors of here. */
static inline CleaveVector
max_of (CleaveVector a, CleaveVector b)
{
  return cleave_vector_select ((a >= b) | (a != a), a, b);
}

static inline CleaveVector
sum_of (CleaveVector a, CleaveVector b)
{
  return a + b;
}

/* clang-format off */
#define FOLD(word, join)                                                                           \
  static inline void word (float *to, const float *a, const float *b)                              \
  {                                                                                                \
    for (gint64 r = 0; r < ROWS; r += CLEAVE_VECTOR)                                               \
      cleave_vector_store (to + r, join (cleave_vector_load (a + r), cleave_vector_load (b + r))); \
  }                                                                                                \
                                                                                                   \
  /* As CLEAVE_LANES_JOIN does it, but for lanes to which nothing comes: these change nothing. */  \
  static void word##_all (const Values *e, gint64 n, float first, Values *lane)                    \
  {                                                                                                \
    gint64 n_lanes = MIN (n, CLEAVE_N_LANES);                                                      \
    Values begin;                                                                                  \
                                                                                                   \
    for (gint64 r = 0; r < ROWS; r++)                                                              \
      begin[r] = first;                                                                            \
    for (gint64 j = 0; j < n_lanes; j++)                                                           \
      word (lane[j], begin, e[j]);                                                                 \
    for (gint64 i = n_lanes; i < n; i++)                                                           \
      word (lane[i % CLEAVE_N_LANES], lane[i % CLEAVE_N_LANES], e[i]);                             \
    for (gint64 near = 1; near < n_lanes; near *= 2)                                               \
      for (gint64 j = 0; j + near < n_lanes; j += 2 * near)                                        \
        word (lane[j], lane[j], lane[j + near]);                                                   \
  }
FOLD (max, max_of)
FOLD (add, sum_of)
/* clang-format on */

/* x becomes the softmax of each row. */
static void
make_rows (gint64 n, Values *e)
{
  Values max[CLEAVE_N_LANES], sum[CLEAVE_N_LANES];

  max_all ((const Values *) e, n, -INFINITY, max);
  for (gint64 i = 0; i < n; i++)
    for (gint64 r = 0; r < ROWS; r++)
      e[i][r] = cleave_f32_exp_normal (e[i][r] - max[0][r]);
  add_all ((const Values *) e, n, 0, sum);
  for (gint64 i = 0; i < n; i++)
    for (gint64 r = 0; r < ROWS; r++)
      e[i][r] = e[i][r] / sum[0][r];
}

/* The distances to the maximum stay; the exponentials are made for their sum alone. */
static void
make_log_rows (gint64 n, Values *x)
{
  Values max[CLEAVE_N_LANES], sum[CLEAVE_N_LANES], *e = x + n;

  max_all ((const Values *) x, n, -INFINITY, max);
  for (gint64 i = 0; i < n; i++)
    for (gint64 r = 0; r < ROWS; r++)
      {
        x[i][r] = x[i][r] - max[0][r];
        e[i][r] = cleave_f32_exp_normal (x[i][r]);
      }
  add_all ((const Values *) e, n, 0, sum);
  for (gint64 r = 0; r < ROWS; r++)
    sum[0][r] = cleave_f32_log (sum[0][r]);
  for (gint64 i = 0; i < n; i++)
    for (gint64 r = 0; r < ROWS; r++)
      x[i][r] = x[i][r] - sum[0][r];
}

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Softmax *s = state;
  const CleaveLoops *loops = &s->loops;
  CleaveLine line;

  for (gboolean more = s->n > 0 && cleave_line_first (loops, &line); more;
       more = cleave_line_next (loops, &line))
    for (gint64 row = 0; row < loops->length; row += ROWS)
      {
        gint64 n_rows = MIN (ROWS, loops->length - row);

        read_rows (s,
                   (const float *) instance->operands[0].data + line.offset[X_AT] +
                       row * loops->step[X_AT],
                   n_rows, scratch);
        (s->is_log ? make_log_rows : make_rows) (s->n, scratch);
        write_rows (s, scratch, n_rows,
                    (float *) instance->results[0].data + line.offset[Y_AT] +
                        row * loops->step[Y_AT]);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_softmax),
    CLEAVE_LEVELLED (cleave_kernel_log_softmax); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_softmax) = { .prepare = prepare, .run = run, .free = g_free };
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_log_softmax) = { .prepare = prepare_log,
                                                                         .run = run,
                                                                         .free = g_free };
