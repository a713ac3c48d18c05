/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

void
cleave_norm_f32 (const CleaveCall *call)
{
  const CleaveNormF32 *p = call->params;
  const float *from = (const float *) cleave_pixels (call, 4 * p->channels);
  float *y = (float *) (void *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t c = 0; c < p->channels; c++)
      *y++ = cleave_fma (*from++ - p->means[c], p->factors[c], p->offsets[c]);
}
