/* SPDX-License-Identifier: 0BSD */

/* Average pooling of float32 whose windows cover all rows of the operand: adds each row to the sums
 * as soon as it is computed. */

#include "average-pool-f32.h"

/* Adds row call->row of the operand to the sums; for row 0, sets the sums. */
void
cleave_average_pool_row_f32 (const CleaveCall *call)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const float *x = (const float *) cleave_row (&call->x[0], call->row);
  float *y = (float *) (void *) call->y;

  for (int32_t i = call->begin; i < call->end; i++)
    {
      const int32_t column = i * slide->stride[1] - slide->pad[1];
      const CleaveTaps taps = cleave_taps (slide, 1, column);
      const int32_t first =
          (column + taps.begin * slide->dilation[1] - call->x[0].begin) * p->channels;

      for (int32_t c = 0; c < p->channels; c++)
        {
          float sum = call->row == 0 ? 0 : *y;

          if (taps.begin < taps.end)
            sum = sum + average_pool_f32_row (x + first + c, slide->dilation[1] * p->channels,
                                              taps.end - taps.begin);
          *y++ = sum;
        }
    }
}

void
cleave_average_pool_end_f32 (const CleaveCall *call)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  const CleaveTaps rows = cleave_taps (slide, 0, -slide->pad[0]);
  const float *sums =
      (const float *) cleave_row (x, slide->rows - 1) + (call->begin - x->begin) * p->channels;
  float *y = (float *) (void *) call->y;

  for (int32_t i = call->begin; i < call->end; i++)
    {
      const int32_t column = i * slide->stride[1] - slide->pad[1];
      const float divisor = average_pool_f32_divisor (p, -slide->pad[0], column, rows,
                                                      cleave_taps (slide, 1, column));

      for (int32_t c = 0; c < p->channels; c++)
        *y++ = *sums++ / divisor;
    }
}
