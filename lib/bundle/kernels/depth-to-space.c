/* SPDX-License-Identifier: 0BSD */

/* Copies blocks of channels to blocks of rows and columns. */

#include <string.h>

#include "cleave-kernels.h"

void
cleave_depth_to_space (const CleaveCall *call)
{
  const CleaveBlocks *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t n = p->block * p->block;
  const int32_t row = call->row / p->block, below = call->row % p->block;
  int32_t column = call->begin / p->block, right = call->begin % p->block;
  unsigned char *y = call->y;

  for (int32_t i = call->begin; i < call->end; i++)
    {
      const unsigned char *pixel = (const unsigned char *) cleave_row (x, row) +
                                   (column - x->begin) * n * p->channels * p->size;
      const int32_t place = below * p->block + right;

      for (int32_t c = 0; c < p->channels; c++)
        {
          const int32_t at = p->is_columns_first ? place * p->channels + c : c * n + place;

          memcpy (y, pixel + at * p->size, (size_t) p->size);
          y += p->size;
        }
      if (++right == p->block)
        {
          right = 0;
          column++;
        }
    }
}
