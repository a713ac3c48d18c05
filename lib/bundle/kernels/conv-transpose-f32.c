/* SPDX-License-Identifier: 0BSD */

/* Transposed convolution of floats. For each element of the result, fused multiply-adds follow the
 * bias, in the order of kernel rows, kernel columns and channels. */

#include "cleave-kernels.h"

/* Returns `sum` plus the products of all taps of a window of one group. `w` has the weights of one
 * channel of the result. */
static float
conv_transpose_f32_window (
    const CleaveCall *call, int32_t column, int32_t group, const float *w, float sum)
{
  const CleaveConvF32 *p = call->params;
  const CleaveRows *x = &call->x[0];

  for (int32_t k = 0; k < p->slide.kernel[0]; k++)
    {
      const int32_t row = cleave_tap (&p->slide, 0, call->row, k, 1);

      for (int32_t tap = 0; tap < p->slide.kernel[1]; tap++)
        {
          const int32_t at = row < 0 ? -1 : cleave_tap (&p->slide, 1, column, tap, 1);

          if (at >= 0)
            {
              const float *from = (const float *) cleave_row (x, row) +
                                  (at - x->begin) * p->in * p->groups + group * p->in;

              for (int32_t i = 0; i < p->in; i++)
                sum = cleave_fma (from[i], w[i], sum);
            }
          w += p->in;
        }
    }
  return sum;
}

void
cleave_conv_transpose_f32 (const CleaveCall *call)
{
  const CleaveConvF32 *p = call->params;
  const int32_t weights = p->slide.kernel[0] * p->slide.kernel[1] * p->in;
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->groups * p->out; c++)
      *y++ = conv_transpose_f32_window (call, column, c / p->out, p->weights + c * weights,
                                        p->bias == NULL ? 0 : p->bias[c]);
}
