/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Softmax and LogSoftmax of several rows at once, side by side in vectors, so that short rows are
 * as fast as long ones, wherever the axis lies; of long rows that lie dense, one by one.  Each row
 * has the order of the reference kernel: its maximum and its sum in 8 parts.  The exponentials are
 * made once and kept. */

#include "level.h"
#include "loops.h"
#include "vector.h"

#include "../../ops/axes.h"
#include "../../ops/elementwise-math.h"

#include <math.h>
#include <string.h>

enum { Y_AT, X_AT };

/* Rows at once. */
#define ROWS 16
/* Longer rows that are not dense are left to the reference kernel, which does them one by one. */
#define MAX_LENGTH 4096
/* Dense rows are done one by one from here on: of 64 elements it takes as long. */
#define MIN_DENSE 64
/* Exponentials of a dense row at once. */
#define BLOCK 512
/* Dense rows at once, whose maxima and sums are chains that do not wait for each other: rows of 96
 * take 0.73 of the time that they take one by one. */
#define FEW 4

typedef float Values[ROWS]; /* one of each row */

typedef struct
{
  CleaveLoops loops; /* over the rows: of y, then of x */
  gint64 n, x_step, y_step;
  gboolean is_log, is_dense;
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
  gboolean is_dense = x.stride[a->axis] == 1 && y.stride[a->axis] == 1 && n >= MIN_DENSE;
  Softmax *s;

  if (x.type.element != CLEAVE_FLOAT32 || (n > MAX_LENGTH && !is_dense))
    return FALSE;
  s = g_new0 (Softmax, 1);
  s->n = n;
  s->is_log = is_log;
  s->is_dense = is_dense;
  s->x_step = x.stride[a->axis];
  s->y_step = y.stride[a->axis];
  x.type.shape.dim[a->axis] = y.type.shape.dim[a->axis] = 1;
  cleave_loops_init (&s->loops, &y, &x, 1);
  *n_scratch = is_dense ? 0 : (gsize) (s->is_log ? 2 * n : n) * sizeof (Values);
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
      e[i][r] = cleave_f32_exp_normal_negative (e[i][r] - max[0][r]);
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
        e[i][r] = cleave_f32_exp_normal_negative (x[i][r]);
      }
  add_all ((const Values *) e, n, 0, sum);
  for (gint64 r = 0; r < ROWS; r++)
    sum[0][r] = cleave_f32_log (sum[0][r]);
  for (gint64 i = 0; i < n; i++)
    for (gint64 r = 0; r < ROWS; r++)
      x[i][r] = x[i][r] - sum[0][r];
}

/* Dense rows. */

typedef float Lanes __attribute__ ((vector_size (CLEAVE_N_LANES * sizeof (float))));
typedef gint32 LaneMask __attribute__ ((vector_size (CLEAVE_N_LANES * sizeof (float))));

/* clang-format off */
/* Vectors wider than those of the level are no operands of functions. */
#define MAX_LANES(a, b) (((a) >= (b)) | ((a) != (a)))
#define MAX_OF_LANES(a, b)                                                                         \
  (Lanes) (((LaneMask) (a) & MAX_LANES (a, b)) | ((LaneMask) (b) & ~MAX_LANES (a, b)))
#define SUM_OF_LANES(a, b) (a) + (b)
/* What CLEAVE_LANES_FOLD does, of so many rows, each from an element on whose part is the first. */
#define FOLD_DENSE(word, join, join_one)                                                           \
  static inline __attribute__ ((always_inline)) void word (float (*lane)[CLEAVE_N_LANES],          \
                                                           const float *const *x, gint64 n,        \
                                                           int n_rows)                             \
  {                                                                                                \
    Lanes all[FEW], some;                                                                          \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    CLEAVE_EACH (r, n_rows)                                                                        \
      memcpy (&all[r], lane[r], sizeof some);                                                      \
    for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)                                           \
      CLEAVE_EACH (r, n_rows)                                                                      \
        {                                                                                          \
          memcpy (&some, x[r] + i, sizeof some);                                                   \
          all[r] = join (all[r], some);                                                            \
        }                                                                                          \
    CLEAVE_EACH (r, n_rows)                                                                        \
      memcpy (lane[r], &all[r], sizeof some);                                                      \
    for (; i < n; i++)                                                                             \
      CLEAVE_EACH (r, n_rows)                                                                      \
        lane[r][i % CLEAVE_N_LANES] = join_one (lane[r][i % CLEAVE_N_LANES], x[r][i]);             \
  }
FOLD_DENSE (max_dense, MAX_OF_LANES, cleave_f32_max)
FOLD_DENSE (add_dense, SUM_OF_LANES, cleave_f32_add)
/* What CLEAVE_LANES_JOIN does, whose parts meet in the first lane in its order. */
#define JOIN_DENSE(word, join)                                                                     \
  static inline float word (const float *lane)                                                     \
  {                                                                                                \
    Lanes all, other;                                                                              \
                                                                                                   \
    memcpy (&all, lane, sizeof all);                                                               \
    other = __builtin_shufflevector (all, all, 1, 0, 3, 2, 5, 4, 7, 6);                            \
    all = join (all, other);                                                                       \
    other = __builtin_shufflevector (all, all, 2, 3, 0, 1, 6, 7, 4, 5);                            \
    all = join (all, other);                                                                       \
    other = __builtin_shufflevector (all, all, 4, 5, 6, 7, 0, 1, 2, 3);                            \
    all = join (all, other);                                                                       \
    return all[0];                                                                                 \
  }
JOIN_DENSE (join_max, MAX_OF_LANES)
JOIN_DENSE (join_sums, SUM_OF_LANES)
/* clang-format on */

/* The sums of the exponentials, which are kept in `y` unless that is NULL; x may lie there. */
static inline __attribute__ ((always_inline)) void
add_exponentials (
    const float *const *x, const float *max, gint64 n, float *const *y, int n_rows, float *sum)
{
  float lane[FEW][CLEAVE_N_LANES] = { { 0 } }, e[FEW][BLOCK];

  for (gint64 at = 0; at < n; at += BLOCK)
    {
      gint64 m = MIN (BLOCK, n - at);
      const float *made[FEW];

      CLEAVE_EACH (r, n_rows)
        {
          const float *from = x[r] + at;
          float *to = e[r];

          if (y != NULL)
            to = y[r] + at;
          CLEAVE_INDEPENDENT
          for (gint64 i = 0; i < m; i++)
            to[i] = cleave_f32_exp_normal_negative (from[i] - max[r]);
          made[r] = to;
        }
      add_dense (lane, made, m, n_rows);
    }
  CLEAVE_EACH (r, n_rows)
    sum[r] = join_sums (lane[r]);
}

/* So many rows, known to the compiler, which do not wait for each other. */
static inline __attribute__ ((always_inline)) void
run_dense (const Softmax *s, const float *from, float *to, int n_rows)
{
  float lane[FEW][CLEAVE_N_LANES], max[FEW], sum[FEW];
  const float *x[FEW];
  float *y[FEW];

  CLEAVE_EACH (r, n_rows)
    {
      x[r] = from + r * s->loops.step[X_AT];
      y[r] = to + r * s->loops.step[Y_AT];
      for (gint64 j = 0; j < CLEAVE_N_LANES; j++)
        lane[r][j] = -INFINITY;
    }
  max_dense (lane, x, s->n, n_rows);
  CLEAVE_EACH (r, n_rows)
    max[r] = join_max (lane[r]);
  add_exponentials (x, max, s->n, s->is_log ? NULL : y, n_rows, sum);
  CLEAVE_EACH (r, n_rows)
    if (s->is_log)
      {
        float log = cleave_f32_log (sum[r]);

        CLEAVE_INDEPENDENT
        for (gint64 i = 0; i < s->n; i++)
          y[r][i] = (x[r][i] - max[r]) - log;
      }
    else
      for (gint64 i = 0; i < s->n; i++)
        y[r][i] = y[r][i] / sum[r];
}

static void
run_dense_rows (const Softmax *s, const float *x, float *y, gint64 n_rows)
{
  gint64 row = 0;

  for (; row + FEW <= n_rows; row += FEW)
    run_dense (s, x + row * s->loops.step[X_AT], y + row * s->loops.step[Y_AT], FEW);
  for (; row < n_rows; row++)
    run_dense (s, x + row * s->loops.step[X_AT], y + row * s->loops.step[Y_AT], 1);
}

/* So many rows, from one on. */
static void
run_rows (const Softmax *s, const float *x, float *y, gint64 n_rows, gpointer scratch)
{
  if (s->is_dense)
    {
      run_dense_rows (s, x, y, n_rows);
      return;
    }
  read_rows (s, x, n_rows, scratch);
  (s->is_log ? make_log_rows : make_rows) (s->n, scratch);
  write_rows (s, scratch, n_rows, y);
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
        const float *x = instance->operands[0].data;
        float *y = instance->results[0].data;

        run_rows (s, x + line.offset[X_AT] + row * loops->step[X_AT],
                  y + line.offset[Y_AT] + row * loops->step[Y_AT], MIN (ROWS, loops->length - row),
                  scratch);
      }
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_softmax),
    CLEAVE_LEVELLED (cleave_kernel_log_softmax); /* for levels.h */
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_softmax) = { .prepare = prepare, .run = run, .free = g_free };
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_log_softmax) = { .prepare = prepare_log,
                                                                         .run = run,
                                                                         .free = g_free };
