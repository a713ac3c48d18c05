/* SPDX-License-Identifier: 0BSD */

/* Copies elements of an operand: for Pad, Slice, Tile, Expand, and Resize to nearest neighbors. */

#include <string.h>

#include "cleave-kernels.h"

/* Returns the index in the operand that index i of the result copies. Returns a negative number if
 * the result gets the bytes `fill` instead. */
static int32_t
move_index (const CleaveAxis *axis, int32_t i)
{
  const int32_t at = axis->at != NULL ? axis->at[i] : i + axis->shift;

  return at < axis->extent ? at : -1;
}

static void
move_fill (const CleaveMove *p, unsigned char *y, int32_t n)
{
  for (; n > 0; n--)
    {
      memcpy (y, p->fill, (size_t) p->size);
      y += p->size;
    }
}

/* Copies the channels of a pixel. */
static void
move_pixel (const CleaveMove *p, const unsigned char *x, unsigned char *y)
{
  const CleaveAxis *axis = &p->axes[2];

  if (axis->at == NULL && axis->shift == 0 && axis->extent >= p->channels)
    {
      memcpy (y, x, (size_t) (p->channels * p->size));
      return;
    }
  for (int32_t c = 0; c < p->channels; c++)
    {
      const int32_t at = move_index (axis, c);

      memcpy (y, at < 0 ? p->fill : x + at * p->size, (size_t) p->size);
      y += p->size;
    }
}

void
cleave_move (const CleaveCall *call)
{
  const CleaveMove *p = call->params;
  const CleaveRows *x = &call->x[0];
  const int32_t row = move_index (&p->axes[0], call->row);
  unsigned char *y = call->y;

  for (int32_t column = call->begin; column < call->end; column++)
    {
      const int32_t at = row < 0 ? -1 : move_index (&p->axes[1], column);

      if (at < 0)
        move_fill (p, y, p->channels);
      else
        move_pixel (p,
                    (const unsigned char *) cleave_row (x, row) +
                        (at - x->begin) * p->axes[2].extent * p->size,
                    y);
      y += p->channels * p->size;
    }
}
