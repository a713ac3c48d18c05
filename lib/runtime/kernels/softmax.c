/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The kernel family of Softmax and LogSoftmax. A row consists of the elements along the axis. A row
 * is dense if neighboring elements are adjacent in memory, both in x and in y. The family fills
 * vectors in one of two ways:
 *
 * - Each lane of a vector holds an element of another row (softmax-columns.h). With this way, short
 *   rows are as fast as long rows, along any axis.
 * - All lanes of a vector hold elements of one row. This way is for dense rows of at least
 *   MIN_DENSE elements, and computes FEW rows at once.
 *
 * Both ways compute the maximum and the sum of a row in the order of the reference kernel, with 8
 * partial results. Softmax computes each exponential once and stores it. */

#include "softmax-columns.h"

/* Largest number of elements of a row that is not dense. The reference kernel computes longer rows,
 * one after the other. */
#define MAX_LENGTH 4096
/* Limit for the choice of the way to fill vectors. If a row is dense and has at least MIN_DENSE
 * elements, all lanes of a vector hold elements of this row. Otherwise each lane holds an element
 * of another row. With 64 elements, both ways take the same time. */
#define MIN_DENSE 64
/* Number of exponentials of a dense row that are computed at once. */
#define BLOCK 512
/* Number of dense rows that are computed at once, so that the dependent operations of their maxima
 * and sums overlap in time. Rows of 96 elements then take 0.73 times as long as one row after the
 * other. */
#define FEW 4

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
  *n_scratch = is_dense ? 0 : (gsize) n * sizeof (CleaveVector);
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

/* The following macros and functions compute dense rows. */

typedef float Lanes __attribute__ ((vector_size (CLEAVE_N_LANES * sizeof (float))));
typedef gint32 LaneMask __attribute__ ((vector_size (CLEAVE_N_LANES * sizeof (float))));

/* clang-format off */
/* Operations on vectors of CLEAVE_N_LANES floats. They are macros, since a function cannot have
 * arguments that are wider than the vectors of the level. */
#define MAX_LANES(a, b) (((a) >= (b)) | ((a) != (a)))
#define MAX_OF_LANES(a, b)                                                                         \
  (Lanes) (((LaneMask) (a) & MAX_LANES (a, b)) | ((LaneMask) (b) & ~MAX_LANES (a, b)))
#define SUM_OF_LANES(a, b) (a) + (b)
/* Defines a function that computes CLEAVE_LANES_FOLD for n_rows rows. Element 0 of each row belongs
 * to lane 0. */
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
/* Defines a function that combines all lanes in the order of CLEAVE_LANES_JOIN and returns the
 * result. */
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

/* Computes exp (x - max) of n elements, and stores the exponentials at `e`. `e` and `x` may be the
 * same address. */
static inline void
make_exponentials (const float *x, gint64 n, CleaveVector max, float *e)
{
  gint64 i = 0;

  for (; i + CLEAVE_VECTOR <= n; i += CLEAVE_VECTOR)
    cleave_vector_store (e + i,
                         cleave_vector_exp_normal_negative (cleave_vector_load (x + i) - max));
  if (i < n)
    cleave_vector_store_some (
        e + i,
        cleave_vector_exp_normal_negative (cleave_vector_load_some (x + i, (int) (n - i)) - max),
        (int) (n - i));
}

/* Computes the sum of the exponentials of each row. Stores the exponentials at `y`; `y` NULL: does
 * not store them. `y` and `x` may contain the same addresses. */
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
          make_exponentials (from, m, cleave_vector_all (max[r]), to);
          made[r] = to;
        }
      add_dense (lane, made, m, n_rows);
    }
  CLEAVE_EACH (r, n_rows)
    sum[r] = join_sums (lane[r]);
}

/* Computes n_rows dense rows at once; n_rows is a compile-time constant. */
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
      {
        const float inverse = 1 / sum[r];

        for (gint64 i = 0; i < s->n; i++)
          y[r][i] = y[r][i] * inverse;
      }
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

static void
run (gconstpointer state, const CleaveKernelInstance *instance, gpointer scratch)
{
  const Softmax *s = state;
  Waiting rows = { .s = s, .scratch = scratch };
  CleaveLine line;

  for (gboolean more = s->n > 0 && cleave_line_first (&s->loops, &line); more;
       more = cleave_line_next (&s->loops, &line))
    {
      const float *x = (const float *) instance->operands[0].data + line.offset[X_AT];
      float *y = (float *) instance->results[0].data + line.offset[Y_AT];

      if (s->is_dense)
        run_dense_rows (s, x, y, s->loops.length);
      else
        run_columns (&rows, x, y, s->loops.length);
    }
  run_waiting (&rows);
}

extern const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_softmax),
    CLEAVE_LEVELLED (cleave_kernel_log_softmax);
const CleaveKernelFamily
    CLEAVE_LEVELLED (cleave_kernel_softmax) = { .prepare = prepare, .run = run, .free = g_free };
const CleaveKernelFamily CLEAVE_LEVELLED (cleave_kernel_log_softmax) = { .prepare = prepare_log,
                                                                         .run = run,
                                                                         .free = g_free };
