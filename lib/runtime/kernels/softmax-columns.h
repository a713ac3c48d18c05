/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes Softmax or LogSoftmax of several rows at a time: each lane of a vector holds an element
 * of another row. softmax.c uses these functions for short rows, and for rows along any axis but
 * the innermost. */

#include "level.h"
#include "loops.h"
#include "vector-exp.h"

#include "../../ops/axes.h"
#include "../../ops/elementwise-math.h"

#include <math.h>
#include <string.h>

enum { Y_AT, X_AT };

typedef struct
{
  CleaveLoops loops; /* loops over the rows; view 0 is y, view 1 is x */
  gint64 n, x_step, y_step;
  gboolean is_log, is_dense;
} Softmax;

/* Computes cleave_f32_max() in each lane. Compilers do not vectorize a call of cleave_f32_max(). */
static inline CleaveVector
max_of (CleaveVector a, CleaveVector b)
{
  return cleave_vector_select ((a >= b) | (a != a), a, b);
}

/* Combines vectors of partial results in the order of CLEAVE_LANES_JOIN. */
#define JOIN(lane, join)                                                                           \
  CLEAVE_EACH (k, 3)                                                                               \
    for (int j = 0; j < CLEAVE_N_LANES; j += 2 << k)                                               \
  (lane)[j] = join ((lane)[j], (lane)[j + (1 << k)])

static inline CleaveVector
sum_of (CleaveVector a, CleaveVector b)
{
  return a + b;
}

static CleaveVector
find_max (const Softmax *s, const float *x, gint64 step)
{
  CleaveVector lane[CLEAVE_N_LANES];
  gint64 i = 0;

  CLEAVE_EACH (j, CLEAVE_N_LANES)
    lane[j] = cleave_vector_all (-INFINITY);
  for (; i + CLEAVE_N_LANES <= s->n; i += CLEAVE_N_LANES)
    CLEAVE_EACH (j, CLEAVE_N_LANES)
      lane[j] = max_of (lane[j], cleave_vector_load (x + (i + j) * step));
  CLEAVE_EACH (j, CLEAVE_N_LANES)
    if (i + j < s->n)
      lane[j] = max_of (lane[j], cleave_vector_load (x + (i + j) * step));
  JOIN (lane, max_of);
  return lane[0];
}

/* Returns a vector that contains the sum of the exponentials of each lane's row. Stores the
 * exponentials at `e`; `e` NULL: does not store them. `e` and `x` may be the same address. */
static inline __attribute__ ((always_inline)) CleaveVector
sum_exponentials (const Softmax *s, const float *x, gint64 step, CleaveVector max, float *e)
{
  CleaveVector lane[CLEAVE_N_LANES];

  CLEAVE_EACH (j, CLEAVE_N_LANES)
    lane[j] = cleave_vector_all (0);
  for (gint64 i = 0; i < s->n; i += CLEAVE_N_LANES)
    CLEAVE_EACH (j, CLEAVE_N_LANES)
      if (i + j < s->n)
        {
          CleaveVector made =
              cleave_vector_exp_normal_negative (cleave_vector_load (x + (i + j) * step) - max);

          if (e != NULL)
            cleave_vector_store (e + (i + j) * CLEAVE_VECTOR, made);
          lane[j] += made;
        }
  JOIN (lane, sum_of);
  return lane[0];
}

/* Computes the results of CLEAVE_VECTOR adjacent rows, one row in each lane. `x`: address of the
 * operand; `e`: memory for the exponentials; `y`: address of the result. These addresses may be
 * equal. */
static void
run_vector (const Softmax *s, const float *x, gint64 x_step, float *e, float *y, gint64 y_step)
{
  CleaveVector max = find_max (s, x, x_step), inverse;

  if (s->is_log)
    {
      float log[CLEAVE_VECTOR];

      cleave_vector_store (log, sum_exponentials (s, x, x_step, max, NULL));
      for (int r = 0; r < CLEAVE_VECTOR; r++)
        log[r] = cleave_f32_log (log[r]);
      for (gint64 i = 0; i < s->n; i++)
        cleave_vector_store (y + i * y_step, (cleave_vector_load (x + i * x_step) - max) -
                                                 cleave_vector_load (log));
      return;
    }
  inverse = 1 / sum_exponentials (s, x, x_step, max, e);
  for (gint64 i = 0; i < s->n; i++)
    cleave_vector_store (y + i * y_step, cleave_vector_load (e + i * CLEAVE_VECTOR) * inverse);
}

/* Rows that are not computed yet: run_columns() collects the addresses of the first elements of
 * rows until `n` rows fill a vector. */
typedef struct
{
  const Softmax *s;
  const float *x[CLEAVE_VECTOR];
  float *y[CLEAVE_VECTOR], *scratch;
  int n;
} Waiting;

/* Returns whether the first half of the rows in `rows` are adjacent in memory, and the second half
 * also. `rows` must contain CLEAVE_VECTOR rows. */
static gboolean
lies_in_halves (const Waiting *rows)
{
  for (int r = 1; r < CLEAVE_VECTOR; r++)
    if (r != CLEAVE_HALF && (rows->x[r] != rows->x[r - 1] + 1 || rows->y[r] != rows->y[r - 1] + 1))
      return FALSE;
  return TRUE;
}

static void
run_waiting (Waiting *rows)
{
  const Softmax *s = rows->s;
  float *e = rows->scratch;
  const int n = rows->n;
  gboolean halves;

  if (n == 0)
    return;
  for (int r = n; r < CLEAVE_VECTOR; r++) /* the remaining lanes get the address of the last row */
    {
      rows->x[r] = rows->x[n - 1];
      rows->y[r] = rows->y[n - 1];
    }
  halves = n == CLEAVE_VECTOR && lies_in_halves (rows);
  for (gint64 i = 0; i < s->n; i++)
    if (halves)
      cleave_vector_store (e + i * CLEAVE_VECTOR,
                           cleave_vector_load_halves (rows->x[0] + i * s->x_step,
                                                      rows->x[CLEAVE_HALF] + i * s->x_step));
    else
      for (int r = 0; r < CLEAVE_VECTOR; r++)
        e[i * CLEAVE_VECTOR + r] = rows->x[r][i * s->x_step];
  run_vector (s, e, CLEAVE_VECTOR, e, e, CLEAVE_VECTOR);
  for (gint64 i = 0; i < s->n; i++)
    if (halves)
      for (int h = 0; h < CLEAVE_VECTOR; h += CLEAVE_HALF)
        memcpy (rows->y[h] + i * s->y_step, e + i * CLEAVE_VECTOR + h,
                CLEAVE_HALF * sizeof (float));
    else
      for (int r = 0; r < n; r++)
        rows->y[r][i * s->y_step] = e[i * CLEAVE_VECTOR + r];
  rows->n = 0;
}

/* Computes n_rows adjacent rows; x and y are the addresses of the first row. */
static void
run_columns (Waiting *rows, const float *x, float *y, gint64 n_rows)
{
  const Softmax *s = rows->s;
  const gint64 x_step = s->loops.step[X_AT], y_step = s->loops.step[Y_AT];
  gint64 row = 0;

  if (x_step == 1 && y_step == 1)
    for (; row + CLEAVE_VECTOR <= n_rows; row += CLEAVE_VECTOR)
      run_vector (s, x + row, s->x_step, rows->scratch, y + row, s->y_step);
  for (; row < n_rows; row++)
    {
      rows->x[rows->n] = x + row * x_step;
      rows->y[rows->n] = y + row * y_step;
      if (++rows->n == CLEAVE_VECTOR)
        run_waiting (rows);
    }
}
