/* SPDX-License-Identifier: 0BSD */

/* Normalizes each channel of an image. All pixels of the image are in one row. A sum has 8 lanes;
 * element i is added to lane i % 8. Then the second half of the lanes is added to the first half,
 * until one lane is left. */

#include "cleave-kernels.h"

/* Returns the mean of x - center over the columns of a channel, or the mean of the squares of x -
 * center. */
static CLEAVE_APART float
instance_norm_f32_mean (const CleaveInstanceNormF32 *p, const float *x, float center, int squares)
{
  float lanes[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };

  for (int32_t i = 0; i < p->columns; i++)
    {
      const float distance = *x - center;

      lanes[i & 7] += squares ? distance * distance : distance;
      x += p->channels;
    }
  for (int half = 4; half > 0; half /= 2)
    for (int j = 0; j < half; j++)
      lanes[j] += lanes[j + half];
  return (float) ((double) lanes[0] / p->columns);
}

void
cleave_instance_norm_f32 (const CleaveCall *call)
{
  const CleaveInstanceNormF32 *p = call->params;
  const float *x = (const float *) cleave_row (&call->x[0], call->row);
  float *y = (float *) (void *) call->y;

  for (int32_t c = 0; c < p->channels; c++)
    {
      const float mean = instance_norm_f32_mean (p, x + c, 0, 0);
      const float factor =
          p->scales[c] / sqrtf (instance_norm_f32_mean (p, x + c, mean, 1) + p->epsilon);

      for (int32_t column = call->begin; column < call->end; column++)
        y[(column - call->begin) * p->channels + c] =
            cleave_fma (x[column * p->channels + c] - mean, factor, p->offsets[c]);
    }
}
