/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes ReduceLogSumExp of floats for reduce.c. The code finds the maximum of each row, then
 * adds exp (x - maximum) of all elements x in double, in 8 partial sums. */

#include "reduce-floats.h"
#include "vector-exp.h"

/* Number of exponentials that are computed at once. */
#define EXPONENTIALS_AT_ONCE 256

/* Adds the exponentials of n elements of a row, `step` apart, to the 8 partial sums. `at` is the
 * number of elements of the row that were added before. */
static void
add_exponentials (
    double (*lane)[CLEAVE_N_LANES], gint64 at, const float *x, gint64 step, gint64 n, float max)
{
  float e[EXPONENTIALS_AT_ONCE + CLEAVE_VECTOR];

  for (gint64 begin = 0; begin < n; begin += EXPONENTIALS_AT_ONCE)
    {
      gint64 some = MIN (EXPONENTIALS_AT_ONCE, n - begin);
      const float *made = e;

      for (gint64 i = 0; i < some; i++)
        e[i] = x[(begin + i) * step] - max;
      for (gint64 i = some; i % CLEAVE_VECTOR != 0; i++)
        e[i] = 0;
      for (gint64 i = 0; i < some; i += CLEAVE_VECTOR)
        cleave_vector_store (e + i, cleave_vector_exp_normal (cleave_vector_load (e + i)));
      reduce_sum_line (lane, at + begin, &made, some, 1);
    }
}

/* Sums the exponentials of a vector of adjacent rows. Each lane computes one row. */
static void
sum_vector (const CleaveReduceBlock *block, const float *x, const float *max, double *sum)
{
  double lane[CLEAVE_N_LANES][CLEAVE_VECTOR] = { { 0 } };
  CleaveVector m = cleave_vector_load (max);
  CleaveLines lines = block->lines;
  float e[CLEAVE_VECTOR];
  gint64 at = 0;

  do
    for (gint64 i = 0; i < lines.length; i++, at++)
      {
        CleaveVector v = cleave_vector_load (x + lines.offset[0] + i * lines.step[0]);
        double *to = lane[at % CLEAVE_N_LANES];

        cleave_vector_store (e, cleave_vector_exp_normal (v - m));
        for (int r = 0; r < CLEAVE_VECTOR; r++)
          to[r] += (double) e[r];
      }
  while (cleave_lines_next (&lines));
  for (int r = 0; r < CLEAVE_VECTOR; r++)
    {
      const double of_row[] = { lane[0][r], lane[1][r], lane[2][r], lane[3][r],
                                lane[4][r], lane[5][r], lane[6][r], lane[7][r] };

      sum[r] = CLEAVE_LANES_JOIN (of_row, cleave_f64_add);
    }
}

static double
sum_row (const CleaveReduceBlock *block, const float *x, float max)
{
  double lane[1][CLEAVE_N_LANES] = { { 0 } };
  CleaveLines lines = block->lines;
  gint64 at = 0;

  do
    {
      add_exponentials (lane, at, x + lines.offset[0], lines.step[0], lines.length, max);
      at += lines.length;
    }
  while (cleave_lines_next (&lines));
  return CLEAVE_LANES_JOIN (lane[0], cleave_f64_add);
}

static void
reduce_log_sum_exp_f32 (
    const CleaveReduceBlock *block, gconstpointer from, gint64 n_rows, gpointer to, gint64 y_step)
{
  const float *x = from;
  float *y = to;

  for (gint64 row = 0; row < n_rows; row += CLEAVE_VECTOR)
    {
      gint64 some = MIN (CLEAVE_VECTOR, n_rows - row);
      const float *rows = x + row * block->row_step;
      double sum[CLEAVE_VECTOR];
      float max[CLEAVE_VECTOR];

      reduce_max_f32 (block, rows, some, max, 1);
      for (gint64 r = 0; r < some; r++)
        max[r] = max[r] - max[r] == 0 ? max[r] : 0; /* if the maximum is infinite or a NaN, subtract
                                                       0 instead, since x - max could be a NaN */
      if (block->row_step == 1 && some == CLEAVE_VECTOR)
        sum_vector (block, rows, max, sum);
      else
        for (gint64 r = 0; r < some; r++)
          sum[r] = sum_row (block, rows + r * block->row_step, max[r]);
      for (gint64 r = 0; r < some; r++)
        y[(row + r) * y_step] = (float) (log (sum[r]) + (double) max[r]);
    }
}
