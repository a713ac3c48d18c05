/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* ArgMax and ArgMin of integers, as loops that compilers vectorize; arg.c calls the searches. A row
 * with contiguous elements is searched in blocks: search_row_…() finds the best value of each
 * block, then the index of the best value in the best block. If elements are strided, many adjacent
 * rows are searched at once. */

#include "arg-rows.h"

/* Number of elements that search_row_…() compares with the best value at once, to find its
 * index. */
#define CHUNK 32
/* Number of elements of a block, in which search_row_…() finds the best value. */
#define BLOCK 512
/* Number of adjacent rows that are searched together. */
#define INTEGER_ROWS 256
/* search_rows_…() searches rows in segments of at most SEGMENT elements, so that an index within a
 * segment fits into the element type: for a type of 8 bits, into 0 to 254. */
#define SEGMENT 255
/* Number of elements of a row that search_step_…() compares before it stores the row's best
 * value. */
#define STEPS 4

/* Lists the element types as X (element, E, U). E is the C type of the element. U is the unsigned
 * type of the same size. */
/* clang-format off */
#define ARG_INTEGERS(X)                                                                            \
  X (INT8, gint8, guint8)                                                                                  \
  X (UINT8, guint8, guint8)                                                                                \
  X (INT32, gint32, guint32)                                                                                \
  X (INT64, gint64, guint64)

#define X(e, E, U)                                                                                    \
  static inline gboolean wins_##e (E x, E best, gboolean is_min, gboolean last)                    \
  {                                                                                                \
    return is_min ? (last ? x <= best : x < best) : (last ? x >= best : x > best);                 \
  }                                                                                                \
                                                                                                   \
  /* Returns the index of the best of n contiguous elements. */                                    \
  static CLEAVE_SPECIALISED gint64 search_row_##e (const E *x, gint64 n, gboolean is_min,          \
                                                   gboolean last)                                  \
  {                                                                                                \
    gint64 in = 0, at, m;                                                                 \
    E best = x[0];                                                                                 \
                                                                                                   \
    for (gint64 begin = 0; begin < n; begin += m)                                                  \
      {                                                                                            \
        E found = x[begin];                                                                        \
                                                                                                   \
        m = MIN (BLOCK, n - begin);                                                     \
        for (gint64 i = begin; i < begin + m; i++)                                                 \
          found = is_min ? MIN (found, x[i]) : MAX (found, x[i]);                                  \
        if (wins_##e (found, best, is_min, last))                                                  \
          {                                                                                        \
            best = found;                                                                          \
            in = begin;                                                                            \
          }                                                                                        \
      }                                                                                            \
    for (at = in; at + CHUNK <= n; at += CHUNK)                                                    \
      {                                                                                            \
        E any = 0;                                                                                 \
                                                                                                   \
        for (gint64 i = 0; i < CHUNK; i++)                                                         \
          any |= (E) (x[at + i] == best);                                                                \
        if (any != 0)                                                                              \
          break;                                                                                   \
      }                                                                                            \
    while (x[at] != best)                                                                          \
      at++;                                                                                        \
    for (gint64 i = at; last && i < MIN (in + BLOCK, n); i++)                           \
      at = x[i] == best ? i : at;                                                                  \
    return at;                                                                                         \
  }                                                                                                \
                                                                                                   \
  /* Compares n elements of each row, from element i on, with the row's best value so far. Updates \
     the best value and its index. */                                                              \
  static CLEAVE_SPECIALISED void search_step_##e (const E *x, gint64 step, gint64 apart,           \
                                                  gint64 n_rows, E *best, U *in, gint64 i,         \
                                                  int n, gboolean is_min, gboolean last)           \
  {                                                                                                \
    CLEAVE_INDEPENDENT                                                                             \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      {                                                                                            \
        E so_far = best[r];                                                                        \
        U at = in[r];                                                                              \
                                                                                                   \
        CLEAVE_EACH (k, n)                                                                         \
          {                                                                                        \
            const E value = x[k * step + r * apart];                                               \
            const gboolean choice = wins_##e (value, so_far, is_min, last);                        \
                                                                                                   \
            so_far = choice ? value : so_far;                                                      \
            at = choice ? (U) (i + k) : at;                                                        \
          }                                                                                        \
        best[r] = so_far;                                                                          \
        in[r] = at;                                                                                \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static CLEAVE_SPECIALISED void search_rows_##e (const CleaveArgRow *row, const E *x,             \
                                                  gint64 apart, gint64 n_rows, gint64 *y,          \
                                                  gint64 y_step, gboolean is_min, gboolean last)   \
  {                                                                                                \
    E best[INTEGER_ROWS];                                                                          \
    U in[INTEGER_ROWS];                                                                            \
    gint32 at[INTEGER_ROWS];                                                                       \
                                                                                                   \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      {                                                                                            \
        best[r] = x[r * apart];                                                                    \
        at[r] = 0;                                                                                 \
      }                                                                                            \
    for (gint64 begin = 1; begin < row->n; begin += SEGMENT)                                       \
      {                                                                                            \
        const gint64 m = MIN (SEGMENT, row->n - begin);                                            \
        const E *from = x + begin * row->step;                                                     \
                                                                                                   \
        memset (in, 0xff, sizeof in);                                                              \
        for (gint64 i = 0; i < m; i += STEPS)                                                      \
          if (i + STEPS <= m)                                                                      \
            search_step_##e (from + i * row->step, row->step, apart, n_rows, best, in, i, STEPS,   \
                             is_min, last);                                                        \
          else                                                                                     \
            for (gint64 k = i; k < m; k++)                                                         \
              search_step_##e (from + k * row->step, row->step, apart, n_rows, best, in, k, 1,     \
                               is_min, last);                                                      \
        for (gint64 r = 0; r < n_rows; r++)                                                        \
          at[r] = in[r] != (U) -1 ? (gint32) (begin + (gint64) in[r]) : at[r];                     \
      }                                                                                            \
    for (gint64 r = 0; r < n_rows; r++)                                                            \
      y[r * y_step] = at[r];                                                                       \
  }                                                                                                \
                                                                                                   \
  static CLEAVE_SPECIALISED void search_##e##_of (const CleaveArgRow *row, const E *x,             \
                                                  gint64 apart, gint64 n_rows, gint64 *y,          \
                                                  gint64 y_step, gboolean is_min, gboolean last)   \
  {                                                                                                \
    if (row->step == 1 && apart != 1)                                                              \
      for (gint64 r = 0; r < n_rows; r++)                                                          \
        y[r * y_step] = search_row_##e (x + r * apart, row->n, is_min, last);                      \
    else                                                                                           \
      for (gint64 r = 0; r < n_rows; r += INTEGER_ROWS)                                            \
        if (apart == 1)                                                                            \
          search_rows_##e (row, x + r, 1, MIN (INTEGER_ROWS, n_rows - r), y + r * y_step, y_step,  \
                           is_min, last);                                                          \
        else                                                                                       \
          search_rows_##e (row, x + r * apart, apart, MIN (INTEGER_ROWS, n_rows - r),              \
                           y + r * y_step, y_step, is_min, last);                                  \
  }                                                                                                \
                                                                                                   \
  static void search_##e (const CleaveArgRow *row, gconstpointer x, gint64 apart, gint64 n_rows,   \
                          gint64 *y, gint64 y_step)                                                \
  {                                                                                                \
    if (row->is_min && row->last)                                                                  \
      search_##e##_of (row, x, apart, n_rows, y, y_step, TRUE, TRUE);                              \
    else if (row->is_min)                                                                          \
      search_##e##_of (row, x, apart, n_rows, y, y_step, TRUE, FALSE);                             \
    else if (row->last)                                                                            \
      search_##e##_of (row, x, apart, n_rows, y, y_step, FALSE, TRUE);                             \
    else                                                                                           \
      search_##e##_of (row, x, apart, n_rows, y, y_step, FALSE, FALSE);                            \
  }
ARG_INTEGERS (X)
#undef X
/* clang-format on */
