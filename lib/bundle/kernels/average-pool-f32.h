/* SPDX-License-Identifier: 0BSD */

/* The sum of a row of a window, and the number by which an average pooling of float32 divides. Both
 * are common to average-pool-f32.c and average-pool-rows-f32.c. */

#ifndef CLEAVE_AVERAGE_POOL_F32_H
#define CLEAVE_AVERAGE_POOL_F32_H

#include "cleave-kernels.h"

/* Returns the sum of n > 0 taps of a row, from left to right. `step`: distance of two taps. */
static inline float
average_pool_f32_row (const float *x, int32_t step, int32_t n)
{
  float sum = *x;

  while (--n > 0)
    {
      x += step;
      sum = sum + *x;
    }
  return sum;
}

/* Returns the number of taps of a window, in dimension d, that are on the operand or on its
 * padding. `first` is the index in the operand that tap 0 reads. */
static inline int32_t
average_pool_f32_count (const CleavePoolF32 *p, int d, int32_t first)
{
  const CleaveSlide *slide = &p->slide;
  const int32_t end = (d == 0 ? slide->rows : slide->columns) + p->pads[d];
  int32_t n = 0;

  while (n < slide->kernel[d] && first + n * slide->dilation[d] < end)
    n++;
  return n;
}

/* Returns the divisor of a window. `row` and `column`: the indices in the operand that tap 0 reads.
 * `rows`, `columns`: the taps that read the operand. */
static inline float
average_pool_f32_divisor (
    const CleavePoolF32 *p, int32_t row, int32_t column, CleaveTaps rows, CleaveTaps columns)
{
  const int32_t n = p->is_padding_counted
                        ? average_pool_f32_count (p, 0, row) * average_pool_f32_count (p, 1, column)
                        : (rows.end - rows.begin) * (columns.end - columns.begin);

  return (float) (n > 0 ? n : 1);
}

#endif
