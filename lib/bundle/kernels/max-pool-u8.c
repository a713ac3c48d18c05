/* SPDX-License-Identifier: 0BSD */

#include "cleave-kernels.h"

/* Returns the maximum of a window. `first` is the offset of its first tap from the begin of a row.
 */
static uint8_t
max_pool_u8_max (const CleaveCall *call, CleaveTaps rows, CleaveTaps columns, int32_t first)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t step = slide->dilation[1] * p->channels;
  int32_t row = call->row * slide->stride[0] - slide->pad[0] + rows.begin * slide->dilation[0];
  uint8_t max = 0;

  for (int32_t k = rows.begin; k < rows.end && columns.begin < columns.end; k++)
    {
      const uint8_t *x = (const uint8_t *) cleave_row (&call->x[0], row) + first;

      for (int32_t tap = columns.begin; tap < columns.end; tap++)
        {
          if (*x > max)
            max = *x;
          x += step;
        }
      row += slide->dilation[0];
    }
  return max;
}

void
cleave_max_pool_u8 (const CleaveCall *call)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveTaps rows = cleave_taps (slide, 0, call->row * slide->stride[0] - slide->pad[0]);
  uint8_t *y = (uint8_t *) call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const int32_t first = column * slide->stride[1] - slide->pad[1];
      const CleaveTaps columns = cleave_taps (slide, 1, first);
      const int32_t begin = first + columns.begin * slide->dilation[1] - call->x[0].begin;

      for (int32_t c = 0; c < p->channels; c++)
        *y++ = max_pool_u8_max (call, rows, columns, begin * p->channels + c);
    }
}
