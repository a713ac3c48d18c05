/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Decides whether a result can be an overlay of its operand, and computes the distance (overlay.h).
 * Decision and distance follow from the order in which the kernel writes rows. */

#include "overlay.h"

#include <string.h>

/* The order in which a kernel reads the operand and writes the rows of the result. */
typedef enum {
  ROW_ORDER_NONE,          /* the kernel writes the rows in no fixed order */
  ROW_ORDER_WHILE_READING, /* row by row; the kernel writes a row while it reads the operand rows
                            * that the row needs */
  ROW_ORDER_AFTER_READING  /* row by row; the kernel first reads all operand rows that a row needs,
                            * then writes the row */
} RowOrder;

/* Returns the order in which kernels of the call's family read and write rows. The kernels for
 * bytes and for 16-bit floats copy operand rows to scratch before they write. The kernel of a
 * quantized group, whose op has no `compute`, also copies operand rows to scratch. If the runtime
 * runs a kernel whose order differs from the returned order, the step computes the result in
 * scratch memory and then copies the result. */
static RowOrder
find_row_order (const CleaveCall *call)
{
  switch (call->op->kernel == NULL ? CLEAVE_KERNEL_REFERENCE : call->op->kernel (call))
    {
    case CLEAVE_KERNEL_DEPTHWISE:
      return call->op->compute == NULL ? ROW_ORDER_AFTER_READING : ROW_ORDER_WHILE_READING;
    case CLEAVE_KERNEL_UPCAST_DEPTHWISE:
    case CLEAVE_KERNEL_INTEGER_DEPTHWISE:
      return ROW_ORDER_AFTER_READING;
    default:
      return ROW_ORDER_NONE;
    }
}

/* Sets `rows` to the dimension of the rows of an image, or of the planes of a volume: the first
 * dimension that is neither N nor C. Returns FALSE for a batch of several images. Also returns
 * FALSE for a value with one spatial dimension if the order is ROW_ORDER_WHILE_READING. The
 * elements of this dimension would be the rows, but the kernel does not write them one after the
 * other. */
static gboolean
find_rows (const CleaveCall *call, guint operand, RowOrder order, guint *rows)
{
  const CleaveShape *x = &call->operands[operand].shape, *y = &call->results[0].shape;
  const char *letters = call->op->layout == NULL ? NULL : call->op->layout (call);
  const char *images = letters == NULL ? NULL : strchr (letters, 'N');

  if (images == NULL || x->rank != y->rank || strlen (letters) != y->rank ||
      x->dim[images - letters] != 1 || (order == ROW_ORDER_WHILE_READING && y->rank < 4))
    return FALSE;
  for (*rows = 0; *rows < y->rank; ++*rows)
    if (letters[*rows] != 'N' && letters[*rows] != 'C')
      return y->dim[*rows] > 0 && x->dim[*rows] > 0;
  return FALSE;
}

/* Returns the first row of the operand that row `i` of the result needs; `rows` is the index of the
 * row dimension.
 */
static gint64
first_read (const CleaveCall *call, guint operand, guint rows, gint64 i)
{
  CleaveRange chunk = cleave_range_whole (&call->results[0].shape);

  chunk.dim[rows] = (CleaveSpan){ i, i + 1 };
  return cleave_call_slice (call, operand, &chunk).range.dim[rows].begin;
}

/* Returns the last row of the result that has the same first operand row as row `i`. Uses binary
 * search: windows only move forward. */
static gint64
find_last_with_same_begin (const CleaveCall *call, guint operand, guint rows, gint64 i)
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

/* Computes `shift` (overlay.h), which must be at least the lead of each row of the result. The lead
 * is the end of the bytes written so far, minus the begin of the operand rows that the row reads.
 * The windows of the first rows begin at the first operand row. Each further window begins one
 * stride later, and the last windows may begin behind the last operand row. So the lead is largest
 * at one of three rows: the last row whose window begins at the first operand row, the row after
 * this row, or the last row. Only these three rows are tested: a value in a small file can have
 * 10^11 rows. */
gboolean
cleave_call_overlay (const CleaveCall *call, guint operand, guint *rows, gint64 *shift)
{
  const CleaveTensorType *x = &call->operands[operand], *y = &call->results[0];
  gint64 x_size = (gint64) cleave_element_size (x->element), n_bytes = 0;
  RowOrder order = find_row_order (call);
  gint64 ahead = order == ROW_ORDER_AFTER_READING ? 1 : 0, x_row, y_row, last, at[3];

  if (order == ROW_ORDER_NONE || call->n_results != 1 || !cleave_call_has (call, operand) ||
      !find_rows (call, operand, order, rows))
    return FALSE;
  x_row = cleave_tensor_type_n_bytes (x) / x->shape.dim[*rows];
  y_row = cleave_tensor_type_n_bytes (y) / y->shape.dim[*rows];
  last = y->shape.dim[*rows] - 1;
  at[0] = find_last_with_same_begin (call, operand, *rows, MIN (ahead, last));
  at[1] = MIN (at[0] + 1, last);
  at[2] = last;
  for (guint i = 0; i < G_N_ELEMENTS (at); i++)
    n_bytes = MAX (n_bytes,
                   (at[i] + 1 - ahead) * y_row - first_read (call, operand, *rows, at[i]) * x_row);
  *shift = (n_bytes + x_size - 1) / x_size;
  return TRUE;
}
