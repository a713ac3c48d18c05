/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts CONCATENATION. An operand of integers must have the scale of the result. Exception: if
 * an operand of uint8 has another scale, the import converts the operand. */

#include <math.h>

#include "convert.h"

/* Sets `part` to operand `i` of a CONCATENATION, in the scale of the result. If an operand of uint8
 * has another scale, a table converts the operand. Entry x is x * ratio - zero * ratio, rounded to
 * the nearest integer, ties away from zero, plus the zero point of the result. `ratio` is the scale
 * of the operand divided by the scale of the result. The products and their difference are float32.
 * Source: ConcatenationWithScaling of reference/concatenation.h. */
static gboolean
find_part (CleaveTfliteImport *import, guint i, CleaveResult **part, GError **error)
{
  const CleaveTfliteTensor *x = cleave_tflite_input (import, i);
  CleaveTfliteScale from, to;
  gint8 table[256];
  float ratio, bias;

  if (x == NULL || !x->is_unsigned || !cleave_tflite_output (import, 0)->is_unsigned)
    return cleave_tflite_check_same_scale (import, i, error) &&
           cleave_tflite_find_result (import, i, part, error);
  if (!cleave_tflite_read_scale (x, &from, error) ||
      !cleave_tflite_read_scale (cleave_tflite_output (import, 0), &to, error) ||
      !cleave_tflite_find_result (import, i, part, error))
    return FALSE;
  if (from.scale == to.scale && from.zero == to.zero)
    return TRUE;
  ratio = from.scale * (1.0f / to.scale);
  bias = -(float) (from.zero + 128) * ratio; /* `zero` is the zero point of int8; zero + 128 is the
                                              * zero point of uint8 */
  for (gint k = 0; k < 256; k++)
    {
      float value = CLAMP (roundf ((float) k * ratio + bias), -0x1p20f, 0x1p20f);

      table[k] = (gint8) CLAMP ((gint) value + to.zero, G_MININT8, G_MAXINT8);
    }
  *part =
      cleave_tflite_add_binary (import, "TfliteLookup", *part,
                                cleave_tflite_add_data (import, CLEAVE_INT8, 256, table), error);
  return *part != NULL;
}

gboolean
cleave_tflite_convert_concatenation (CleaveTfliteImport *import, GError **error)
{
  guint n = import->op->inputs.n;
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, n);
  CleaveAxisAttrs attrs;
  CleaveResult *y;

  if (!cleave_tflite_option (import, 0, 4, 0, &attrs.axis, error))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!find_part (import, i, &operands[i], error))
      return FALSE;
  y = cleave_tflite_add (import, "Concat", operands, n, &attrs, error);
  if (!cleave_tflite_is_quantized (cleave_tflite_output (import, 0)))
    y = cleave_tflite_add_activation (import, 1, y, error);
  return cleave_tflite_set (import, 0, y, error);
}
