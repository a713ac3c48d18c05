/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The least and the largest of floats, line by line. */

#include "vector.h"

typedef struct
{
  float low, high;
} CleaveFloatRange;

/* 0 is always in it; a NaN is not.  No order matters. */
static inline void
cleave_float_range_extend (CleaveFloatRange *range, const float *x, gint64 step, gint64 n)
{
  CleaveVector low = cleave_vector_all (range->low), high = cleave_vector_all (range->high);
  gint64 i = 0;

  for (; step == 1 && i + CLEAVE_VECTOR <= n; i += CLEAVE_VECTOR)
    {
      CleaveVector value = cleave_vector_load (x + i);

      low = cleave_vector_select (value < low, value, low);
      high = cleave_vector_select (value > high, value, high);
    }
  for (int j = 0; j < CLEAVE_VECTOR; j++)
    {
      range->low = low[j] < range->low ? low[j] : range->low;
      range->high = high[j] > range->high ? high[j] : range->high;
    }
  for (; i < n; i++)
    {
      range->low = x[i * step] < range->low ? x[i * step] : range->low;
      range->high = x[i * step] > range->high ? x[i * step] : range->high;
    }
}
