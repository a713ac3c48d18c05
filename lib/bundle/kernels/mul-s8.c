/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

static int8_t
mul_s8_element (const CleaveBinaryS8 *p, int32_t x0, int32_t x1)
{
  return (
      int8_t) (cleave_clamp (cleave_scale ((uint32_t) (x0 * x1), p->multipliers[2], p->shifts[2]),
                             p->low, p->high) +
               p->zeros[2]);
}

void
cleave_mul_s8 (const CleaveCall *call)
{
  const CleaveBinaryS8 *p = call->params;
  const CleaveRepeat *a = &p->operands[0], *b = &p->operands[1];
  const int8_t *x0 = (const int8_t *) cleave_operand (call, a, 0, 1);
  const int8_t *x1 = (const int8_t *) cleave_operand (call, b, a->constant == NULL, 1);
  const int32_t step0 = a->channels > 1, step1 = b->channels > 1;
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t c = 0; c < p->channels; c++)
        *y++ = mul_s8_element (p, x0[c * step0] - p->zeros[0], x1[c * step1] - p->zeros[1]);
      x0 += a->columns > 1 ? a->channels : 0;
      x1 += b->columns > 1 ? b->channels : 0;
    }
}
