/* SPDX-License-Identifier: 0BSD */

/* Copies one part into a joined value. A part that is computed at run time is operand 0. The next
 * operand is the joined value with all earlier parts; the first part has no such operand. */

#include <string.h>

#include "cleave-kernels.h"

/* Copies n bytes to `y`. `y` may begin before `from` and overlap it. */
static void
join_copy (unsigned char *y, const unsigned char *from, size_t n)
{
  while (n > 0)
    {
      const size_t gap = (uintptr_t) from - (uintptr_t) y; /* bytes from `y` to `from`; if `from` is
                                                            * before `y`, the difference wraps
                                                            * around and is huge */
      const size_t part = gap < n ? gap : n;

      memcpy (y, from, part);
      y += part;
      from += part;
      n -= part;
    }
}

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
      const CleaveRows *last = &call->x[p->constant == NULL];
      const unsigned char *before = (const unsigned char *) cleave_row (last, call->row) +
                                    (call->begin - last->begin) * p->pixel_bytes;

      if (before != y)
        join_copy (y, before, (size_t) ((call->end - call->begin) * p->pixel_bytes));
    }
  if (call->row < p->row || call->row >= p->row + p->rows)
    return;
  y += (begin - call->begin) * p->pixel_bytes + p->offset;
  for (int32_t column = begin; column < end; column++)
    {
      const int32_t row = call->row - p->row, at = column - p->column;
      const unsigned char *part =
          p->constant != NULL
              ? (const unsigned char *) p->constant + (row * p->columns + at) * p->bytes
              : (const unsigned char *) cleave_row (x, row) + (at - x->begin) * p->bytes;

      memcpy (y, part, (size_t) p->bytes);
      y += p->pixel_bytes;
    }
}
