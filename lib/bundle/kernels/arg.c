/* SPDX-License-Identifier: 0BSD */

/* The index of the largest or smallest channel of a pixel, as int64. If a channel is NaN, the
 * result is the index of a NaN. */

#include "elements.h"

/* Returns whether element `a` is better (larger or smaller) than element `b`. If both are equal,
 * returns p->is_last. */
static int
arg_is_better (const CleaveArg *p, const unsigned char *a, const unsigned char *b)
{
  if (p->type == CLEAVE_F32)
    {
      const float x = element_load_float (a), best = element_load_float (b);

      if (cleave_is_nan (x) || cleave_is_nan (best))
        return cleave_is_nan (x) && (!cleave_is_nan (best) || p->is_last);
      if (p->is_last && x >= best && x <= best)
        return 1;
      return p->is_min ? x < best : x > best;
    }
  else
    {
      const int64_t x = element_load (a, p->type), best = element_load (b, p->type);

      return (p->is_min ? x < best : x > best) || (p->is_last && x == best);
    }
}

void
cleave_arg (const CleaveCall *call)
{
  const CleaveArg *p = call->params;
  const int32_t size = element_size (p->type);
  const unsigned char *pixel = (const unsigned char *) cleave_pixels (call, p->channels * size);
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      int64_t found = 0;

      for (int32_t c = 1; c < p->channels; c++)
        if (arg_is_better (p, pixel + c * size, pixel + found * size))
          found = c;
      memcpy (y, &found, sizeof found);
      y += sizeof found;
      pixel += p->channels * size;
    }
}
