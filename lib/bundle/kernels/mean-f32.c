/* SPDX-License-Identifier: 0BSD */

/* A mean of floats, computed in double. Element i is added to lane i % 8. Then pairs of neighboring
 * lanes are added, until one lane is left. */

#include "cleave-kernels.h"

void
cleave_mean_f32 (const CleaveCall *call)
{
  const CleaveMeanF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c += p->count[2])
      {
        double lanes[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
        int32_t i = 0;

        for (int32_t row = call->row; row < call->row + p->count[0]; row++)
          for (int32_t k = column; k < column + p->count[1]; k++)
            {
              const float *from =
                  (const float *) cleave_row (x, row) + (k - x->begin) * p->channels + c;

              for (int32_t j = 0; j < p->count[2]; j++)
                {
                  lanes[i & 7] += (double) *from++;
                  i++;
                }
            }
        for (int step = 1; step < 8; step *= 2)
          for (int j = 0; j < 8; j += 2 * step)
            lanes[j] += lanes[j + step];
        *y++ = (float) (lanes[0] / i);
      }
}
