/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts comparisons of integers with a scale. A table converts operands of int8 to int32: the
 * real values times 256, rounded. Operands of int16 must have the same scale, and are compared as
 * they are. */

#include "convert.h"

#include "../ops/tflite.h"

#define TABLE_SIZE 256

/* Sets `a` and `b` to the two operands of int16. Fails if the operands have different scales. */
static gboolean
find_words (CleaveTfliteImport *import, CleaveResult **a, CleaveResult **b, GError **error)
{
  CleaveTfliteScale x, y;

  if (!cleave_tflite_read_scale (cleave_tflite_input (import, 0), &x, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, 1), &y, error))
    return FALSE;
  if (x.scale != y.scale || x.zero != y.zero)
    return cleave_tflite_refuse (error,
                                 "the operands have the scales %g and %g and the zero points %d "
                                 "and %d; of int16 they must be equal",
                                 (double) x.scale, (double) y.scale, x.zero, y.zero);
  return cleave_tflite_find_result (import, 0, a, error) &&
         cleave_tflite_find_result (import, 1, b, error);
}

static gboolean
add_compared (CleaveTfliteImport *import, guint i, CleaveResult **y, GError **error)
{
  CleaveTfliteScale scale;
  CleaveTfliteFactor factor;
  gint32 table[TABLE_SIZE];
  CleaveResult *x;

  if (cleave_tflite_input_type (import, i)->element != CLEAVE_INT8)
    return cleave_tflite_refuse (error,
                                 "the only integer types with a scale that are supported are int8 "
                                 "and int16, the same for both operands");
  if (!cleave_tflite_read_scale (cleave_tflite_input (import, i), &scale, error) ||
      !cleave_tflite_read_factor ((double) scale.scale, &factor, error) ||
      !cleave_tflite_find_result (import, i, &x, error))
    return FALSE;
  if (factor.shift > 0)
    return cleave_tflite_refuse (error, "the scale %g of input %u is 1 or more",
                                 (double) scale.scale, i);
  for (gint v = 0; v < TABLE_SIZE; v++)
    table[v] =
        cleave_fixed_multiply ((v + G_MININT8 - scale.zero) * 256, factor.multiplier, factor.shift);
  *y = cleave_tflite_add_binary (import, "TfliteLookup", x,
                                 cleave_tflite_add_data (import, CLEAVE_INT32, TABLE_SIZE, table),
                                 error);
  return *y != NULL;
}

gboolean
cleave_tflite_convert_integer_comparison (CleaveTfliteImport *import, GError **error)
{
  static const struct
  {
    guint code;
    const char *op;
  } ops[] = { { 58, "Less" },        { 61, "Greater" }, { 62, "GreaterOrEqual" },
              { 63, "LessOrEqual" }, { 71, "Equal" },   { 72, "Equal" } };
  const guint not_equal = 72;
  gboolean is_16 = cleave_tflite_input_type (import, 0)->element == CLEAVE_INT16 &&
                   cleave_tflite_input_type (import, 1)->element == CLEAVE_INT16;
  CleaveResult *a, *b, *y;
  guint i = 0;

  while (ops[i].code != import->op->code)
    i++;
  if (is_16 ? !find_words (import, &a, &b, error)
            : !add_compared (import, 0, &a, error) || !add_compared (import, 1, &b, error))
    return FALSE;
  y = cleave_tflite_add_binary (import, ops[i].op, a, b, error);
  if (import->op->code == not_equal)
    y = cleave_tflite_add_unary (import, "Not", y, NULL, error);
  return cleave_tflite_set (import, 0, y, error);
}
