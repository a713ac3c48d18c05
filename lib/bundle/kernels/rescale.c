/* SPDX-License-Identifier: 0BSD */

/* Converts integers to integers of another scale. Integers below the zero point have another scale
 * than integers from the zero point up. */

#include "cleave-kernels.h"

/* Returns element i of an array of integers of 1, 2 or 4 bytes. */
static int32_t
rescale_load (const unsigned char *x, int32_t size, int32_t i)
{
  if (size == 1)
    return ((const int8_t *) x)[i];
  return size == 2 ? ((const int16_t *) (const void *) x)[i]
                   : ((const int32_t *) (const void *) x)[i];
}

/* Returns a + b, clamped to [low, high]. */
static int32_t
rescale_add (int32_t a, int32_t b, int32_t low, int32_t high)
{
  const int64_t sum = (int64_t) a + b;

  return sum < low ? low : sum > high ? high : (int32_t) sum;
}

void
cleave_rescale (const CleaveCall *call)
{
  const CleaveRescale *p = call->params;
  const unsigned char *from =
      (const unsigned char *) cleave_pixels (call, p->channels * p->x_bytes);
  const int32_t n = (call->end - call->begin) * p->channels;

  for (int32_t i = 0; i < n; i++)
    {
      const uint32_t value = (uint32_t) rescale_load (from, p->x_bytes, i) - (uint32_t) p->zeros[0];
      const int k = (int32_t) value < 0;
      const int32_t y = rescale_add (cleave_scale (value, p->multipliers[k], p->shifts[k]),
                                     p->zeros[1], p->low, p->high);

      if (p->y_bytes == 1)
        ((int8_t *) call->y)[i] = (int8_t) y;
      else if (p->y_bytes == 2)
        ((int16_t *) (void *) call->y)[i] = (int16_t) y;
      else
        ((int32_t *) (void *) call->y)[i] = y;
    }
}
