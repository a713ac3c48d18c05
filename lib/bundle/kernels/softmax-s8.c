/* SPDX-License-Identifier: 0BSD */

/* Softmax along the channels, in fixed point as TensorFlow Lite computes it. */

#include "cleave-kernels.h"

/* Returns x / 2^shift, rounded to the nearest integer, ties up, for x >= 0 and a shift of 1 to
 * 31. */
static inline int32_t
softmax_s8_shift (int32_t x, int32_t shift)
{
  return ((x >> (shift - 1)) + 1) >> 1;
}

/* Returns 1 / (1 + x) for x in [0, 1), by three steps of Newton's method. x and the result are in
 * units of 2^-31. */
static int32_t
softmax_s8_invert (int32_t x)
{
  const int32_t half = (int32_t) (((uint32_t) x + 0x80000000u) >> 1);
  int32_t y = 1515870810 + cleave_multiply (half, -1010580540);

  for (int i = 0; i < 3; i++)
    {
      const int32_t rest = (1 << 29) - cleave_multiply (half, y);

      y += 4 * cleave_multiply (y, rest);
    }
  return y > INT32_MAX / 2 ? INT32_MAX : 2 * y;
}

static void
softmax_s8_pixel (const CleaveSoftmaxS8 *p, const int8_t *x, unsigned char *y)
{
  const int32_t most = p->y_bytes == 1 ? UINT8_MAX : UINT16_MAX;
  int32_t max = INT8_MIN, zeros = 0, inverse, shift;
  uint32_t sum = 0;

  for (int32_t c = 0; c < p->channels; c++)
    max = x[c] > max ? x[c] : max;
  for (int32_t c = 0; c < p->channels; c++)
    sum += (uint32_t) softmax_s8_shift (p->table[max - x[c]], 12);
  if (sum == 0)
    zeros = 31;
  else
    while ((sum << zeros & 0x80000000u) == 0)
      zeros++;
  inverse = softmax_s8_invert ((int32_t) ((sum << zeros) - 0x80000000u));
  shift = cleave_clamp (12 - zeros + 31 - 8 * p->y_bytes, 0, 31);
  for (int32_t c = 0; c < p->channels; c++)
    {
      int32_t value = cleave_multiply (inverse, p->table[max - x[c]]);

      if (shift > 0)
        value = softmax_s8_shift (value, shift);
      value = (value < most ? value : most) - (most >> 1) - 1;
      if (p->y_bytes == 1)
        ((int8_t *) y)[c] = (int8_t) value;
      else
        ((int16_t *) (void *) y)[c] = (int16_t) value;
    }
}

void
cleave_softmax_s8 (const CleaveCall *call)
{
  const CleaveSoftmaxS8 *p = call->params;
  const int8_t *x = (const int8_t *) cleave_pixels (call, p->channels);
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      softmax_s8_pixel (p, x, y);
      x += p->channels;
      y += p->channels * p->y_bytes;
    }
}
