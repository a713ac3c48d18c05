/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_add_f32 (const CleaveCall *call)
{
  const CleaveBinaryF32 *p = call->params;
  const CleaveRepeat *first = &p->operands[0], *second = &p->operands[1];
  const float *x0 = (const float *) (const void *) cleave_operand (call, first, 0, 4);
  const float *x1 =
      (const float *) (const void *) cleave_operand (call, second, first->constant == NULL, 4);
  const int32_t step0 = first->channels > 1, step1 = second->channels > 1;
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t c = 0; c < p->channels; c++)
        {
          const float a = x0[c * step0], b = x1[c * step1];

          *y++ = a + b;
        }
      x0 += first->columns > 1 ? first->channels : 0;
      x1 += second->columns > 1 ? second->channels : 0;
    }
}
