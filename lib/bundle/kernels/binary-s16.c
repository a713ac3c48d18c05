/* SPDX-License-Identifier: 0BSD */

/* Sums, differences and products of int16 values. */

#include "cleave-kernels.h"

static int16_t
binary_s16_element (const CleaveBinaryS8 *p, int32_t x0, int32_t x1)
{
  uint32_t value = (uint32_t) x0 * (uint32_t) x1;

  if (p->sign != 0)
    {
      const int32_t a =
          cleave_scale ((uint32_t) x0 << p->left_shift, p->multipliers[0], p->shifts[0]);
      const int32_t b =
          cleave_scale ((uint32_t) x1 << p->left_shift, p->multipliers[1], p->shifts[1]);

      value = (uint32_t) a + (p->sign < 0 ? 0u - (uint32_t) b : (uint32_t) b);
    }
  return (int16_t) (cleave_clamp (cleave_scale (value, p->multipliers[2], p->shifts[2]), p->low,
                                  p->high) +
                    p->zeros[2]);
}

void
cleave_binary_s16 (const CleaveCall *call)
{
  const CleaveBinaryS8 *p = call->params;
  const CleaveRepeat *a = &p->operands[0], *b = &p->operands[1];
  const int16_t *x0 = (const int16_t *) (const void *) cleave_operand (call, a, 0, 2);
  const int16_t *x1 =
      (const int16_t *) (const void *) cleave_operand (call, b, a->constant == NULL, 2);
  const int32_t step0 = a->channels > 1, step1 = b->channels > 1;
  int16_t *y = (int16_t *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      for (int32_t c = 0; c < p->channels; c++)
        *y++ = binary_s16_element (p, x0[c * step0] - p->zeros[0], x1[c * step1] - p->zeros[1]);
      x0 += a->columns > 1 ? a->channels : 0;
      x1 += b->columns > 1 ? b->channels : 0;
    }
}
