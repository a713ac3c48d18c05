/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Reductions of floats in the order of their reference kernels: in 8 partial sums, as doubles, or
 * as floats where floats give the same bits. reduce.c calls them. Several rows are reduced at once,
 * so that their additions overlap in time. */

#include "level.h"
#include "moments.h"
#include "reduce-block.h"

#include "../../ops/axes.h"
#include "../../ops/elementwise-math.h"

/* Number of strided rows that are reduced at once. */
#define SCATTERED 16
/* Number of rows with contiguous elements that are reduced at once; their partial sums take half of
 * the registers. */
#define ROWS_f32 4
#define ROWS_f64 (CLEAVE_VECTOR > 4 ? 4 : 2)
/* Number of vectors of adjacent rows that are reduced at once. */
#define COLUMNS 8

#define WIDTH_f32 CLEAVE_LANE_VECTOR
#define WIDTH_f64 CLEAVE_DOUBLE_VECTOR
typedef CleaveLaneVector Part_f32;
typedef CleaveDoubleVector Part_f64;
typedef gint64 Bits_f64 __attribute__ ((vector_size (WIDTH_f64 * sizeof (double))));
typedef CleaveLaneMask Bits_f32;

static inline Part_f32
load_f32 (const float *from)
{
  return cleave_lane_vector_load (from);
}

static inline Part_f64
load_f64 (const float *from)
{
  return cleave_double_vector_of_floats (from);
}

/* Operations that combine two values in a reduction, for vectors and for scalars. STEP_max and
 * STEP_min return `a` if a and b are equal or if b is a NaN; other code detects NaNs. */
#define STEP_add(a, b) ((a) + (b))
#define STEP_mul(a, b) ((a) * (b))
#define STEP_max(a, b) cleave_lane_vector_at_least (a, b)
#define STEP_min(a, b) cleave_lane_vector_at_most (a, b)
#define NAN_f32(v) cleave_lane_vector_is_nan (v)
#define NAN_f64(v) ((Bits_f64){ 0 })
#define MAP_same(v) (v)
#define MAP_square(v) ((v) * (v))
#define MAP_abs(v) ((Part_f64) ((Bits_f64) (v) &G_MAXINT64))

static inline gboolean
has_nan_f32 (Bits_f32 bits)
{
  gint32 any = 0;

  for (int j = 0; j < WIDTH_f32; j++)
    any |= bits[j];
  return any != 0;
}

static inline gboolean
has_nan_f64 (Bits_f64 bits)
{
  return FALSE;
}

/* Combines the partial sums of each row in the order of CLEAVE_LANES_JOIN. */
#define JOIN_EACH(joined, lane, step, join, n_rows)                                                \
  CLEAVE_EACH (r, n_rows)                                                                          \
  (joined)[r] = CLEAVE_LANES_JOIN ((lane)[r], join)
#define JOIN_ROWS_f32 JOIN_EACH
#if CLEAVE_VECTOR > 4
typedef double Four __attribute__ ((vector_size (4 * sizeof (double))));
#define JOIN_ROWS_f64(joined, lane, step, join, n_rows)                                            \
  if ((n_rows) == 4)                                                                               \
    {                                                                                              \
      Four a, b, pair[2], half[2];                                                                 \
                                                                                                   \
      CLEAVE_EACH (h, 2)                                                                           \
        {                                                                                          \
          CLEAVE_EACH (r, 2)                                                                       \
            {                                                                                      \
              memcpy (&a, (lane)[2 * r] + 4 * h, sizeof a);                                        \
              memcpy (&b, (lane)[2 * r + 1] + 4 * h, sizeof b);                                    \
              pair[r] = step (__builtin_shufflevector (a, b, 0, 4, 2, 6),                          \
                              __builtin_shufflevector (a, b, 1, 5, 3, 7));                         \
            }                                                                                      \
          half[h] = step (__builtin_shufflevector (pair[0], pair[1], 0, 1, 4, 5),                  \
                          __builtin_shufflevector (pair[0], pair[1], 2, 3, 6, 7));                 \
        }                                                                                          \
      a = step (half[0], half[1]);                                                                 \
      memcpy (joined, &a, sizeof a);                                                               \
    }                                                                                              \
  else                                                                                             \
    JOIN_EACH (joined, lane, step, join, n_rows)
#else
#define JOIN_ROWS_f64 JOIN_EACH
#endif

/* Lists the reductions: X (word, T, suffix of T, start, map, join, finish). T is the type of the
 * accumulator s. `start` is the initial s, `map` is applied to each element, `join` combines s and
 * an element, and `finish` is the result. The maps for vectors have the same names as the maps for
 * scalars. */
/* clang-format off */
#define REDUCTIONS(X)                                                                              \
  X (reduce_sum, double, f64, 0, same, add, s)                                                     \
  X (reduce_mean, double, f64, 0, same, add, s / (double) block->n)                                \
  X (reduce_max, float, f32, -INFINITY, same, max, s)                                              \
  X (reduce_min, float, f32, INFINITY, same, min, s)                                               \
  X (reduce_prod, double, f64, 1, same, mul, s)                                                    \
  X (reduce_l1, double, f64, 0, abs, add, s)                                                       \
  X (reduce_sum_square, double, f64, 0, square, add, s)                                            \
  X (reduce_l2, double, f64, 0, square, add, sqrt (s))                                             \
  X (reduce_log_sum, double, f64, 0, same, add, log (s))

#define VALUE_same(x) (x)
#define VALUE_square(x) ((x) * (x))
#define VALUE_abs(x) fabs (x)

#define X(word, T, t, start, map, join, finish)                                                    \
  static inline T word##_join (T a, float x)                                                       \
  {                                                                                                \
    const T v = (T) x;                                                                             \
                                                                                                   \
    return cleave_##t##_##join (a, VALUE_##map (v));                                               \
  }                                                                                                \
  static inline float word##_finish (const CleaveReduceBlock *block, T s)                          \
  {                                                                                                \
    return (float) (finish);                                                                       \
  }                                                                                                \
                                                                                                   \
  /* Adds n elements of n_rows rows, from element `at` on. Returns TRUE if a NaN was skipped. */   \
  static CLEAVE_SPECIALISED gboolean                                                               \
  word##_line (T (*lane)[CLEAVE_N_LANES], gint64 at, const float *const *x, gint64 n, int n_rows)  \
  {                                                                                                \
    Part_##t all[ROWS_##t][CLEAVE_N_LANES / WIDTH_##t];                                            \
    Bits_##t nan = { 0 };                                                                          \
    gint64 i = 0;                                                                                  \
                                                                                                   \
    for (; i < n && (at + i) % CLEAVE_N_LANES != 0; i++)                                           \
      CLEAVE_EACH (r, n_rows)                                                                      \
        lane[r][(at + i) % CLEAVE_N_LANES] =                                                       \
            word##_join (lane[r][(at + i) % CLEAVE_N_LANES], x[r][i]);                             \
    CLEAVE_EACH (r, n_rows)                                                                        \
      memcpy (all[r], lane[r], sizeof all[r]);                                                     \
    for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)                                           \
      CLEAVE_EACH (r, n_rows)                                                                      \
        CLEAVE_EACH (p, CLEAVE_N_LANES / WIDTH_##t)                                                \
          {                                                                                        \
            const Part_##t v = load_##t (x[r] + i + p * WIDTH_##t);                                \
                                                                                                   \
            nan |= NAN_##t (v);                                                                    \
            all[r][p] = STEP_##join (all[r][p], MAP_##map (v));                                    \
          }                                                                                        \
    CLEAVE_EACH (r, n_rows)                                                                        \
      memcpy (lane[r], all[r], sizeof all[r]);                                                     \
    for (gint64 j = 0; i < n; i++, j++)                                                            \
      CLEAVE_EACH (r, n_rows)                                                                      \
        lane[r][j] = word##_join (lane[r][j], x[r][i]);                                            \
    return has_nan_##t (nan);                                                                       \
  }                                                                                                \
                                                                                                   \
  /* Reduces strided rows: combines element i of every row before element i + 1. */                \
  static void word##_scattered (const CleaveReduceBlock *block, const float *from, gint64 n_rows,  \
                                float *y, gint64 y_step)                                           \
  {                                                                                                \
    CleaveLines lines = block->lines;                                                              \
    T lane[CLEAVE_N_LANES][SCATTERED];                                                             \
    gint64 at = 0, apart[SCATTERED];                                                               \
                                                                                                   \
    for (gint64 r = 0; r < SCATTERED; r++)                                                         \
      apart[r] = MIN (r, n_rows - 1) * block->row_step;                                            \
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                    \
      for (gint64 r = 0; r < SCATTERED; r++)                                                       \
        lane[j][r] = start;                                                                        \
    do                                                                                             \
      for (gint64 i = 0; i < lines.length; i++, at++)                                              \
        {                                                                                          \
          const float *x = from + lines.offset[0] + i * lines.step[0];                             \
          T *to = lane[at % CLEAVE_N_LANES];                                                       \
                                                                                                   \
          for (gint64 r = 0; r < SCATTERED; r++)                                                   \
            to[r] = word##_join (to[r], x[apart[r]]);                                              \
        }                                                                                          \
    while (cleave_lines_next (&lines));                                                            \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      {                                                                                            \
        const T of_row[] = { lane[0][r], lane[1][r], lane[2][r], lane[3][r],                       \
                             lane[4][r], lane[5][r], lane[6][r], lane[7][r] };                     \
                                                                                                   \
        y[r * y_step] = word##_finish (block, CLEAVE_LANES_JOIN (of_row, cleave_##t##_##join));    \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  /* Reduces n_rows rows with contiguous elements. */                                              \
  static CLEAVE_SPECIALISED void word##_some (const CleaveReduceBlock *block, const float *from,   \
                                              float *y, gint64 y_step, int n_rows)                 \
  {                                                                                                \
    T lane[ROWS_##t][CLEAVE_N_LANES];                                                              \
    const float *x[ROWS_##t];                                                                      \
    gboolean nan = FALSE;                                                                          \
                                                                                                   \
    CLEAVE_EACH (r, n_rows)                                                                        \
      {                                                                                            \
        x[r] = from + r * block->row_step;                                                         \
        for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                \
          lane[r][j] = start;                                                                      \
      }                                                                                            \
    if (block->n == block->lines.length)                                                           \
      nan = word##_line (lane, 0, x, block->n, n_rows);                                            \
    else                                                                                           \
      {                                                                                            \
        CleaveLines lines = block->lines;                                                          \
        gint64 at = 0;                                                                             \
                                                                                                   \
        do                                                                                         \
          {                                                                                        \
            CLEAVE_EACH (r, n_rows)                                                                \
              x[r] = from + r * block->row_step + lines.offset[0];                                 \
            nan |= word##_line (lane, at, x, lines.length, n_rows);                                \
            at += lines.length;                                                                    \
          }                                                                                        \
        while (cleave_lines_next (&lines));                                                        \
      }                                                                                            \
    if (nan)                                                                                       \
      word##_scattered (block, from, n_rows, y, y_step);                                           \
    else                                                                                           \
      {                                                                                            \
        T joined[ROWS_##t];                                                                        \
                                                                                                   \
        JOIN_ROWS_##t (joined, lane, STEP_##join, cleave_##t##_##join, n_rows);                    \
        CLEAVE_EACH (r, n_rows)                                                                    \
          y[r * y_step] = word##_finish (block, joined[r]);                                        \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  /* Reduces one row whose elements are copied to a contiguous buffer (cleave_reduce_gather()). */ \
  static CLEAVE_SPECIALISED void word##_gathered (const CleaveReduceBlock *block, const float *x,  \
                                                  float *y)                                        \
  {                                                                                                \
    CleaveReduceWalk walk = { block->lines, x, 0, TRUE };                                          \
    const float *row = block->gathered;                                                            \
    T lane[1][CLEAVE_N_LANES];                                                                     \
    gboolean nan = FALSE;                                                                          \
                                                                                                   \
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                    \
      lane[0][j] = start;                                                                          \
    for (gint64 at = 0, n; walk.more; at += n)                                                     \
      {                                                                                            \
        n = cleave_reduce_gather (block, &walk);                                                   \
        nan |= word##_line (lane, at, &row, n, 1);                                                 \
      }                                                                                            \
    if (nan)                                                                                       \
      word##_scattered (block, x, 1, y, 1);                                                        \
    else                                                                                           \
      *y = word##_finish (block, CLEAVE_LANES_JOIN (lane[0], cleave_##t##_##join));                \
  }                                                                                                \
                                                                                                   \
  /* Computes partial result `part` (0 to 7) of adjacent rows: n vectors, one row in each lane. */ \
  static CLEAVE_SPECIALISED Bits_##t word##_part (const CleaveReduceBlock *block,                  \
                                                  const float *x, gint64 part, T *lane, int n)     \
  {                                                                                                \
    Part_##t all[COLUMNS];                                                                         \
    Bits_##t nan = { 0 };                                                                          \
    CleaveLines lines;                                                                             \
    gint64 first = part;                                                                           \
    gboolean more = block->n != block->lines.length;                                               \
                                                                                                   \
    CLEAVE_EACH (c, n)                                                                             \
      for (int j = 0; j < WIDTH_##t; j++)                                                          \
        all[c][j] = start;                                                                         \
    if (more)                                                                                      \
      lines = block->lines;                                                                        \
    do                                                                                             \
      {                                                                                            \
        const gint64 length = more ? lines.length : block->n;                                      \
        const gint64 step = block->lines.step[0];                                                  \
        const float *from = x + (more ? lines.offset[0] : 0);                                      \
        gint64 i = first;                                                                          \
                                                                                                   \
        for (; i < length; i += CLEAVE_N_LANES)                                                    \
          CLEAVE_EACH (c, n)                                                                       \
            {                                                                                      \
              const Part_##t v = load_##t (from + i * step + c * WIDTH_##t);                       \
                                                                                                   \
              nan |= NAN_##t (v);                                                                  \
              all[c] = STEP_##join (all[c], MAP_##map (v));                                        \
            }                                                                                      \
        first = i - length;                                                                        \
      }                                                                                            \
    while (more && cleave_lines_next (&lines));                                                    \
    memcpy (lane, all, sizeof all[0] * (gsize) n);                                                 \
    return nan;                                                                                    \
  }                                                                                                \
                                                                                                   \
  /* Reduces n vectors of adjacent rows. */                                                        \
  static CLEAVE_SPECIALISED void word##_columns (const CleaveReduceBlock *block, const float *x,   \
                                                 float *y, gint64 y_step, int n)                   \
  {                                                                                                \
    const gint64 n_rows = n * WIDTH_##t;                                                           \
    T lane[CLEAVE_N_LANES][COLUMNS * WIDTH_##t];                                                   \
    float made[COLUMNS * WIDTH_##t];                                                               \
    Bits_##t nan = { 0 };                                                                          \
                                                                                                   \
    for (gint64 j = 0; j < CLEAVE_N_LANES; j++)                                                    \
      nan |= word##_part (block, x, j, lane[j], n);                                                \
    if (has_nan_##t (nan))                                                                          \
      {                                                                                            \
        for (gint64 r = 0; r < n_rows; r += SCATTERED)                                             \
          word##_scattered (block, x + r, MIN (n_rows - r, SCATTERED), y + r * y_step, y_step);    \
        return;                                                                                    \
      }                                                                                            \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      {                                                                                            \
        const T of_row[] = { lane[0][r], lane[1][r], lane[2][r], lane[3][r],                       \
                             lane[4][r], lane[5][r], lane[6][r], lane[7][r] };                     \
                                                                                                   \
        made[r] = word##_finish (block, CLEAVE_LANES_JOIN (of_row, cleave_##t##_##join));          \
      }                                                                                            \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      y[r * y_step] = made[r];                                                                     \
  }                                                                                                \
                                                                                                   \
  static void word##_f32 (const CleaveReduceBlock *block, gconstpointer from, gint64 n_rows,       \
                          gpointer to, gint64 y_step)                                              \
  {                                                                                                \
    const float *x = from;                                                                         \
    float *y = to;                                                                                 \
    gint64 row = 0, some, step = block->row_step;                                                  \
                                                                                                   \
    if (cleave_reduce_by_row (block, n_rows))                                                      \
      {                                                                                            \
        for (; row + ROWS_##t <= n_rows; row += ROWS_##t)                                          \
          word##_some (block, x + row * step, y + row * y_step, y_step, ROWS_##t);                 \
        for (; row < n_rows; row++)                                                                \
          word##_some (block, x + row * step, y + row * y_step, y_step, 1);                        \
      }                                                                                            \
    for (; step == 1 && row + COLUMNS * WIDTH_##t <= n_rows; row += COLUMNS * WIDTH_##t)           \
      word##_columns (block, x + row, y + row * y_step, y_step, COLUMNS);                          \
    for (; step == 1 && row < n_rows && n_rows >= 2 * WIDTH_##t; row += 2 * WIDTH_##t)             \
      {                                                                                            \
        row = MIN (row, n_rows - 2 * WIDTH_##t); /* the last rows overlap the rows before them */  \
        word##_columns (block, x + row, y + row * y_step, y_step, 2);                              \
      }                                                                                            \
    for (; block->gathered != NULL && row < n_rows; row++)                                         \
      word##_gathered (block, x + row * step, y + row * y_step);                                   \
    for (; row < n_rows; row += some)                                                              \
      {                                                                                            \
        some = MIN (SCATTERED, n_rows - row);                                                      \
        word##_scattered (block, x + row * step, some, y + row * y_step, y_step);                  \
      }                                                                                            \
  }
REDUCTIONS (X)
#undef X
/* clang-format on */
