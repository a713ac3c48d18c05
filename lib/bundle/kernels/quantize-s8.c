/* SPDX-License-Identifier: 0BSD */

/* Converts floats to int8 and rounds ties away from zero, as TensorFlow Lite does. A NaN becomes
 * the zero point. */

#include "cleave-kernels.h"

/* Returns x, rounded, and clamped to the range from -2^20 to 2^20. */
static int32_t
quantize_s8_round (float x)
{
  const float limit = 1048576;
  float whole;

  if (!(x >= -limit))
    return x < -limit ? -1048576 : 0;
  if (x > limit)
    return 1048576;
  whole = (float) (int32_t) x;
  if (x - whole >= 0.5f)
    return (int32_t) whole + 1;
  return x - whole <= -0.5f ? (int32_t) whole - 1 : (int32_t) whole;
}

void
cleave_quantize_s8 (const CleaveCall *call)
{
  const CleaveQuantize *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  int8_t *y = (int8_t *) call->y;

  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    *y++ = (int8_t) cleave_clamp (quantize_s8_round (*from++ / p->scales[0]) + p->zeros[0],
                                  INT8_MIN, INT8_MAX);
}
