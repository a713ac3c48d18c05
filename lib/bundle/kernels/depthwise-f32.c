/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns the sum of one channel of a pixel. `row` and `column` are the row and the column of the
 * operand that the first tap of the window reads. */
static float
depthwise_f32_sum (const CleaveCall *call,
                   CleaveTaps rows,
                   CleaveTaps columns,
                   int32_t row,
                   int32_t column,
                   int32_t channel)
{
  const CleaveConvF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  float sum = p->bias == NULL ? 0 : p->bias[channel];

  for (int32_t k = rows.begin; k < rows.end; k++)
    {
      const float *from = (const float *) cleave_row (x, row + k * slide->dilation[0]) +
                          (column + columns.begin * slide->dilation[1] - x->begin) * p->groups +
                          channel;
      const float *w = p->weights + (k * slide->kernel[1] + columns.begin) * p->groups + channel;

      for (int32_t tap = columns.begin; tap < columns.end; tap++)
        {
          sum = cleave_fma (*from, *w, sum);
          from += slide->dilation[1] * p->groups;
          w += p->groups;
        }
    }
  return sum;
}

void
cleave_depthwise_f32 (const CleaveCall *call)
{
  const CleaveConvF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t row = call->row * slide->stride[0] - slide->pad[0];
  const CleaveTaps rows = cleave_taps (slide, 0, row);
  float *y = (float *) (void *) call->y;

  for (int32_t i = call->begin; i < call->end; i++)
    {
      const int32_t column = i * slide->stride[1] - slide->pad[1];
      const CleaveTaps columns = cleave_taps (slide, 1, column);

      for (int32_t c = 0; c < p->groups; c++)
        *y++ = depthwise_f32_sum (call, rows, columns, row, column, c);
    }
}
