/* SPDX-License-Identifier: 0BSD */

/* Copies the elements of an operand in another order. */

#include <string.h>

#include "cleave-kernels.h"

void
cleave_reorder (const CleaveCall *call)
{
  const CleaveReorder *p = call->params;
  int32_t at = (call->row * p->columns + call->begin) * p->channels, from = p->first;
  int32_t digits[CLEAVE_MAX_DIGITS];
  unsigned char *y = call->y;

  for (int32_t k = p->n_digits; k-- > 0;)
    {
      digits[k] = at % p->extents[k];
      from += digits[k] * p->steps[k];
      at /= p->extents[k];
    }
  for (int32_t i = (call->end - call->begin) * p->channels; i > 0; i--)
    {
      const CleaveRows *x = &call->x[0];
      const int32_t row = from / p->row_elements;
      const int32_t pixel = x->begin * (p->row_elements / p->x_columns);

      memcpy (y,
              (const unsigned char *) cleave_row (x, row) +
                  (from - row * p->row_elements - pixel) * p->size,
              (size_t) p->size);
      y += p->size;
      for (int32_t k = p->n_digits; k-- > 0;)
        {
          from += p->steps[k];
          if (++digits[k] < p->extents[k])
            break;
          from -= p->extents[k] * p->steps[k];
          digits[k] = 0;
        }
    }
}
