/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes the pooling of one pixel's window, or of the windows of several pixels at once, in the
 * order of the reference kernels. pool.c describes each window and calls these functions. A tap is
 * one position of a window. */

#include "level.h"
#include "vector.h"

#include "../../ops/lanes.h"

#include <math.h>

/* The window of a pixel of y: numbers of planes, rows and columns of taps. The windows of adjacent
 * pixels are `x_pixel` elements apart. */
typedef struct
{
  gint64 n_planes, n_rows, n_columns;
  /* distances in elements: of adjacent planes, rows and columns of taps */
  gint64 plane, row, column;
  float count; /* number by which an average divides the sum */
  gint64 x_pixel, y_pixel;
} CleavePoolWindow;

/* Number of pixels that are computed at once. The steps of one window depend on each other; the
 * steps of several windows overlap in time. */
#define CLEAVE_POOL_PIXELS 4

/* Function that pools the window of one pixel, for all n channels. `several` TRUE: pools the
 * windows of CLEAVE_POOL_PIXELS pixels. */
typedef void (*CleavePool) (
    const CleavePoolWindow *window, const float *x, float *y, gint64 n, gboolean several);

/* Loads a vector of channels. `some` TRUE: loads only its first n lanes. */
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

/* A pooling is defined by three functions. `begin` returns the initial value of a window. `step`
 * combines two values: within each row of the window, one tap after the other; then the result of
 * the row with the result of the rows before it. `end` returns the final value. */

/* The functions of the maximum. A maximum begins with the first tap, and takes each later tap that
 * is greater or a NaN. */
static inline CleaveVector
cleave_pool_max_begin (const CleavePoolWindow *w, CleaveVector first)
{
  return cleave_pool_is_empty (w) ? cleave_vector_all (-INFINITY) : first;
}

static inline CleaveVector
cleave_pool_max_step (CleaveVector max, CleaveVector value)
{
  return cleave_vector_select (value != value, value, cleave_vector_at_least (max, value));
}

static inline CleaveVector
cleave_pool_max_end (const CleavePoolWindow *w, CleaveVector max)
{
  return max;
}

static inline CleaveVector
cleave_pool_average_begin (const CleavePoolWindow *w, CleaveVector first)
{
  return cleave_vector_all (0);
}

static inline CleaveVector
cleave_pool_average_step (CleaveVector sum, CleaveVector value)
{
  return sum + value;
}

static inline CleaveVector
cleave_pool_average_end (const CleavePoolWindow *w, CleaveVector sum)
{
  return cleave_pool_is_empty (w) ? sum : sum / w->count;
}

/* The functions of the global average, which sums in the eight partial sums of lanes.h. */

/* Adds n_x elements, `step` apart, to the eight partial sums in turn: the first element to partial
 * sum `first`, the next element to the next partial sum. */
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

/* Computes a global average. The result has one pixel, so `several` is ignored. */
static inline void
cleave_global_average_pool (
    const CleavePoolWindow *w, const float *x, float *y, gint64 n, gboolean several)
{
  if (n < CLEAVE_VECTOR)
    cleave_vector_store_some (y, cleave_pool_global_average (w, x, TRUE, (int) n), (int) n);
  else
    for (gint64 c = 0; c < n; c += CLEAVE_VECTOR)
      {
        gint64 at = MIN (c, n - CLEAVE_VECTOR);

        cleave_vector_store (y + at, cleave_pool_global_average (w, x + at, FALSE, 0));
      }
}

/* Defines the functions of a pooling `name` over rows of pixels. The stride and the number of
 * columns of overlapping windows are compile-time constants; stride 0 stands for any stride. If the
 * channels do not fill whole vectors, the last vector overlaps the vector before it, and both
 * vectors compute equal results. */
/* clang-format off */
#define CLEAVE_POOL(name)                                                                          \
  static CLEAVE_SPECIALISED void cleave_pool_##name##_row (const CleavePoolWindow *w,              \
                                                           const float *x, int pixels, int stride, \
                                                           gint64 columns, gboolean some, int n,   \
                                                           CleaveVector *v)                        \
  {                                                                                                \
    if (stride == 0)                                                                               \
      {                                                                                            \
        CLEAVE_EACH (k, pixels)                                                                    \
          v[k] = cleave_pool_load (x + k * w->x_pixel, some, n);                                   \
        for (gint64 j = 1; j < columns; j++)                                                       \
          {                                                                                        \
            x += w->column;                                                                        \
            CLEAVE_EACH (k, pixels)                                                                \
              v[k] = cleave_pool_##name##_step (v[k],                                              \
                                                cleave_pool_load (x + k * w->x_pixel, some, n));   \
          }                                                                                        \
      }                                                                                            \
    else                                                                                           \
      CLEAVE_EACH (c, (pixels - 1) * stride + (int) columns)                                       \
        {                                                                                          \
          CleaveVector value = cleave_vector_keep (cleave_pool_load (x, some, n));                 \
                                                                                                   \
          CLEAVE_EACH (k, pixels)                                                                  \
            if (c >= k * stride && c < k * stride + columns)                                       \
              v[k] = c == k * stride ? value : cleave_pool_##name##_step (v[k], value);            \
          x += w->column;                                                                          \
        }                                                                                          \
  }                                                                                                \
                                                                                                   \
  static CLEAVE_SPECIALISED void cleave_pool_##name##_at (const CleavePoolWindow *w,               \
                                                          const float *x, float *y, int pixels,    \
                                                          int stride, gint64 columns,              \
                                                          gboolean some, int n)                    \
  {                                                                                                \
    CleaveVector v[CLEAVE_POOL_PIXELS], row[CLEAVE_POOL_PIXELS];                                   \
    gint64 n_rows = cleave_pool_is_empty (w) ? 0 : w->n_rows;                                      \
                                                                                                   \
    CLEAVE_EACH (k, pixels)                                                                        \
      v[k] = cleave_pool_##name##_begin (                                                          \
          w, cleave_pool_is_empty (w) ? cleave_vector_all (0)                                      \
                                      : cleave_pool_load (x + k * w->x_pixel, some, n));           \
    for (gint64 p = 0; p < w->n_planes; p++)                                                       \
      for (gint64 i = 0; i < n_rows; i++)                                                          \
        {                                                                                          \
          cleave_pool_##name##_row (w, x + p * w->plane + i * w->row, pixels, stride, columns,     \
                                    some, n, row);                                                 \
          CLEAVE_EACH (k, pixels)                                                                  \
            v[k] = cleave_pool_##name##_step (v[k], row[k]);                                       \
        }                                                                                          \
    CLEAVE_EACH (k, pixels)                                                                        \
      {                                                                                            \
        v[k] = cleave_pool_##name##_end (w, v[k]);                                                 \
        if (some)                                                                                  \
          cleave_vector_store_some (y + k * w->y_pixel, v[k], n);                                  \
        else                                                                                       \
          cleave_vector_store (y + k * w->y_pixel, v[k]);                                          \
      }                                                                                            \
  }                                                                                                \
                                                                                                   \
  static CLEAVE_SPECIALISED void cleave_pool_##name##_along (const CleavePoolWindow *w,            \
                                                             const float *x, float *y, gint64 n,   \
                                                             int pixels, int stride,               \
                                                             gint64 columns)                       \
  {                                                                                                \
    if (n < CLEAVE_VECTOR)                                                                         \
      cleave_pool_##name##_at (w, x, y, pixels, stride, columns, TRUE, (int) n);                   \
    else                                                                                           \
      for (gint64 c = 0; c < n; c += CLEAVE_VECTOR)                                                \
        {                                                                                          \
          gint64 at = MIN (c, n - CLEAVE_VECTOR);                                                  \
                                                                                                   \
          cleave_pool_##name##_at (w, x + at, y + at, pixels, stride, columns, FALSE, 0);          \
        }                                                                                          \
  }                                                                                                \
                                                                                                   \
  /* Reduces the window of one pixel, for several vectors of its channels at once. */              \
  static CLEAVE_SPECIALISED void cleave_pool_##name##_channels (const CleavePoolWindow *of,        \
                                                                const float *x, float *y,          \
                                                                gint64 n)                          \
  {                                                                                                \
    CleavePoolWindow w = *of;                                                                      \
    gint64 c = 0;                                                                                  \
                                                                                                   \
    w.x_pixel = w.y_pixel = CLEAVE_VECTOR;                                                         \
    for (; c + CLEAVE_POOL_PIXELS * CLEAVE_VECTOR <= n; c += CLEAVE_POOL_PIXELS * CLEAVE_VECTOR)   \
      cleave_pool_##name##_at (&w, x + c, y + c, CLEAVE_POOL_PIXELS, 0, w.n_columns, FALSE, 0);    \
    if (c < n)                                                                                     \
      cleave_pool_##name##_along (&w, x + c, y + c, n - c, 1, 0, w.n_columns);                     \
  }                                                                                                \
                                                                                                   \
  static inline void cleave_##name##_pool (const CleavePoolWindow *of, const float *x, float *y,   \
                                           gint64 n, gboolean several)                             \
  {                                                                                                \
    const CleavePoolWindow window = *of, *w = &window; /* a local copy: stores do not change it */ \
                                                                                                   \
    if (!several)                                                                                  \
      cleave_pool_##name##_channels (w, x, y, n);                                                  \
    else if (w->n_columns == 3 && w->x_pixel == w->column)                                         \
      cleave_pool_##name##_along (w, x, y, n, CLEAVE_POOL_PIXELS, 1, 3);                           \
    else if (w->n_columns == 3 && w->x_pixel == 2 * w->column)                                     \
      cleave_pool_##name##_along (w, x, y, n, CLEAVE_POOL_PIXELS, 2, 3);                           \
    else                                                                                           \
      cleave_pool_##name##_along (w, x, y, n, CLEAVE_POOL_PIXELS, 0, w->n_columns);                \
  }
CLEAVE_POOL (max)
CLEAVE_POOL (average)
#undef CLEAVE_POOL
/* clang-format on */
