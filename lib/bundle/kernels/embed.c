/* SPDX-License-Identifier: 0BSD */

/* Copies rows of a constant table; the operand has their indices. An index below 0 counts from the
 * end. An index out of range is clamped. */

#include "cleave-kernels.h"

void
cleave_embed (const CleaveCall *call)
{
  const CleaveEmbed *p = call->params;
  const unsigned char *indices = (const unsigned char *) cleave_row (&call->x[0], 0);
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const int32_t at = (call->row * p->columns + column) * p->index_bytes;
      int64_t index;

      if (p->index_bytes == 8)
        memcpy (&index, indices + at, 8);
      else
        {
          int32_t narrow;

          memcpy (&narrow, indices + at, 4);
          index = narrow;
        }
      index += index < 0 ? p->n : 0;
      index = index < 0 ? 0 : index >= p->n ? p->n - 1 : index;
      memcpy (y, (const unsigned char *) p->table + (size_t) index * (size_t) p->bytes,
              (size_t) p->bytes);
      y += p->bytes;
    }
}
