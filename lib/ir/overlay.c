/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "overlay.h"

#include <string.h>

typedef enum {
  TURNS_NONE,
  TURNS_WHILE_READING, /* a row is written while what it is made of is read */
  TURNS_AFTER_READING  /* some rows are read before any that is made of them is written */
} Turns;

/* How the kernels take the rows of the result, of which they read what the map of a row says; where
 * another runs in their place, the runtime sees to it that the bits are the same.  Those of bytes
 * and of 16-bit floats lay rows out in scratch, and a group of nodes, which has no kernel of its
 * own, has what is in between there. */
static Turns
find_turns (const CleaveCall *call)
{
  switch (call->op->kernel == NULL ? CLEAVE_KERNEL_REFERENCE : call->op->kernel (call))
    {
    case CLEAVE_KERNEL_DEPTHWISE:
      return call->op->compute == NULL ? TURNS_AFTER_READING : TURNS_WHILE_READING;
    case CLEAVE_KERNEL_UPCAST_DEPTHWISE:
    case CLEAVE_KERNEL_INTEGER_DEPTHWISE:
      return TURNS_AFTER_READING;
    default:
      return TURNS_NONE;
    }
}

/* The dimension of rows of one image, or of planes of a volume: the first that is neither images
 * nor channels, unless it is all there is.  The pixels of a row are written in any order. */
static gboolean
find_rows (const CleaveCall *call, guint operand, Turns turns, guint *rows)
{
  const CleaveShape *x = &call->operands[operand].shape, *y = &call->results[0].shape;
  const char *letters = call->op->layout == NULL ? NULL : call->op->layout (call);
  const char *images = letters == NULL ? NULL : strchr (letters, 'N');

  if (images == NULL || x->rank != y->rank || strlen (letters) != y->rank ||
      x->dim[images - letters] != 1 || (turns == TURNS_WHILE_READING && y->rank < 4))
    return FALSE;
  for (*rows = 0; *rows < y->rank; ++*rows)
    if (letters[*rows] != 'N' && letters[*rows] != 'C')
      return y->dim[*rows] > 0 && x->dim[*rows] > 0;
  return FALSE;
}

gboolean
cleave_call_overlay (const CleaveCall *call, guint operand, guint *rows, gint64 *shift)
{
  const CleaveTensorType *x = &call->operands[operand], *y = &call->results[0];
  gint64 x_size = (gint64) cleave_element_size (x->element), x_row, y_row, n_bytes = 0;
  CleaveRange chunk = cleave_range_whole (&y->shape);
  Turns turns = find_turns (call);
  gint64 ahead = turns == TURNS_AFTER_READING ? 1 : 0;

  if (turns == TURNS_NONE || call->n_results != 1 || !cleave_call_has (call, operand) ||
      !find_rows (call, operand, turns, rows))
    return FALSE;
  x_row = cleave_tensor_type_n_bytes (x) / x->shape.dim[*rows];
  y_row = cleave_tensor_type_n_bytes (y) / y->shape.dim[*rows];
  for (gint64 i = ahead; i < y->shape.dim[*rows]; i++)
    {
      CleaveSlice slice;

      chunk.dim[*rows] = (CleaveSpan){ i, i + 1 };
      slice = cleave_call_slice (call, operand, &chunk);
      n_bytes = MAX (n_bytes, (i + 1 - ahead) * y_row - slice.range.dim[*rows].begin * x_row);
    }
  *shift = (n_bytes + x_size - 1) / x_size;
  return TRUE;
}
