/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns the mean of a window: computes the sum of each row, and adds these sums. `first` is the
 * offset of the window's first tap from the begin of a row. */
static float
average_pool_f32_of (
    const CleaveCall *call, CleaveTaps rows, CleaveTaps columns, int32_t first, int32_t n)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t step = slide->dilation[1] * p->channels;
  int32_t row = call->row * slide->stride[0] - slide->pad[0] + rows.begin * slide->dilation[0];
  float sum = 0;

  for (int32_t k = rows.begin; k < rows.end && columns.begin < columns.end; k++)
    {
      const float *x = (const float *) cleave_row (&call->x[0], row) + first;
      float of_row = *x;

      for (int32_t tap = columns.begin + 1; tap < columns.end; tap++)
        {
          x += step;
          of_row = of_row + *x;
        }
      sum = sum + of_row;
      row += slide->dilation[0];
    }
  return sum / (float) (n > 0 ? n : 1);
}

/* Returns the number of taps of a window, in dimension d, that are on the operand or on its
 * padding. `first` is the index in the operand that tap 0 reads. */
static int32_t
average_pool_f32_count (const CleavePoolF32 *p, int d, int32_t first)
{
  const CleaveSlide *slide = &p->slide;
  const int32_t end = (d == 0 ? slide->rows : slide->columns) + p->pads[d];
  int32_t n = 0;

  while (n < slide->kernel[d] && first + n * slide->dilation[d] < end)
    n++;
  return n;
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
      int32_t n = (rows.end - rows.begin) * (columns.end - columns.begin);

      if (p->is_padding_counted)
        n = average_pool_f32_count (p, 0, row) * average_pool_f32_count (p, 1, column);
      for (int32_t c = 0; c < p->channels; c++)
        *y++ = average_pool_f32_of (call, rows, columns, first + c, n);
    }
}
