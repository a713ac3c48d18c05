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

/* Which row of the operand is the first that row `i` of the result is made of. */
static gint64
first_read (const CleaveCall *call, guint operand, guint rows, gint64 i)
{
  CleaveRange chunk = cleave_range_whole (&call->results[0].shape);

  chunk.dim[rows] = (CleaveSpan){ i, i + 1 };
  return cleave_call_slice (call, operand, &chunk).range.dim[rows].begin;
}

/* The last row of the result, from `i` on, that begins to read where `i` does: rows move on. */
static gint64
find_last_alike (const CleaveCall *call, guint operand, guint rows, gint64 i)
{
  gint64 begin = first_read (call, operand, rows, i), end = call->results[0].shape.dim[rows];

  while (end - i > 1)
    {
      gint64 middle = i + (end - i) / 2;

      if (first_read (call, operand, rows, middle) == begin)
        i = middle;
      else
        end = middle;
    }
  return i;
}

/* The first windows begin at the border, the next ones a stride further each, the last ones maybe
 * beyond the other border.  So the lead of the result over its operand is largest at the last row
 * that begins at the border, at the one after it, or at the last row.  Only these are asked: a
 * value of a small file may have 10^11 rows. */
gboolean
cleave_call_overlay (const CleaveCall *call, guint operand, guint *rows, gint64 *shift)
{
  const CleaveTensorType *x = &call->operands[operand], *y = &call->results[0];
  gint64 x_size = (gint64) cleave_element_size (x->element), n_bytes = 0;
  Turns turns = find_turns (call);
  gint64 ahead = turns == TURNS_AFTER_READING ? 1 : 0, x_row, y_row, last, at[3];

  if (turns == TURNS_NONE || call->n_results != 1 || !cleave_call_has (call, operand) ||
      !find_rows (call, operand, turns, rows))
    return FALSE;
  x_row = cleave_tensor_type_n_bytes (x) / x->shape.dim[*rows];
  y_row = cleave_tensor_type_n_bytes (y) / y->shape.dim[*rows];
  last = y->shape.dim[*rows] - 1;
  at[0] = find_last_alike (call, operand, *rows, MIN (ahead, last));
  at[1] = MIN (at[0] + 1, last);
  at[2] = last;
  for (guint i = 0; i < G_N_ELEMENTS (at); i++)
    n_bytes = MAX (n_bytes,
                   (at[i] + 1 - ahead) * y_row - first_read (call, operand, *rows, at[i]) * x_row);
  *shift = (n_bytes + x_size - 1) / x_size;
  return TRUE;
}
