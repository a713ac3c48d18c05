/* SPDX-License-Identifier: 0BSD */

/* Average pooling of float32: computes the sum of each row of a window, and adds these sums. */

#include "average-pool-f32.h"

/* Returns the sum of a window. `first` is the offset of the window's first tap from the begin of a
 * row. */
static float
average_pool_f32_sum (const CleaveCall *call, CleaveTaps rows, CleaveTaps columns, int32_t first)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  int32_t row = call->row * slide->stride[0] - slide->pad[0] + rows.begin * slide->dilation[0];
  float sum = 0;

  for (int32_t k = rows.begin; k < rows.end && columns.begin < columns.end; k++)
    {
      const float *x = (const float *) cleave_row (&call->x[0], row) + first;

      sum = sum +
            average_pool_f32_row (x, slide->dilation[1] * p->channels, columns.end - columns.begin);
      row += slide->dilation[0];
    }
  return sum;
}

void
cleave_average_pool_f32 (const CleaveCall *call)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t row = call->row * slide->stride[0] - slide->pad[0];
  const CleaveTaps rows = cleave_taps (slide, 0, row);
  float *y = (float *) (void *) call->y;

  for (int32_t i = call->begin; i < call->end; i++)
    {
      const int32_t column = i * slide->stride[1] - slide->pad[1];
      const CleaveTaps columns = cleave_taps (slide, 1, column);
      const int32_t first =
          (column + columns.begin * slide->dilation[1] - call->x[0].begin) * p->channels;
      const float divisor = average_pool_f32_divisor (p, row, column, rows, columns);

      for (int32_t c = 0; c < p->channels; c++)
        *y++ = average_pool_f32_sum (call, rows, columns, first + c) / divisor;
    }
}
