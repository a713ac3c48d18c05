/* SPDX-License-Identifier: 0BSD */

/* Bilinear interpolation of int8: a mean of four neighbors, weighted in units of 2^-20, rounded to
 * the nearest integer, ties away from zero. */

#include "cleave-kernels.h"

/* The two neighbors of a position, and the weight of the second neighbor in units of 2^-10. */
typedef struct
{
  int32_t at[2], weight;
} ResizeS8;

static ResizeS8
resize_s8_taps (const CleaveResizeS8 *p, int d, int32_t i)
{
  const int32_t position = i * p->steps[d] + p->shifts[d], last = p->extents[d] - 1;
  ResizeS8 taps;

  taps.at[0] = cleave_clamp (position / 1024, 0, last);
  taps.at[1] = cleave_clamp ((position + 1023) / 1024, 0, last);
  taps.weight = position - taps.at[0] * 1024;
  return taps;
}

void
cleave_resize_s8 (const CleaveCall *call)
{
  const CleaveResizeS8 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const ResizeS8 rows = resize_s8_taps (p, 0, call->row);
  const int8_t *x0 = (const int8_t *) cleave_row (x, rows.at[0]);
  const int8_t *x1 = (const int8_t *) cleave_row (x, rows.at[1]);
  const int64_t half = (int64_t) 1 << 19;
  int8_t *y = (int8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const ResizeS8 columns = resize_s8_taps (p, 1, column);
      const int32_t left = (columns.at[0] - x->begin) * p->channels;
      const int32_t right = (columns.at[1] - x->begin) * p->channels;
      const int64_t w1 = columns.weight, w0 = 1024 - w1, v1 = rows.weight, v0 = 1024 - v1;

      for (int32_t c = 0; c < p->channels; c++)
        {
          const int64_t sum = v0 * (w0 * x0[left + c] + w1 * x0[right + c]) +
                              v1 * (w0 * x1[left + c] + w1 * x1[right + c]);

          *y++ = (int8_t) cleave_clamp ((int32_t) ((sum + (sum > 0 ? half : -half)) / (2 * half)),
                                        INT8_MIN, INT8_MAX);
        }
    }
}
