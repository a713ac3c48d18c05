/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What becomes of one window of a pooling, in the order of the reference kernels. */

#include "level.h"
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

/* What becomes of one window, for a vector of channels, or for the first n of one. */
typedef struct
{
  CleaveVector (*vector) (const CleavePoolWindow *window, const float *x);
  CleaveVector (*some) (const CleavePoolWindow *window, const float *x, int n);
} CleavePool;

static inline CleaveVector
cleave_pool_load (const float *x, gboolean some, int n)
{
  return some ? cleave_vector_load_some (x, n) : cleave_vector_load (x);
}

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
static CLEAVE_SPECIALISED CleaveVector
cleave_pool_max (const CleavePoolWindow *w, const float *x, gboolean some, int n)
{
  CleaveVector max = cleave_vector_all (-INFINITY);

  if (!cleave_pool_is_empty (w))
    max = cleave_pool_load (x, some, n);
  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  {
    CleaveVector value = cleave_pool_load (x + p * w->plane + i * w->row + j * w->column, some, n);

    max = cleave_vector_select (value != value, value, cleave_vector_at_least (max, value));
  }
  return max;
}

static CLEAVE_SPECIALISED CleaveVector
cleave_pool_average (const CleavePoolWindow *w, const float *x, gboolean some, int n)
{
  CleaveVector sum = cleave_vector_all (0);

  CLEAVE_POOL_EACH_TAP (w, p, i, j)
  sum += cleave_pool_load (x + p * w->plane + i * w->row + j * w->column, some, n);
  return cleave_pool_is_empty (w) ? sum : sum / w->count;
}

/* Eight sums, as lanes.h says. */

/* Adds n_x elements to the sums, each `step` after the one before, the first of them to sum
 * `first`. */
static CLEAVE_SPECIALISED void
cleave_pool_add_to_lanes_of (
    const float *x, gint64 step, gint64 n_x, gint64 first, gboolean some, int n, CleaveVector *lane)
{
  CleaveVector sum[CLEAVE_N_LANES];
  gint64 i = 0;

  for (; i < n_x && (first + i) % CLEAVE_N_LANES != 0; i++, x += step)
    lane[(first + i) % CLEAVE_N_LANES] += cleave_pool_load (x, some, n);
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    sum[j] = lane[j];
  for (; i + CLEAVE_N_LANES <= n_x; i += CLEAVE_N_LANES, x += CLEAVE_N_LANES * step)
    for (guint j = 0; j < CLEAVE_N_LANES; j++)
      sum[j] += cleave_pool_load (x + j * step, some, n);
  for (guint j = 0; j < CLEAVE_N_LANES; j++)
    lane[j] = sum[j];
  for (guint j = 0; i < n_x; i++, j++, x += step)
    lane[j] += cleave_pool_load (x, some, n);
}

static inline void
cleave_pool_add_to_lanes (const float *x, gint64 step, gint64 n_x, gint64 first, CleaveVector *lane)
{
  cleave_pool_add_to_lanes_of (x, step, n_x, first, FALSE, 0, lane);
}

static CLEAVE_SPECIALISED CleaveVector
cleave_pool_global_average (const CleavePoolWindow *w, const float *x, gboolean some, int n)
{
  CleaveVector lane[CLEAVE_N_LANES] = { 0 };

  for (gint64 p = 0; p < w->n_planes; p++)
    for (gint64 i = 0; i < w->n_rows; i++)
      cleave_pool_add_to_lanes_of (x + p * w->plane + i * w->row, w->column, w->n_columns,
                                   (p * w->n_rows + i) * w->n_columns % CLEAVE_N_LANES, some, n,
                                   lane);
  for (guint half = CLEAVE_N_LANES / 2; half > 0; half /= 2)
    for (guint j = 0; j < half; j++)
      lane[j] += lane[j + half];
  return lane[0] / w->count;
}

/* clang-format off */
#define CLEAVE_POOL(name)                                                                          \
  static inline CleaveVector cleave_pool_##name##_vector (const CleavePoolWindow *w,               \
                                                          const float *x)                          \
  {                                                                                                \
    return cleave_pool_##name (w, x, FALSE, 0);                                                    \
  }                                                                                                \
                                                                                                   \
  static inline CleaveVector cleave_pool_##name##_some (const CleavePoolWindow *w, const float *x, \
                                                        int n)                                     \
  {                                                                                                \
    return cleave_pool_##name (w, x, TRUE, n);                                                     \
  }                                                                                                \
                                                                                                   \
  static const CleavePool cleave_##name##_pool                                                     \
      = { cleave_pool_##name##_vector, cleave_pool_##name##_some };
CLEAVE_POOL (max)
CLEAVE_POOL (average)
CLEAVE_POOL (global_average)
#undef CLEAVE_POOL
/* clang-format on */
