/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Computes the smallest and the largest of many floats, line by line. convert.c computes this range
 * for DynamicQuantizeLinear, which derives its scale from the range. */

#include "vector.h"

typedef struct
{
  float low, high;
} CleaveFloatRange;

/* Number of independent accumulators for the smallest and for the largest value, so that
 * comparisons need not wait for each other. */
#define RANGE_CHAINS 4

/* Extends the range, if necessary, so that it contains n floats of x, which are `step` floats
 * apart. The range always contains 0. Ignores NaNs; the order of the elements does not matter. */
static inline void
cleave_float_range_extend (CleaveFloatRange *range, const float *x, gint64 step, gint64 n)
{
  CleaveVector low[RANGE_CHAINS], high[RANGE_CHAINS];
  gint64 i = 0;

  for (int c = 0; c < RANGE_CHAINS; c++)
    {
      low[c] = cleave_vector_all (range->low);
      high[c] = cleave_vector_all (range->high);
    }
  for (; step == 1 && i + RANGE_CHAINS * CLEAVE_VECTOR <= n; i += RANGE_CHAINS * CLEAVE_VECTOR)
    for (int c = 0; c < RANGE_CHAINS; c++)
      {
        CleaveVector value = cleave_vector_load (x + i + c * CLEAVE_VECTOR);

        low[c] = cleave_vector_at_most (low[c], value);
        high[c] = cleave_vector_at_least (high[c], value);
      }
  for (int c = 1; c < RANGE_CHAINS; c++)
    {
      low[0] = cleave_vector_at_most (low[0], low[c]);
      high[0] = cleave_vector_at_least (high[0], high[c]);
    }
  for (int j = 0; j < CLEAVE_VECTOR; j++)
    {
      range->low = low[0][j] < range->low ? low[0][j] : range->low;
      range->high = high[0][j] > range->high ? high[0][j] : range->high;
    }
  for (; i < n; i++)
    {
      range->low = x[i * step] < range->low ? x[i * step] : range->low;
      range->high = x[i * step] > range->high ? x[i * step] : range->high;
    }
}
