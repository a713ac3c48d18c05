/* SPDX-License-Identifier: 0BSD */

/* Copies one part of a joined value. Operand 1 has the parts before this one; the first part has no
 * operand 1. */

#include <string.h>

#include "cleave-kernels.h"

void
cleave_join (const CleaveCall *call)
{
  const CleaveJoin *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t begin = call->begin > p->column ? call->begin : p->column;
  const int32_t end = call->end < p->column + p->columns ? call->end : p->column + p->columns;
  unsigned char *y = call->y;

  if (!p->is_first)
    {
      const unsigned char *before = (const unsigned char *) cleave_row (&call->x[1], call->row) +
                                    (call->begin - call->x[1].begin) * p->pixel_bytes;

      if (before != y)
        memcpy (y, before, (size_t) ((call->end - call->begin) * p->pixel_bytes));
    }
  if (call->row < p->row || call->row >= p->row + p->rows)
    return;
  y += (begin - call->begin) * p->pixel_bytes + p->offset;
  for (int32_t column = begin; column < end; column++)
    {
      memcpy (y,
              (const unsigned char *) cleave_row (x, call->row - p->row) +
                  (column - p->column - x->begin) * p->bytes,
              (size_t) p->bytes);
      y += p->pixel_bytes;
    }
}
