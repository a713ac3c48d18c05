/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts arithmetic operators that need several ops of ONNX. Their operands are floats, or
 * integers without a scale. */

#include "convert.h"

/* Converts ADD_N to a chain of Adds, in the order of the inputs. */
gboolean
cleave_tflite_convert_add_n (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *sum, *x;

  if (!cleave_tflite_find_result (import, 0, &sum, error))
    return FALSE;
  for (guint i = 1; i < import->op->inputs.n; i++)
    {
      if (!cleave_tflite_find_result (import, i, &x, error))
        return FALSE;
      sum = cleave_tflite_add_binary (import, "Add", sum, x, error);
    }
  return cleave_tflite_set (import, 0, sum, error);
}

static gboolean
find_both (CleaveTfliteImport *import, CleaveResult **a, CleaveResult **b, GError **error)
{
  return cleave_tflite_find_result (import, 0, a, error) &&
         cleave_tflite_find_result (import, 1, b, error);
}

static CleaveResult *
add_mod (
    CleaveTfliteImport *import, CleaveResult *a, CleaveResult *b, gboolean fmod, GError **error)
{
  CleaveModAttrs attrs = { fmod };

  return cleave_tflite_add (import, "Mod", (CleaveResult *[]){ a, b }, 2, &attrs, error);
}

/* Converts FLOOR_DIV, floor (a / b). For integers, computes (a - a mod b) / b, a division without
 * remainder. */
gboolean
cleave_tflite_convert_floor_div (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *a, *b, *y;

  if (!find_both (import, &a, &b, error))
    return FALSE;
  if (cleave_element_is_float (cleave_tflite_input_type (import, 0)->element))
    {
      y = cleave_tflite_add_binary (import, "Div", a, b, error);
      y = cleave_tflite_add_unary (import, "Floor", y, NULL, error);
      return cleave_tflite_set (import, 0, y, error);
    }
  y = add_mod (import, a, b, FALSE, error);
  y = cleave_tflite_add_binary (import, "Sub", a, y, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_binary (import, "Div", y, b, error),
                            error);
}

/* Converts FLOOR_MOD, whose remainder has the sign of b. For floats, the remainder r of fmod has
 * the sign of a, so b is added if r * b is negative. */
gboolean
cleave_tflite_convert_floor_mod (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *a, *b, *rest, *other, *zero, *r_is_below, *b_is_below, *is_moved;

  if (!find_both (import, &a, &b, error))
    return FALSE;
  if (!cleave_element_is_float (cleave_tflite_input_type (import, 0)->element))
    return cleave_tflite_set (import, 0, add_mod (import, a, b, FALSE, error), error);
  rest = add_mod (import, a, b, TRUE, error);
  zero = cleave_tflite_add_float (import, 0);
  r_is_below = cleave_tflite_add_binary (import, "Less", rest, zero, error);
  b_is_below = cleave_tflite_add_binary (import, "Less", b, zero, error);
  is_moved = cleave_tflite_add_binary (import, "Xor", r_is_below, b_is_below, error);
  other = cleave_tflite_add_binary (import, "Equal", rest, zero, error);
  other = cleave_tflite_add_unary (import, "Not", other, NULL, error);
  is_moved = cleave_tflite_add_binary (import, "And", is_moved, other, error);
  other = cleave_tflite_add_binary (import, "Add", rest, b, error);
  if (is_moved == NULL || other == NULL)
    return FALSE;
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add (import, "Where",
                                               (CleaveResult *[]){ is_moved, other, rest }, 3, NULL,
                                               error),
                            error);
}

gboolean
cleave_tflite_read_cumsum (CleaveTfliteImport *import, CleaveCumsumAttrs *attrs, GError **error)
{
  gint64 exclusive, reverse;
  CleaveInts axis;

  if (!cleave_tflite_option (import, 0, 1, 0, &exclusive, error) ||
      !cleave_tflite_option (import, 1, 1, 0, &reverse, error) ||
      !cleave_tflite_read_ints (import, 1, &axis, error))
    return FALSE;
  if (axis.n != 1)
    return cleave_tflite_refuse (error, "input 1 must be one axis");
  *attrs = (CleaveCumsumAttrs){ .axis = axis.v[0],
                                .exclusive = exclusive != 0,
                                .reverse = reverse != 0 };
  return TRUE;
}

gboolean
cleave_tflite_convert_cumsum (CleaveTfliteImport *import, GError **error)
{
  CleaveCumsumAttrs attrs;
  CleaveResult *x;

  if (!cleave_tflite_read_cumsum (import, &attrs, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "CumSum", x, &attrs, error),
                            error);
}

/* Converts REDUCE_ANY to the maximum, and REDUCE_ALL to the minimum, of the bools as numbers 0
 * and 1. */
gboolean
cleave_tflite_convert_reduce_bools (CleaveTfliteImport *import, GError **error)
{
  const guint any = 91;
  CleaveCastAttrs integer = { CLEAVE_INT32 }, is_true = { CLEAVE_BOOL };
  CleaveReduceAttrs attrs = { 0 };
  CleaveResult *x;
  gint64 keep;

  if (!cleave_tflite_option (import, 0, 1, 0, &keep, error) ||
      !cleave_tflite_read_ints (import, 1, &attrs.axes, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (attrs.axes.n == 0)
    return cleave_tflite_refuse (error, "input 1 has no axes");
  attrs.keepdims = keep != 0;
  x = cleave_tflite_add_unary (import, "Cast", x, &integer, error);
  x = cleave_tflite_add_unary (import, import->op->code == any ? "ReduceMax" : "ReduceMin", x,
                               &attrs, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "Cast", x, &is_true, error),
                            error);
}

/* Converts LOCAL_RESPONSE_NORMALIZATION: x / (bias + alpha * sum of squares)^beta. The sum is over
 * `radius` channels on both sides and the channel itself. ONNX divides alpha by the number of
 * channels in the window, so alpha is multiplied by this number. */
gboolean
cleave_tflite_convert_lrn (CleaveTfliteImport *import, GError **error)
{
  CleaveLrnAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC };
  float bias, alpha, beta;
  CleaveResult *x;
  gint64 radius;

  if (!cleave_tflite_option (import, 0, 4, 0, &radius, error) ||
      !cleave_tflite_option_float (import, 1, 0, &bias, error) ||
      !cleave_tflite_option_float (import, 2, 0, &alpha, error) ||
      !cleave_tflite_option_float (import, 3, 0, &beta, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (radius < 0 || radius > G_MAXINT16)
    return cleave_tflite_refuse (error, "the radius %" G_GINT64_FORMAT " is out of range", radius);
  attrs.size = 2 * radius + 1;
  attrs.alpha = (double) alpha * (double) attrs.size;
  attrs.beta = (double) beta;
  attrs.bias = (double) bias;
  return cleave_tflite_set (import, 0, cleave_tflite_add_unary (import, "LRN", x, &attrs, error),
                            error);
}
