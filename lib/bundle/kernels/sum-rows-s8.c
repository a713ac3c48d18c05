/* SPDX-License-Identifier: 0BSD */

/* A sum of int8 along the rows: adds each row to the sums as soon as it is computed. */

#include "cleave-kernels.h"

/* Adds row call->row of the operand to the sums; for row 0, sets the sums. */
void
cleave_sum_row_s8 (const CleaveCall *call)
{
  const CleaveSumS8 *p = call->params;
  const CleaveRows *x = &call->x[0];
  uint32_t *y = (uint32_t *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c += p->count[2])
      {
        const int8_t *from =
            (const int8_t *) cleave_row (x, call->row) + (column - x->begin) * p->channels + c;
        uint32_t sum = call->row == 0 ? (uint32_t) p->start : *y;

        for (int32_t i = 0; i < p->count[1]; i++)
          {
            for (int32_t k = 0; k < p->count[2]; k++)
              {
                const int32_t value = from[k];

                sum += (uint32_t) value;
              }
            from += p->channels;
          }
        *y++ = sum;
      }
}

void
cleave_sum_end_s8 (const CleaveCall *call)
{
  const CleaveSumS8 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t low = INT8_MIN - p->y_zero, high = INT8_MAX - p->y_zero;
  const int32_t channels = p->y_channels;
  const uint32_t *sums =
      (const uint32_t *) cleave_row (x, p->count[0] - 1) + (call->begin - x->begin) * channels;
  int8_t *y = (int8_t *) call->y;

  for (int32_t i = (call->end - call->begin) * channels; i > 0; i--)
    *y++ = (int8_t) (cleave_clamp (cleave_scale (*sums++, p->multiplier, p->shift), low, high) +
                     p->y_zero);
}
