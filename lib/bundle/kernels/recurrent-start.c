/* SPDX-License-Identifier: 0BSD */

/* Joins the initial states h and c of each column of a recurrent layer. */

#include <string.h>

#include "cleave-kernels.h"

void
cleave_recurrent_start (const CleaveCall *call)
{
  const CleaveRecurrentStart *p = call->params;
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    for (int32_t i = 0, operand = 0; i < 2; i++)
      {
        const size_t n = (size_t) p->bytes[i];

        if (p->is_operand[i])
          {
            const CleaveRows *x = &call->x[operand++];

            memcpy (y, (const unsigned char *) cleave_row (x, 0) + (size_t) (column - x->begin) * n,
                    n);
          }
        else if (p->constants[i] != NULL)
          memcpy (y, (const unsigned char *) p->constants[i] + (size_t) column * n, n);
        else
          memset (y, 0, n);
        y += n;
      }
}
