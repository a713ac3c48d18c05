/* SPDX-License-Identifier: 0BSD */

/* Converts floats to int8 and rounds ties to even, as ONNX does. A NaN becomes the zero point. */

#include "cleave-kernels.h"

void
cleave_quantize_even_s8 (const CleaveCall *call)
{
  const CleaveQuantize *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  const float limit = 1048576.0f; /* outside of int8, and small enough for CLEAVE_MAGIC to round */
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c++)
      {
        const int32_t k = p->n == 1 ? 0 : c;
        float value = *from++ / p->scales[k], shifted;

        value = cleave_is_nan (value) ? 0 : cleave_bound (value, -limit, limit);
        shifted = value + CLEAVE_MAGIC;
        *y++ = (int8_t) cleave_clamp ((int32_t) (shifted - CLEAVE_MAGIC) + p->zeros[k], INT8_MIN,
                                      INT8_MAX);
      }
}
