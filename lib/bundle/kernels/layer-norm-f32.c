/* SPDX-License-Identifier: 0BSD */

/* Normalizes the channels of a pixel, or the columns of a row for each channel. A sum is computed
 * in blocks of 256 elements. 8 lanes of float add the elements of a block; then these lanes are
 * added to 8 lanes of double. */

#include "cleave-kernels.h"

/* A line: the elements that are normalized together. */
typedef struct
{
  const float *x;
  int32_t n, step;
} LayerNormLine;

/* Returns the sum of x - center over the elements of a line, or the sum of the squares of x -
 * center. */
static double
layer_norm_f32_sum (const LayerNormLine *line, float center, int squares)
{
  float part[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
  double lanes[8] = { 0, 0, 0, 0, 0, 0, 0, 0 };
  const float *x = line->x;

  for (int32_t i = 0; i < line->n; i++)
    {
      const float distance = *x - center;

      part[i & 7] += squares ? distance * distance : distance;
      x += line->step;
      if ((i & 255) == 255 || i + 1 == line->n)
        for (int j = 0; j < 8; j++)
          {
            lanes[j] += (double) part[j];
            part[j] = 0;
          }
    }
  for (int step = 1; step < 8; step *= 2)
    for (int j = 0; j < 8; j += 2 * step)
      lanes[j] += lanes[j + step];
  return lanes[0];
}

/* Normalizes the elements [begin, end) of a line. */
static CLEAVE_APART void
layer_norm_f32_line (
    const CleaveLayerNormF32 *p, const LayerNormLine *line, int32_t begin, int32_t end, float *y)
{
  const float first = line->x[0];
  const float mean = (float) ((double) first + layer_norm_f32_sum (line, first, 0) / line->n);
  const double variance = layer_norm_f32_sum (line, mean, 1) / line->n;
  const float inverse = (float) (1 / sqrt (variance + p->epsilon));

  for (int32_t i = begin; i < end; i++)
    {
      const float value = (line->x[i * line->step] - mean) * inverse;
      const float scaled = value * p->scales[i];

      *y = scaled + (p->offsets == NULL ? 0 : p->offsets[i]);
      y += line->step;
    }
}

void
cleave_layer_norm_f32 (const CleaveCall *call)
{
  const CleaveLayerNormF32 *p = call->params;
  const CleaveRows *x = &call->x[0];
  const float *from = (const float *) cleave_row (x, call->row);
  float *y = (float *) (void *) call->y;
  LayerNormLine line;

  line.n = p->n;
  if (p->n_columns > 1)
    {
      line.step = p->channels;
      for (int32_t c = 0; c < p->channels; c++)
        {
          line.x = from + c;
          layer_norm_f32_line (p, &line, call->begin, call->end, y + c);
        }
      return;
    }
  line.step = 1;
  for (int32_t column = call->begin; column < call->end; column++)
    {
      line.x = from + (column - x->begin) * p->channels;
      layer_norm_f32_line (p, &line, 0, p->n, y);
      y += p->channels;
    }
}
