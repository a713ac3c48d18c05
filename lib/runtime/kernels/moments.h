/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes the sums of lib/ops/moments.h (for means and variances) for several rows of floats at
 * once, so that their additions overlap in time. Each sum has the order of the reference kernel.
 * layer-norm.c and reduce-floats.h use the sums. */

#include "level.h"
#include "vector.h"

#include "../../ops/elementwise-math.h"
#include "../../ops/moments.h"

#define CLEAVE_MOMENTS_ROWS 4

/* Number of vectors of the level's width that hold the 8 partial sums of a row. */
#define CLEAVE_LANE_VECTORS (CLEAVE_N_LANES / CLEAVE_LANE_VECTOR)
G_STATIC_ASSERT (CLEAVE_N_LANES == 8);

/* Adds `n` elements of each row to the row's 8 partial sums. The elements of row r begin at x[r] +
 * at. */
static CLEAVE_SPECIALISED void
cleave_moments_block (const float *const *x,
                      gint64 at,
                      gint64 n,
                      const float *center,
                      gboolean squares,
                      int n_rows,
                      float (*part)[CLEAVE_N_LANES])
{
  CleaveLaneVector all[CLEAVE_MOMENTS_ROWS][CLEAVE_LANE_VECTORS] = { 0 };
  gint64 i = 0;

  for (; i + CLEAVE_N_LANES <= n; i += CLEAVE_N_LANES)
    CLEAVE_EACH (r, n_rows)
      CLEAVE_EACH (p, CLEAVE_LANE_VECTORS)
        {
          const float *from = x[r] + at + i + p * CLEAVE_LANE_VECTOR;
          CleaveLaneVector distance = cleave_lane_vector_load (from) - center[r];

          all[r][p] += squares ? distance * distance : distance;
        }
  CLEAVE_EACH (r, n_rows)
    {
      memcpy (part[r], all[r], sizeof all[r]);
      for (gint64 j = i; j < n; j++)
        {
          float distance = x[r][at + j] - center[r];

          part[r][j - i] += squares ? distance * distance : distance;
        }
    }
}

/* Sets `sum` for each of n_rows rows of n elements: the sum of element - center, or the sum of the
 * squares of these differences if `squares`. */
static CLEAVE_SPECIALISED void
cleave_moments_sum (
    const float *const *x, gint64 n, const float *center, gboolean squares, int n_rows, double *sum)
{
  double lane[CLEAVE_MOMENTS_ROWS][CLEAVE_N_LANES] = { { 0 } };
  float part[CLEAVE_MOMENTS_ROWS][CLEAVE_N_LANES];

  for (gint64 at = 0; at < n; at += CLEAVE_MOMENTS_BLOCK)
    {
      cleave_moments_block (x, at, MIN (n - at, CLEAVE_MOMENTS_BLOCK), center, squares, n_rows,
                            part);
      CLEAVE_EACH (r, n_rows)
        for (gint64 j = 0; j < CLEAVE_N_LANES; j++)
          lane[r][j] += (double) part[r][j];
    }
  CLEAVE_EACH (r, n_rows)
    sum[r] = CLEAVE_LANES_JOIN (lane[r], cleave_f64_add);
}
