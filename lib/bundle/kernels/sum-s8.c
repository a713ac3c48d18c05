/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns p->start plus one sum over count[0] rows, beginning with row `row`. In each row, adds
 * count[1] columns with count[2] channels each. `first` is the offset of the first element in a
 * row. */
static uint32_t
sum_s8_add_up (const CleaveCall *call, int32_t row, int32_t first)
{
  const CleaveSumS8 *p = call->params;
  uint32_t sum = (uint32_t) p->start;

  for (int32_t r = row; r < row + p->count[0]; r++)
    {
      const int8_t *x = (const int8_t *) cleave_row (&call->x[0], r) + first;

      for (int32_t column = 0; column < p->count[1]; column++)
        {
          for (int32_t c = 0; c < p->count[2]; c++)
            {
              const int32_t value = x[c];

              sum += (uint32_t) value;
            }
          x += p->channels;
        }
    }
  return sum;
}

void
cleave_sum_s8 (const CleaveCall *call)
{
  const CleaveSumS8 *p = call->params;
  const int32_t low = INT8_MIN - p->y_zero, high = INT8_MAX - p->y_zero;
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c += p->count[2])
      {
        const uint32_t sum =
            sum_s8_add_up (call, call->row, (column - call->x[0].begin) * p->channels + c);

        *y++ = (int8_t) (cleave_clamp (cleave_scale (sum, p->multiplier, p->shift), low, high) +
                         p->y_zero);
      }
}
