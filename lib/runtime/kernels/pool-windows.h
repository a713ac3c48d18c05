/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What becomes of one window of a pooling, in the order of the reference kernels. */

#include "vector.h"

#include "../../ops/lanes.h"

#include <math.h>

/* The windows of one pixel of y: planes, rows and columns of taps. */
typedef struct
{
  gint64 n_planes, n_rows, n_columns;
  gint64 plane, row, column; /* from tap to tap */
  float count;               /* by which an average is divided */
} CleavePoolWindow;

/* What becomes of one window, for some channels of it: all of a vector, or a single one. */
typedef struct
{
  CleaveVector (*vector) (const CleavePoolWindow *window, const float *x);
  float (*one) (const CleavePoolWindow *window, const float *x);
} CleavePool;

#define CLEAVE_POOL_EACH_TAP(w, p, i, j)                                                           \
  for (gint64 p = 0; p < (w)->n_planes; p++)                                                       \
    for (gint64 i = 0; i < (w)->n_rows; i++)                                                       \
      for (gint64 j = 0; j < (w)->n_columns; j++)

static inline gboolean
cleave_pool_is_empty (const CleavePoolWindow *w)
{
  return w->n_planes * w->n_rows * w->n_columns == 0;
}

/* The first tap, then each that is greater or a NaN. */

static inline CleaveVector
cleave_pool_max_vector (const CleavePoolWindow *w, const float *x)
{
  CleaveVector max = cleave_vector_all (-INFINITY);

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  {
    CleaveVector value = cleave_vector_load (x + p * w->plane + i * w->row + j * w->column);

    max = (p | i | j) == 0 ? value
                           : cleave_vector_select ((value > max) | (value != value), value, max);
  }
  return max;
}

static inline float
cleave_pool_max_one (const CleavePoolWindow *w, const float *x)
{
  float max = -INFINITY;

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  {
    float value = x[p * w->plane + i * w->row + j * w->column];

    max = (p | i | j) == 0 || value > max || value != value ? value : max;
  }
  return max;
}

static inline CleaveVector
cleave_pool_average_vector (const CleavePoolWindow *w, const float *x)
{
  CleaveVector sum = cleave_vector_all (0);

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  sum += cleave_vector_load (x + p * w->plane + i * w->row + j * w->column);
  return cleave_pool_is_empty (w) ? sum : sum / w->count;
}

static inline float
cleave_pool_average_one (const CleavePoolWindow *w, const float *x)
{
  float sum = 0;

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  sum += x[p * w->plane + i * w->row + j * w->column];
  return cleave_pool_is_empty (w) ? sum : sum / w->count;
}

/* Eight sums, as lanes.h says. */

/* Adds n elements to the sums, each `step` after the one before, the first of them to sum
 * `first`. */
static inline void
cleave_pool_add_to_lanes (const float *x, gint64 step, gint64 n, gint64 first, CleaveVector *lane)
{
  CleaveVector sum[CLEAVE_N_LANES];
  gint64 i = 0;

  for (; i < n && (first + i) % CLEAVE_N_LANES != 0; i++, x += step)
    lane[(first + i) % CLEAVE_N_LANES] += cleave_vector_load (x);
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    sum[j] = lane[j];
  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES, x += CLEAVE_N_LANES * step)
    for (guint j = 0; j < CLEAVE_N_LANES; j++)
      sum[j] += cleave_vector_load (x + j * step);
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    lane[j] = sum[j];
  for (guint j = 0; i < n; i++, j++, x += step)
    lane[j] += cleave_vector_load (x);
}

static inline CleaveVector
cleave_pool_global_average_vector (const CleavePoolWindow *w, const float *x)
{
  CleaveVector lane[CLEAVE_N_LANES] = { 0 };

  for (gint64 p = 0; p < w->n_planes; p++)
    for (gint64 i = 0; i < w->n_rows; i++)
      cleave_pool_add_to_lanes (x + p * w->plane + i * w->row, w->column, w->n_columns,
                                (p * w->n_rows + i) * w->n_columns % CLEAVE_N_LANES, lane);
  for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (guint j = 0; j < half; j++)
      lane[j] += lane[j + half];
  return lane[0] / w->count;
}

static inline float
cleave_pool_global_average_one (const CleavePoolWindow *w, const float *x)
{
  float lane[CLEAVE_N_LANES] = { 0 };
  guint n = 0;

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  {
    lane[n] += x[p * w->plane + i * w->row + j * w->column];
    n = (n + 1) % CLEAVE_N_LANES;
  }
  for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (guint j = 0; j < half; j++)
      lane[j] += lane[j + half];
  return lane[0] / w->count;
}

static const CleavePool cleave_max_pool = { cleave_pool_max_vector, cleave_pool_max_one };
static const CleavePool cleave_average_pool = { cleave_pool_average_vector,
                                                cleave_pool_average_one };
static const CleavePool cleave_global_average_pool = { cleave_pool_global_average_vector,
                                                       cleave_pool_global_average_one };
