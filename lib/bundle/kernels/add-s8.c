/* SPDX-License-Identifier: 0BSD */

/* Sums and differences of int8 values. */

#include "cleave-kernels.h"

#ifdef CLEAVE_MVE
#include <arm_mve.h>

/* Scales four integers as cleave_scale() does, if the scale is in fixed point. */
static inline int32x4_t
add_s8_scale (int32x4_t x, int32_t multiplier, int32_t shift)
{
  if (shift < 0)
    return vqrdmulhq_n_s32 (vshlq_r_s32 (x, -1 - shift), multiplier);
  x = vqrdmulhq_n_s32 (x, multiplier);
  return vrshlq_n_s32 (vaddq_s32 (x, vshrq_n_s32 (x, 31)), -1 - shift);
}

/* Computes four elements of the result. */
static inline void
add_s8_four (const CleaveBinaryS8 *p, const int8_t *x0, const int8_t *x1, int8_t *y)
{
  int32x4_t a = vshlq_r_s32 (vsubq_n_s32 (vldrbq_s32 (x0), p->zeros[0]), p->left_shift);
  int32x4_t b = vshlq_r_s32 (vsubq_n_s32 (vldrbq_s32 (x1), p->zeros[1]), p->left_shift);

  a = add_s8_scale (a, p->multipliers[0], p->shifts[0]);
  b = add_s8_scale (b, p->multipliers[1], p->shifts[1]);
  a = p->sign < 0 ? vsubq_s32 (a, b) : vaddq_s32 (a, b);
  a = add_s8_scale (a, p->multipliers[2], p->shifts[2]);
  a = vminq_s32 (vmaxq_s32 (a, vdupq_n_s32 (p->low)), vdupq_n_s32 (p->high));
  vstrbq_s32 (y, vaddq_n_s32 (a, p->zeros[2]));
}
#endif

static int8_t
add_s8_element (const CleaveBinaryS8 *p, int32_t x0, int32_t x1)
{
  const int32_t a = cleave_scale ((uint32_t) x0 << p->left_shift, p->multipliers[0], p->shifts[0]);
  const int32_t b = cleave_scale ((uint32_t) x1 << p->left_shift, p->multipliers[1], p->shifts[1]);
  const uint32_t sum = (uint32_t) a + (p->sign < 0 ? 0u - (uint32_t) b : (uint32_t) b);

  return (
      int8_t) (cleave_clamp (cleave_scale (sum, p->multipliers[2], p->shifts[2]), p->low, p->high) +
               p->zeros[2]);
}

void
cleave_add_s8 (const CleaveCall *call)
{
  const CleaveBinaryS8 *p = call->params;
  const CleaveRepeat *a = &p->operands[0], *b = &p->operands[1];
  const int8_t *x0 = (const int8_t *) cleave_operand (call, a, 0, 1);
  const int8_t *x1 = (const int8_t *) cleave_operand (call, b, a->constant == NULL, 1);
  const int32_t step0 = a->channels > 1, step1 = b->channels > 1;
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      int32_t c = 0;

#ifdef CLEAVE_MVE
      for (; c + 4 <= p->channels && step0 && step1 && p->shifts[0] != INT8_MAX; c += 4, y += 4)
        add_s8_four (p, x0 + c, x1 + c, y);
#endif
      for (; c < p->channels; c++)
        *y++ = add_s8_element (p, x0[c * step0] - p->zeros[0], x1[c * step1] - p->zeros[1]);
      x0 += a->columns > 1 ? a->channels : 0;
      x1 += b->columns > 1 ? b->channels : 0;
    }
}
