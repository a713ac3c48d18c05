/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks of attributes, and the maps of a softmax, for the ops of TensorFlow Lite. */

#include "tflite.h"

gboolean
cleave_tflite_check (const char *name, gint64 value, gint64 least, gint64 most, GError **error)
{
  if (value >= least && value <= most)
    return TRUE;
  return cleave_fail (error, CLEAVE_ERROR_ATTRIBUTE,
                      "%s is %" G_GINT64_FORMAT ", but must be %" G_GINT64_FORMAT
                      " to %" G_GINT64_FORMAT,
                      name, value, least, most);
}

gboolean
cleave_tflite_check_zero (const char *name, CleaveElement element, gint64 value, GError **error)
{
  return cleave_tflite_check (name, value, cleave_tflite_lowest (element),
                              cleave_tflite_highest (element), error);
}

gboolean
cleave_tflite_check_bounds (CleaveElement element, gint64 min, gint64 max, GError **error)
{
  return cleave_tflite_check_zero ("max", element, max, error) &&
         cleave_tflite_check ("min", min, cleave_tflite_lowest (element), max, error);
}

gboolean
cleave_tflite_check_factor (gint64 multiplier, gint64 shift, GError **error)
{
  return cleave_tflite_check ("multiplier", multiplier, G_MININT32, G_MAXINT32, error) &&
         cleave_tflite_check ("shift", shift, -31, 31, error);
}

gboolean
cleave_tflite_check_table (
    const CleaveCall *call, guint operand, CleaveElement element, gint64 n, GError **error)
{
  const CleaveShape *shape = &call->operands[operand].shape;

  if (!cleave_call_check_element (call, operand, CLEAVE_ELEMENT_BIT (element), error) ||
      !cleave_call_check_rank (call, operand, 1, 1, error))
    return FALSE;
  return shape->dim[0] == n ||
         cleave_fail (error, CLEAVE_ERROR_SHAPE,
                      "%s has %" G_GINT64_FORMAT " elements, but must have %" G_GINT64_FORMAT,
                      cleave_op_operand_name (call->op, operand), shape->dim[0], n);
}

void
cleave_tflite_softmax_maps (const CleaveCall *call, guint operand, CleaveDimMap *map)
{
  const CleaveShape *own = &call->operands[operand].shape;
  guint last = own->rank - 1;

  if (operand == 0)
    cleave_maps_same (call, operand, map);
  map[last] = cleave_dim_map_whole (own->dim[last]);
}

gboolean
cleave_tflite_softmax_narrow (const CleaveCall *call,
                              const CleaveChunk *chunk,
                              gpointer attrs,
                              GString *why)
{
  const CleaveShape *x = &call->operands[0].shape;
  guint last = x->rank - 1;
  CleaveSpan span = chunk->range.dim[last];

  if (span.begin == 0 && span.end == x->dim[last])
    return TRUE;
  return cleave_refuse (why, "dimension %u must be whole", last);
}
