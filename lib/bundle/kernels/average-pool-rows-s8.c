/* SPDX-License-Identifier: 0BSD */

/* Average pooling of int8 whose windows cover all rows of the operand: adds each row to the sums as
 * soon as it is computed. */

#include "cleave-kernels.h"

/* Adds row call->row of the operand to the sums; for row 0, sets the sums. */
void
cleave_average_pool_row_s8 (const CleaveCall *call)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int8_t *x = (const int8_t *) cleave_row (&call->x[0], call->row);
  int32_t *y = (int32_t *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const int32_t first = column * slide->stride[1] - slide->pad[1];
      const CleaveTaps taps = cleave_taps (slide, 1, first);

      for (int32_t c = 0; c < p->channels; c++)
        {
          int32_t sum = call->row == 0 ? 0 : *y;

          for (int32_t tap = taps.begin; tap < taps.end; tap++)
            sum += x[(first + tap * slide->dilation[1] - call->x[0].begin) * p->channels + c];
          *y++ = sum;
        }
    }
}

void
cleave_average_pool_end_s8 (const CleaveCall *call)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveRows *x = &call->x[0];
  const int32_t *sums =
      (const int32_t *) cleave_row (x, slide->rows - 1) + (call->begin - x->begin) * p->channels;
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const CleaveTaps taps = cleave_taps (slide, 1, column * slide->stride[1] - slide->pad[1]);
      const int32_t n = slide->rows * (taps.end - taps.begin);

      for (int32_t c = 0; c < p->channels; c++)
        {
          int32_t mean = *sums++;

          if (n > 0)
            mean = (mean > 0 ? mean + n / 2 : mean - n / 2) / n;
          *y++ = (int8_t) cleave_clamp (mean, p->low, p->high);
        }
    }
}
