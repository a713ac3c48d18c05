/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* ArgMax and ArgMin of floats; arg.c calls the searches. Adjacent rows are searched together, one
 * row in each lane of a register. A row with contiguous elements is searched in blocks. First
 * find_best() computes the best value of each block. Then find_place() finds the best value's index
 * in the first block that contains the value. */

#include "arg-rows.h"
#include "vector-compare.h"

#include <math.h>
#include <string.h>

/* Number of rows with strided elements that are searched together. */
#define ROWS 64
/* Number of vectors of adjacent rows that are searched together. */
#define COLUMNS 4
/* Number of independent accumulators for the best value of a row, so that comparisons need not wait
 * for each other. */
#define CHAINS 4

/* Returns whether x replaces `best`, the best value so far. Of equal values, the first one wins, or
 * the last one if `last`. A NaN wins over a number. */
static inline gboolean
wins (float x, float best, gboolean is_min, gboolean last)
{
  gboolean better = is_min ? x < best : x > best;
  gboolean nan_wins = (x != x) & (best == best);
  gboolean same = (x == best) | ((x != x) & (best != best));

  return better | nan_wins | (last & same);
}

/* Finds the index of the best element of each of n_rows rows, at most ROWS, whose elements are
 * strided. `is_min` and `last` are compile-time constants. */
static CLEAVE_SPECIALISED void
search_rows (const CleaveArgRow *row,
             const float *x,
             gint64 apart,
             gint64 n_rows,
             gint64 *y,
             gint64 y_step,
             gboolean is_min,
             gboolean last)
{
  float best[ROWS];
  gint32 at[ROWS];

  for (gint64 r = 0; r < n_rows; r++)
    {
      best[r] = x[r * apart];
      at[r] = 0;
    }
  for (gint64 i = 1; i < row->n; i++)
    {
      const float *from = x + i * row->step;

      CLEAVE_INDEPENDENT
      for (gint64 r = 0; r < n_rows; r++)
        {
          const float value = from[r * apart], so_far = best[r];
          const gboolean choice = wins (value, so_far, is_min, last);

          best[r] = choice ? value : so_far;
          at[r] = choice ? (gint32) i : at[r];
        }
    }
  for (gint64 r = 0; r < n_rows; r++)
    y[r * y_step] = at[r];
}

static void
search_anywhere (
    const CleaveArgRow *row, const float *x, gint64 apart, gint64 n_rows, gint64 *y, gint64 y_step)
{
  if (row->is_min && row->last)
    search_rows (row, x, apart, n_rows, y, y_step, TRUE, TRUE);
  else if (row->is_min)
    search_rows (row, x, apart, n_rows, y, y_step, TRUE, FALSE);
  else if (row->last)
    search_rows (row, x, apart, n_rows, y, y_step, FALSE, TRUE);
  else
    search_rows (row, x, apart, n_rows, y, y_step, FALSE, FALSE);
}

/* In each lane: the best value of a row so far, and the index of this value in the row. */
typedef struct
{
  CleaveVector best;
  CleaveMask at;
} Best;

static inline void
take_better (Best *so_far, CleaveVector x, gint32 i, gboolean is_min)
{
  CleaveLanes wins = is_min ? cleave_lanes_not_at_least (x, so_far->best)
                            : cleave_lanes_not_at_most (x, so_far->best);

  wins = cleave_lanes_of_numbers (wins, so_far->best);
  so_far->best = cleave_lanes_select (wins, x, so_far->best);
  so_far->at = cleave_lanes_select_ints (wins, (CleaveMask){ 0 } + i, so_far->at);
}

/* Finds the index of the best element of each row, for `vectors` vectors of adjacent rows. Each
 * lane searches one row. */
static CLEAVE_SPECIALISED void
search_columns (const CleaveArgRow *row, const float *x, gint32 *at, gboolean is_min, int vectors)
{
  Best so_far[COLUMNS];

  CLEAVE_EACH (c, vectors)
    so_far[c] = (Best){ cleave_vector_load (x + c * CLEAVE_VECTOR), { 0 } };
  for (gint64 i = 1; i < row->n; i++)
    CLEAVE_EACH (c, vectors)
      take_better (&so_far[c], cleave_vector_load (x + i * row->step + c * CLEAVE_VECTOR),
                   (gint32) i, is_min);
  CLEAVE_EACH (c, vectors)
    memcpy (at + c * CLEAVE_VECTOR, &so_far[c].at, sizeof so_far[c].at);
}

static inline CleaveVector
better_of (CleaveVector found, CleaveVector value, gboolean is_min)
{
  return is_min ? cleave_vector_at_most (found, value) : cleave_vector_at_least (found, value);
}

/* Returns a vector whose lanes all hold the best value of `v`. */
static inline CleaveVector
best_of_lanes (CleaveVector v, gboolean is_min)
{
#if CLEAVE_VECTOR == 16
  v = better_of (
      v, __builtin_shufflevector (v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7),
      is_min);
  v = better_of (
      v, __builtin_shufflevector (v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11),
      is_min);
  v = better_of (
      v, __builtin_shufflevector (v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13),
      is_min);
  v = better_of (
      v, __builtin_shufflevector (v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14),
      is_min);
#elif CLEAVE_VECTOR == 8
  v = better_of (v, __builtin_shufflevector (v, v, 4, 5, 6, 7, 0, 1, 2, 3), is_min);
  v = better_of (v, __builtin_shufflevector (v, v, 2, 3, 0, 1, 6, 7, 4, 5), is_min);
  v = better_of (v, __builtin_shufflevector (v, v, 1, 0, 3, 2, 5, 4, 7, 6), is_min);
#else
  v = better_of (v, __builtin_shufflevector (v, v, 2, 3, 0, 1), is_min);
  v = better_of (v, __builtin_shufflevector (v, v, 1, 0, 3, 2), is_min);
#endif
  return v;
}

/* Finds the best of n contiguous elements, n >= CLEAVE_VECTOR. Returns a vector of which one lane
 * holds the best element. Ignores NaNs, and sets the lanes of `nan` in which it found a NaN. */
static CLEAVE_SPECIALISED CleaveVector
find_best (const float *x, gint64 n, gboolean is_min, CleaveMask *nan)
{
  CleaveVector found[CHAINS], value;
  gint64 i = 0;

  CLEAVE_EACH (c, CHAINS)
    found[c] = cleave_vector_all (is_min ? INFINITY : -INFINITY);
  for (; i + CHAINS * CLEAVE_VECTOR <= n; i += CHAINS * CLEAVE_VECTOR)
    CLEAVE_EACH (c, CHAINS)
      {
        value = cleave_vector_load (x + i + c * CLEAVE_VECTOR);
        *nan |= value != value;
        found[c] = better_of (found[c], value, is_min);
      }
  for (; i < n; i += CLEAVE_VECTOR)
    {
      value = cleave_vector_load (
          x + MIN (i, n - CLEAVE_VECTOR)); /* the last vector overlaps the vector before it */
      *nan |= value != value;
      found[0] = better_of (found[0], value, is_min);
    }
  for (int c = 1; c < CHAINS; c++)
    found[0] = better_of (found[0], found[c], is_min);
  return found[0];
}

/* Returns the index of the first element that equals `best`. At least one of the n elements must
 * equal `best`. */
static gint64
find_place (const float *x, gint64 n, float best)
{
  gint64 i = 0;

  for (; i + CLEAVE_VECTOR <= n; i += CLEAVE_VECTOR)
    {
      guint bits = cleave_vector_bits (cleave_vector_load (x + i) == best);

      if (bits != 0)
        return i + __builtin_ctz (bits);
    }
  while (x[i] != best)
    i++;
  return i;
}

/* Returns the index of the best of n contiguous elements, n >= CLEAVE_VECTOR. Returns -1 if an
 * element is NaN. */
static CLEAVE_SPECIALISED gint64
search_row (const float *x, gint64 n, gboolean is_min)
{
  CleaveMask nan = { 0 };
  float best = x[0];
  gint64 in = 0;

  for (gint64 i = 0; i < n; i += CLEAVE_ARG_BLOCK)
    {
      gint64 begin = MIN (i, n - CLEAVE_VECTOR); /* the last block overlaps the block before it */
      CleaveVector found = find_best (x + begin, MIN (CLEAVE_ARG_BLOCK, n - begin), is_min, &nan);

      if (cleave_vector_bits (is_min ? found < best : found > best) == 0)
        continue;
      best = best_of_lanes (found, is_min)[0];
      in = begin;
    }
  return cleave_vector_bits (nan) != 0 ? -1 : in + find_place (x + in, n - in, best);
}

static CLEAVE_SPECIALISED void
search_floats_of (const CleaveArgRow *row,
                  const float *x,
                  gint64 apart,
                  gint64 n_rows,
                  gint64 *y,
                  gint64 y_step,
                  gboolean is_min)
{
  const gint64 most = COLUMNS * CLEAVE_VECTOR;
  gboolean by_row = row->step == 1 && apart != 1 && !row->last && row->n >= CLEAVE_VECTOR;
  gint32 at[COLUMNS * CLEAVE_VECTOR];
  gint64 r = 0, some;

  for (; apart == 1 && !row->last && r + CLEAVE_VECTOR <= n_rows; r += some)
    {
      some = r + most <= n_rows ? most : CLEAVE_VECTOR;
      if (some == most)
        search_columns (row, x + r, at, is_min, COLUMNS);
      else
        search_columns (row, x + r, at, is_min, 1);
      for (gint64 c = 0; c < some; c++)
        y[(r + c) * y_step] = at[c];
    }
  for (; by_row && r < n_rows; r++)
    {
      gint64 found = search_row (x + r * apart, row->n, is_min);

      y[r * y_step] = found;
      if (found < 0)
        search_anywhere (row, x + r * apart, apart, 1, y + r * y_step, y_step);
    }
  for (; r < n_rows; r += ROWS)
    search_anywhere (row, x + r * apart, apart, MIN (ROWS, n_rows - r), y + r * y_step, y_step);
}

static void
search_FLOAT32 (
    const CleaveArgRow *row, gconstpointer x, gint64 apart, gint64 n_rows, gint64 *y, gint64 y_step)
{
  if (row->is_min)
    search_floats_of (row, x, apart, n_rows, y, y_step, TRUE);
  else
    search_floats_of (row, x, apart, n_rows, y, y_step, FALSE);
}
