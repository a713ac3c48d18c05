/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Defines reductions of integers for reduce.c, as loops that compilers vectorize. Sums wrap around,
 * so their order does not matter. A sum has the narrowest type that gives the bits of the reference
 * kernel. */

#include "loops.h"
#include "reduce-block.h"

#include "../../ops/elementwise-math.h"

/* Number of adjacent rows that are reduced at once. */
#define TOGETHER 256

/* Lists the reductions as X (name, element, E, A, start, map, join, finish). `name` is the op,
 * `element` its element type. E is the C type of an element x, A is the type of the accumulator s.
 * `start` is the initial s, `map` gives a value v for x, `join` combines s and v, and `finish` is
 * the result. SUMS() also gets U, the unsigned type with the size of E, and W, the 64-bit type with
 * the sign of E. */
/* clang-format off */
#define BOUNDS(X, e, E, LEAST, MOST)                                                               \
  X (reduce_max, e, E, E, LEAST, x, s >= v ? s : v, s)                                             \
  X (reduce_min, e, E, E, MOST, x, s <= v ? s : v, s)
#define SUMS(X, e, E, U, W, div, ABS)                                                              \
  X (reduce_sum, e, E, U, 0, (U) x, s + v, s)                                                      \
  X (reduce_mean, e, E, guint64, 0, (guint64) (W) x, s + v, div ((W) s, block->n))                 \
  X (reduce_prod, e, E, U, 1, (U) x, s * v, s)                                                     \
  X (reduce_l1, e, E, U, 0, ABS ((U) x), s + v, s)                                                 \
  X (reduce_sum_square, e, E, U, 0, (U) x * (U) x, s + v, s)
#define ABS_signed(x) (x) >> (8 * sizeof (x) - 1) != 0 ? 0 - (x) : (x)
#define ABS_unsigned(x) (x)
#define DIV_unsigned(s, n) (s) / (guint64) (n)
#define INTEGER_REDUCTIONS(X)                                                                      \
  BOUNDS (X, INT8, gint8, G_MININT8, G_MAXINT8)                                                    \
  BOUNDS (X, UINT8, guint8, 0, G_MAXUINT8)                                                         \
  BOUNDS (X, INT32, gint32, G_MININT32, G_MAXINT32)                                                \
  BOUNDS (X, INT64, gint64, G_MININT64, G_MAXINT64)                                                \
  BOUNDS (X, UINT32, guint32, 0, G_MAXUINT32)                                                      \
  BOUNDS (X, UINT64, guint64, 0, G_MAXUINT64)                                                      \
  SUMS (X, INT32, gint32, guint32, gint64, cleave_i64_div, ABS_signed)                             \
  SUMS (X, INT64, gint64, guint64, gint64, cleave_i64_div, ABS_signed)                             \
  SUMS (X, UINT32, guint32, guint32, guint64, DIV_unsigned, ABS_unsigned)                          \
  SUMS (X, UINT64, guint64, guint64, guint64, DIV_unsigned, ABS_unsigned)

#define X(word, e, E, A, start, map, join, finish)                                                 \
  static inline A word##_##e##_join (A s, E x)                                                     \
  {                                                                                                \
    const A v = (A) (map);                                                                         \
                                                                                                   \
    return (A) (join);                                                                             \
  }                                                                                                \
                                                                                                   \
  static A word##_##e##_line (A s, const E *x, gint64 step, gint64 n)                              \
  {                                                                                                \
    if (step == 1)                                                                                 \
      for (gint64 i = 0; i < n; i++)                                                               \
        s = word##_##e##_join (s, x[i]);                                                           \
    else                                                                                           \
      for (gint64 i = 0; i < n; i++)                                                               \
        s = word##_##e##_join (s, x[i * step]);                                                    \
    return s;                                                                                      \
  }                                                                                                \
                                                                                                   \
  static void word##_##e##_columns (const CleaveReduceBlock *block, const E *from, gint64 n_rows,  \
                                    E *y, gint64 y_step)                                           \
  {                                                                                                \
    CleaveLines lines = block->lines;                                                              \
    A all[TOGETHER];                                                                               \
                                                                                                   \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      all[r] = start;                                                                              \
    do                                                                                             \
      for (gint64 i = 0; i < lines.length; i++)                                                    \
        {                                                                                          \
          const E *x = from + lines.offset[0] + i * lines.step[0];                                 \
                                                                                                   \
          for (gint64 r = 0; r < n_rows; r++)                                                      \
            all[r] = word##_##e##_join (all[r], x[r]);                                             \
        }                                                                                          \
    while (cleave_lines_next (&lines));                                                            \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      {                                                                                            \
        const A s = all[r];                                                                        \
                                                                                                   \
        y[r * y_step] = (E) (finish);                                                              \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static void word##_##e (const CleaveReduceBlock *block, gconstpointer from, gint64 n_rows,       \
                          gpointer to, gint64 y_step)                                              \
  {                                                                                                \
    const E *x = from;                                                                             \
    E *y = to;                                                                                     \
                                                                                                   \
    if (block->row_step == 1 && n_rows > 1)                                                        \
      {                                                                                            \
        for (gint64 row = 0; row < n_rows; row += TOGETHER)                                        \
          word##_##e##_columns (block, x + row, MIN (TOGETHER, n_rows - row), y + row * y_step,    \
                                y_step);                                                           \
        return;                                                                                    \
      }                                                                                            \
    for (gint64 row = 0; row < n_rows; row++)                                                      \
      {                                                                                            \
        A s = start;                                                                               \
                                                                                                   \
        if (block->n == block->lines.length)                                                       \
          s = word##_##e##_line (s, x + row * block->row_step, block->lines.step[0], block->n);    \
        else                                                                                       \
          {                                                                                        \
            CleaveLines lines = block->lines;                                                      \
                                                                                                   \
            do                                                                                     \
              s = word##_##e##_line (s, x + row * block->row_step + lines.offset[0],               \
                                     lines.step[0], lines.length);                                 \
            while (cleave_lines_next (&lines));                                                    \
          }                                                                                        \
        y[row * y_step] = (E) (finish);                                                            \
      }                                                                                            \
  }
INTEGER_REDUCTIONS (X)
#undef X
/* clang-format on */
