/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns the mean of a window, rounded half away from zero. `first` is the column of the operand
 * that the window's first tap reads. */
static int32_t
average_pool_mean (const CleaveCall *call, CleaveTaps rows, CleaveTaps columns, int32_t first)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t step = slide->dilation[1] * p->channels;
  const int32_t n = (rows.end - rows.begin) * (columns.end - columns.begin);
  int32_t row = call->row * slide->stride[0] - slide->pad[0] + rows.begin * slide->dilation[0];
  int32_t sum = 0;

  if (n == 0)
    return 0;
  for (int32_t k = rows.begin; k < rows.end; k++)
    {
      const int8_t *x = (const int8_t *) cleave_row (&call->x[0], row) + first;

      for (int32_t tap = columns.begin; tap < columns.end; tap++)
        {
          sum += *x;
          x += step;
        }
      row += slide->dilation[0];
    }
  return (sum > 0 ? sum + n / 2 : sum - n / 2) / n;
}

void
cleave_average_pool_s8 (const CleaveCall *call)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveTaps rows = cleave_taps (slide, 0, call->row * slide->stride[0] - slide->pad[0]);
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const int32_t first = column * slide->stride[1] - slide->pad[1];
      const CleaveTaps columns = cleave_taps (slide, 1, first);
      const int32_t begin = first + columns.begin * slide->dilation[1] - call->x[0].begin;

      for (int32_t c = 0; c < p->channels; c++)
        *y++ = (int8_t) cleave_clamp (
            average_pool_mean (call, rows, columns, begin * p->channels + c), p->low, p->high);
    }
}
