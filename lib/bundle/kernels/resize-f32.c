/* SPDX-License-Identifier: 0BSD */

/* Interpolation of floats along the rows and columns. */

#include "cleave-kernels.h"

/* Returns channel c of a row of the operand, interpolated along the columns, for column `column` of
 * the result. The sum begins with the first product and not with 0, so that -0 stays -0. */
static float
resize_f32_line (const CleaveResizeF32 *p, const float *x, int32_t column, int32_t c)
{
  const uint16_t *at = p->at[1] + column * p->taps[1];
  const float *weights = p->weights[1] + column * p->taps[1];
  float sum = 0;

  for (int32_t t = 0; t < p->taps[1] && at[t] != UINT16_MAX; t++)
    {
      const float product = weights[t] * x[at[t] * p->channels + c];

      sum = t == 0 ? product : sum + product;
    }
  return sum;
}

void
cleave_resize_f32 (const CleaveCall *call)
{
  const CleaveResizeF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const uint16_t *at = p->at[0] + call->row * p->taps[0];
  const float *weights = p->weights[0] + call->row * p->taps[0];
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c++)
      {
        float sum = 0;

        for (int32_t t = 0; t < p->taps[0] && at[t] != UINT16_MAX; t++)
          {
            const float *from = (const float *) cleave_row (x, at[t]) - x->begin * p->channels;
            const float product = weights[t] * resize_f32_line (p, from, column, c);

            sum = t == 0 ? product : sum + product;
          }
        *y++ = sum;
      }
}
