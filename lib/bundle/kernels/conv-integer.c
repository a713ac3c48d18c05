/* SPDX-License-Identifier: 0BSD */

/* Convolutions and transposed convolutions of int8, uint8 and int16. Taps on padding are skipped.
 * Each sum has 64 bits; a layer with sums of 32 bits uses the lower half. */

#include "cleave-kernels.h"

#define CONV_INTEGER_ADD(X, W)                                                                     \
  {                                                                                                \
    const X *a = (const X *) x;                                                                    \
    const W *b = (const W *) w;                                                                    \
                                                                                                   \
    for (int32_t i = 0; i < p->in; i++)                                                            \
      sum += (int64_t) (a[i] - p->x_zero) * b[i];                                                  \
  }

/* Returns the sum of (x - x_zero) * w over the channels of a group, for one tap. */
static int64_t
conv_integer_tap (const CleaveConvInteger *p, const void *x, const void *w)
{
  int64_t sum = 0;

  if (p->weight_bytes == 1)
    {
      if (p->x_type == CLEAVE_S8)
        CONV_INTEGER_ADD (int8_t, int8_t)
      else if (p->x_type == CLEAVE_U8)
        CONV_INTEGER_ADD (uint8_t, int8_t)
      else
        CONV_INTEGER_ADD (int16_t, int8_t)
    }
  else
    {
      if (p->x_type == CLEAVE_S8)
        CONV_INTEGER_ADD (int8_t, int16_t)
      else if (p->x_type == CLEAVE_U8)
        CONV_INTEGER_ADD (uint8_t, int16_t)
      else
        CONV_INTEGER_ADD (int16_t, int16_t)
    }
  return sum;
}

#undef CONV_INTEGER_ADD

/* Returns `sum` plus the products of all taps of a window of one group. `w` has the weights of one
 * channel of the result. */
static uint64_t
conv_integer_window (
    const CleaveCall *call, int32_t column, int32_t group, const unsigned char *w, uint64_t sum)
{
  const CleaveConvInteger *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t size = p->x_type == CLEAVE_S16 ? 2 : 1, pixel = p->in * p->groups;

  for (int32_t k = 0; k < p->slide.kernel[0]; k++)
    {
      const int32_t row = cleave_tap (&p->slide, 0, call->row, k, p->is_transposed);
      const unsigned char *from;

      if (row < 0)
        continue;
      from = (const unsigned char *) cleave_row (x, row);
      for (int32_t tap = 0; tap < p->slide.kernel[1]; tap++)
        {
          const int32_t at = cleave_tap (&p->slide, 1, column, tap, p->is_transposed);
          const int32_t offset = (at - x->begin) * pixel + group * p->in;

          if (at >= 0)
            sum += (uint64_t) conv_integer_tap (p, from + offset * size,
                                                w + (k * p->slide.kernel[1] + tap) * p->in *
                                                        p->weight_bytes);
        }
    }
  return sum;
}

/* Returns the scaled sum of a channel, before it is clamped and y_zero is added. */
static int32_t
conv_integer_scale (const CleaveConvInteger *p, uint64_t sum, int32_t channel)
{
  const int32_t multiplier = p->multipliers[channel], shift = p->shifts[channel];

  if (!p->is_wide)
    return cleave_scale ((uint32_t) sum, multiplier, shift);
  sum = sum * (uint32_t) multiplier + ((uint64_t) 1 << (shift - 1));
  return (int32_t) ((int64_t) sum >> shift);
}

void
cleave_conv_integer (const CleaveCall *call)
{
  const CleaveConvInteger *p = call->params;
  const int32_t weights = p->slide.kernel[0] * p->slide.kernel[1] * p->in * p->weight_bytes;
  int8_t *y8 = (int8_t *) call->y;
  int16_t *y16 = (int16_t *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->groups * p->out; c++)
      {
        const uint64_t sum = conv_integer_window (call, column, c / p->out,
                                                  (const unsigned char *) p->weights + c * weights,
                                                  (uint64_t) p->bias[c]);
        const int32_t value =
            cleave_clamp (conv_integer_scale (p, sum, c), p->low, p->high) + p->y_zero;

        if (p->y_bytes == 1)
          *y8++ = (int8_t) value;
        else
          *y16++ = (int16_t) value;
      }
}
