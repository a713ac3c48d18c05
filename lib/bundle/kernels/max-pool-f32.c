/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns the maximum of a window. `first` is the offset of the window's first tap from the begin
 * of a row. */
static float
max_pool_f32_of (const CleaveCall *call, CleaveTaps rows, CleaveTaps columns, int32_t first)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t step = slide->dilation[1] * p->channels;
  int32_t row = call->row * slide->stride[0] - slide->pad[0] + rows.begin * slide->dilation[0];
  float max = -INFINITY;
  int32_t is_first = 1;

  for (int32_t k = rows.begin; k < rows.end && columns.begin < columns.end; k++)
    {
      const float *x = (const float *) cleave_row (&call->x[0], row) + first;

      for (int32_t tap = columns.begin; tap < columns.end; tap++)
        {
          if (is_first || *x > max || cleave_is_nan (*x))
            max = *x;
          is_first = 0;
          x += step;
        }
      row += slide->dilation[0];
    }
  return max;
}

void
cleave_max_pool_f32 (const CleaveCall *call)
{
  const CleavePoolF32 *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t row = call->row * slide->stride[0] - slide->pad[0];
  const CleaveTaps rows = cleave_taps (slide, 0, row);
  float *y = (float *) (void *) call->y;

  for (int32_t i = call->begin; i < call->end; i++)
    {
      const int32_t column = i * slide->stride[1] - slide->pad[1];
      const CleaveTaps columns = cleave_taps (slide, 1, column);
      const int32_t first =
          (column + columns.begin * slide->dilation[1] - call->x[0].begin) * p->channels;

      for (int32_t c = 0; c < p->channels; c++)
        *y++ = max_pool_f32_of (call, rows, columns, first + c);
    }
}
