/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_dequantize_s8 (const CleaveCall *call)
{
  const CleaveQuantize *p = call->params;
  const int8_t *from = (const int8_t *) cleave_pixels (call, p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c++)
      {
        const int32_t k = p->n == 1 ? 0 : c;

        *y++ = (float) (*from++ - p->zeros[k]) * p->scales[k];
      }
}
