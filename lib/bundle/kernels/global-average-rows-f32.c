/* SPDX-License-Identifier: 0BSD */

/* The mean of all floats of a channel, row by row: adds each row to eight sums (lanes) of each
 * channel as soon as the row is computed. Element i is added to lane i % 8. At the end, the second
 * half of the lanes is added to the first half, until one lane is left. */

#include "cleave-kernels.h"

/* Adds row call->row of the operand to the lanes; for row 0, sets the lanes. */
void
cleave_global_average_row_f32 (const CleaveCall *call)
{
  const CleaveMeanF32 *p = call->params;
  const float *x = (const float *) cleave_row (&call->x[0], call->row);
  const int32_t first = call->row * p->count[1];
  float *lanes = (float *) (void *) call->y;

  for (int32_t c = 0; c < p->channels; c++)
    {
      for (int lane = 0; call->row == 0 && lane < 8; lane++)
        lanes[lane] = 0;
      for (int32_t i = 0; i < p->count[1]; i++)
        lanes[(first + i) & 7] += x[i * p->channels + c];
      lanes += 8;
    }
}

void
cleave_global_average_end_f32 (const CleaveCall *call)
{
  const CleaveMeanF32 *p = call->params;
  const float *lanes = (const float *) cleave_row (&call->x[0], p->count[0] - 1);
  float *y = (float *) (void *) call->y;

  for (int32_t c = 0; c < p->channels; c++)
    {
      const float a = lanes[0] + lanes[4], b = lanes[1] + lanes[5];
      const float d = lanes[2] + lanes[6], e = lanes[3] + lanes[7];

      *y++ = ((a + d) + (b + e)) / (float) (p->count[0] * p->count[1]);
      lanes += 8;
    }
}
