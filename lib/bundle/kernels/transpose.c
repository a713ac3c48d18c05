/* SPDX-License-Identifier: 0BSD */

/* Permutes rows, columns and channels. */

#include <string.h>

#include "cleave-kernels.h"

void
cleave_transpose (const CleaveCall *call)
{
  const CleaveTranspose *p = call->params;
  const CleaveRows *x = &call->x[0];
  unsigned char *y = call->y;
  int32_t at[4] = { 0, 0, 0, 0 };

  at[0] = call->row;
  for (at[1] = call->begin; at[1] < call->end; at[1]++)
    for (at[2] = 0; at[2] < p->y_channels; at[2]++)
      {
        const int32_t column = at[p->from[1]] - x->begin;

        memcpy (y,
                (const unsigned char *) cleave_row (x, at[p->from[0]]) +
                    (column * p->channels + at[p->from[2]]) * p->size,
                p->size);
        y += p->size;
      }
}
