/* SPDX-License-Identifier: 0BSD */

/* The mean of all floats of a channel. Element i is added to lane i % 8. Then the second half of
 * the lanes is added to the first half, until one lane is left. */

#include "cleave-kernels.h"

void
cleave_global_average_f32 (const CleaveCall *call)
{
  const CleaveMeanF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c += p->count[2])
      {
        float lanes[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
        int32_t i = 0;

        for (int32_t row = call->row; row < call->row + p->count[0]; row++)
          for (int32_t k = column; k < column + p->count[1]; k++)
            {
              const float *from =
                  (const float *) cleave_row (x, row) + (k - x->begin) * p->channels + c;

              for (int32_t j = 0; j < p->count[2]; j++)
                {
                  lanes[i & 7] += *from++;
                  i++;
                }
            }
        for (int half = 4; half > 0; half /= 2)
          for (int j = 0; j < half; j++)
            lanes[j] += lanes[j + half];
        *y++ = lanes[0] / (float) i;
      }
}
