/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks, loads and stores scales, zero points and quantized values, and adds products of bytes. */

#include "quantized.h"

#include <math.h>
#include <string.h>

#include "reference.h"

gboolean
cleave_quantized_check (
    const CleaveCall *call, guint operand, guint elements, gint64 extent, GError **error)
{
  const CleaveShape *shape = &call->operands[operand].shape;

  if (!cleave_call_has (call, operand))
    return TRUE;
  if (!cleave_call_check_element (call, operand, elements, error) ||
      !cleave_call_check_rank (call, operand, 0, 1, error))
    return FALSE;
  if (shape->rank == 0 || shape->dim[0] == 1 || shape->dim[0] == extent)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_SHAPE,
                      "%s has %" G_GINT64_FORMAT " elements, but must have 1 or %" G_GINT64_FORMAT,
                      cleave_op_operand_name (call->op, operand), shape->dim[0], extent);
}

void
cleave_quantized_maps (const CleaveCall *call, guint operand, guint axis, CleaveDimMap *map)
{
  const CleaveShape *shape = &call->operands[operand].shape;

  if (shape->rank == 1)
    map[0] = shape->dim[0] == 1 ? cleave_dim_map_whole (1) : cleave_dim_map_same (axis);
}

guint
cleave_quantized_find (const CleaveCall *call, const char *name)
{
  for (guint i = 0; call->op->operands[i] != NULL; i++)
    if (strcmp (call->op->operands[i], name) == 0)
      return i;
  return G_MAXUINT;
}

double
cleave_quantized_load (const CleaveCall *call,
                       const CleaveView *operands,
                       guint operand,
                       gint64 index)
{
  const CleaveView *view;

  if (!cleave_call_has (call, operand))
    return 0;
  view = &operands[operand];
  if (view->type.shape.rank == 0 || view->type.shape.dim[0] == 1)
    index = 0;
  return cleave_real_load (view->type.element, cleave_view_at (view, &index));
}

/* Stores a value as quantized.h describes. If the value is NaN, stores the zero point. */
void
cleave_quantized_store (CleaveElement element, gpointer at, float value, double zero_point)
{
  double whole = isnan (value) ? zero_point : rint ((double) value) + zero_point;

  if (element == CLEAVE_INT8)
    *(gint8 *) at = (gint8) CLAMP (whole, G_MININT8, G_MAXINT8);
  else if (element == CLEAVE_INT16)
    *(gint16 *) at = (gint16) CLAMP (whole, G_MININT16, G_MAXINT16);
  else if (element == CLEAVE_UINT16)
    *(guint16 *) at = (guint16) CLAMP (whole, 0, G_MAXUINT16);
  else
    *(guint8 *) at = (guint8) CLAMP (whole, 0, G_MAXUINT8);
}

/* Defines the function `name`, which returns the sum of n products of an element of type X and one
 * of type W. There is one function for each pair of types, so that the compiler can vectorize the
 * loop. */
#define DOT(name, X, W)                                                                            \
  static guint32 name (const CleaveByteDot *dot, gint64 n)                                         \
  {                                                                                                \
    const X *x = dot->x;                                                                           \
    const W *w = dot->w;                                                                           \
    guint32 sum = 0;                                                                               \
                                                                                                   \
    for (gint64 i = 0; i < n; i++)                                                                 \
      sum +=                                                                                       \
          (guint32) ((x[i * dot->x_stride] - dot->x_zero) * (w[i * dot->w_stride] - dot->w_zero)); \
    return sum;                                                                                    \
  }

DOT (dot_signed, gint8, gint8)
DOT (dot_signed_unsigned, gint8, guint8)
DOT (dot_unsigned_signed, guint8, gint8)
DOT (dot_unsigned, guint8, guint8)

guint32
cleave_byte_dot (CleaveElement x, CleaveElement w, const CleaveByteDot *dot, gint64 n)
{
  if (x == CLEAVE_INT8)
    return w == CLEAVE_INT8 ? dot_signed (dot, n) : dot_signed_unsigned (dot, n);
  return w == CLEAVE_INT8 ? dot_unsigned_signed (dot, n) : dot_unsigned (dot, n);
}
