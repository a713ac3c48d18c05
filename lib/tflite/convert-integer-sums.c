/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts ADD_N and CUMSUM on int8 to ops on int32. All operands have the same scale. The sum, in
 * units of 2^-19 times this scale, is rescaled to the scale of the output. As in the reference
 * kernels, the sum begins with the negated zero point, not with 0. Sources: reference/add_n.h and
 * reference/cumsum.h. */

#include "convert.h"

#include "../ops/tflite.h"

/* Adds nodes that compute x - zero as int32, and returns the difference. `zero` is the zero point
 * of x. */
static CleaveResult *
add_difference (CleaveTfliteImport *import, CleaveResult *x, gint32 zero, GError **error)
{
  CleaveCastAttrs cast = { CLEAVE_INT32 };

  x = cleave_tflite_add_unary (import, "Cast", x, &cast, error);
  if (zero == 0)
    return x;
  return cleave_tflite_add_binary (import, "Sub", x,
                                   cleave_tflite_add_integer (import, CLEAVE_INT32, zero), error);
}

/* Rescales `sum`, a sum of the differences of add_difference(), to the scale of the operator's
 * output. Makes the rescaled sum the output of the operator. */
static gboolean
set_sum (CleaveTfliteImport *import, CleaveResult *sum, const CleaveTfliteScales *s, GError **error)
{
  const gint bits = 20;
  CleaveTfliteRescaleAttrs attrs = { .to = CLEAVE_INT8, .y_zero = s->y.zero };
  double ratio = 2 * (double) s->x.scale / ((1 << bits) * (double) s->y.scale);
  CleaveTfliteFactor factor;

  if (!cleave_tflite_read_factor (ratio, &factor, error))
    return FALSE;
  if (factor.shift > 0)
    return cleave_tflite_refuse (error, "the scale of the output is too small");
  attrs.multiplier = attrs.negative_multiplier = factor.multiplier;
  attrs.shift = attrs.negative_shift = factor.shift;
  if (s->x.zero != 0)
    sum = cleave_tflite_add_binary (
        import, "Sub", sum, cleave_tflite_add_integer (import, CLEAVE_INT32, s->x.zero), error);
  sum = cleave_tflite_add_binary (
      import, "Mul", sum, cleave_tflite_add_integer (import, CLEAVE_INT32, 1 << (bits - 1)), error);
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_unary (import, "TfliteRescale", sum, &attrs, error), error);
}

static gboolean
read_bytes (CleaveTfliteImport *import, CleaveTfliteScales *s, GError **error)
{
  if (cleave_tflite_input_type (import, 0)->element != CLEAVE_INT8 ||
      cleave_tflite_output (import, 0)->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "the only integer type that is supported is int8");
  return cleave_tflite_read_scales (import, s, error);
}

gboolean
cleave_tflite_convert_integer_add_n (CleaveTfliteImport *import, GError **error)
{
  CleaveResult *sum = NULL, *x;
  CleaveTfliteScales s;
  CleaveTfliteScale scale;

  if (!read_bytes (import, &s, error))
    return FALSE;
  for (guint i = 0; i < import->op->inputs.n; i++)
    {
      if (!cleave_tflite_read_scale (cleave_tflite_input (import, i), &scale, error) ||
          !cleave_tflite_find_result (import, i, &x, error))
        return FALSE;
      if (scale.scale != s.x.scale || scale.zero != s.x.zero)
        return cleave_tflite_refuse (error,
                                     "input %u has the scale %g and the zero point %d, input 0 has "
                                     "%g and %d; they must be equal",
                                     i, (double) scale.scale, scale.zero, (double) s.x.scale,
                                     s.x.zero);
      x = add_difference (import, x, scale.zero, error);
      sum = i == 0 ? x : cleave_tflite_add_binary (import, "Add", sum, x, error);
    }
  return set_sum (import, sum, &s, error);
}

gboolean
cleave_tflite_convert_integer_cumsum (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteScales s;
  CleaveCumsumAttrs attrs;
  CleaveResult *x;

  if (!read_bytes (import, &s, error) || !cleave_tflite_read_cumsum (import, &attrs, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  x = cleave_tflite_add_unary (import, "CumSum", add_difference (import, x, s.x.zero, error),
                               &attrs, error);
  return set_sum (import, x, &s, error);
}
