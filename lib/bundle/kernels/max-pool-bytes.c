/* SPDX-License-Identifier: 0BSD */

/* Maxima of int8 and of uint8. Inverts the sign bit of int8, so that the order of unsigned bytes is
 * the order of the elements. */

#include "cleave-kernels.h"

/* Returns the maximum of a window. `first` is the offset of the window's first tap from the begin
 * of a row. */
static unsigned
max_pool_find (
    const CleaveCall *call, CleaveTaps rows, CleaveTaps columns, int32_t first, unsigned sign)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const int32_t step = slide->dilation[1] * p->channels;
  int32_t row = call->row * slide->stride[0] - slide->pad[0] + rows.begin * slide->dilation[0];
  unsigned max = 0;

  for (int32_t k = rows.begin; k < rows.end && columns.begin < columns.end; k++)
    {
      const unsigned char *x = (const unsigned char *) cleave_row (&call->x[0], row) + first;

      for (int32_t tap = columns.begin; tap < columns.end; tap++)
        {
          if ((*x ^ sign) > max)
            max = *x ^ sign;
          x += step;
        }
      row += slide->dilation[0];
    }
  return max ^ sign;
}

static void
max_pool_row (const CleaveCall *call, unsigned sign)
{
  const CleavePool *p = call->params;
  const CleaveSlide *slide = &p->slide;
  const CleaveTaps rows = cleave_taps (slide, 0, call->row * slide->stride[0] - slide->pad[0]);
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const int32_t first = column * slide->stride[1] - slide->pad[1];
      const CleaveTaps columns = cleave_taps (slide, 1, first);
      const int32_t begin = first + columns.begin * slide->dilation[1] - call->x[0].begin;

      for (int32_t c = 0; c < p->channels; c++)
        *y++ = (unsigned char) max_pool_find (call, rows, columns, begin * p->channels + c, sign);
    }
}

void
cleave_max_pool_s8 (const CleaveCall *call)
{
  max_pool_row (call, 0x80);
}

void
cleave_max_pool_u8 (const CleaveCall *call)
{
  max_pool_row (call, 0);
}
