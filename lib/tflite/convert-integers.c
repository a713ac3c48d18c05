/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Sums, products, reductions and rescalings of integers that stand for real numbers: computes the
 * multipliers as the Prepare functions of the reference kernels do. */

#include "convert.h"

/* Computes the factors of a sum. The ratios are those of float64, also for SUB: the golden values
 * of the reference kernels need them. */
static gboolean
read_sum (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  enum { A, B, Y };
  double twice = 2 * (double) MAX (scales[A], scales[B]);
  double ratio[3] = { (double) scales[A] / twice, (double) scales[B] / twice,
                      twice / ((double) (1 << a->left_shift) * (double) scales[Y]) };
  CleaveTfliteFactor factor[3];

  for (guint i = 0; i < 3; i++)
    if (!cleave_tflite_read_factor (ratio[i], &factor[i], error))
      return FALSE;
  if (factor[Y].shift > 0)
    return cleave_tflite_refuse (error, "the scale of the output is too small");
  a->a_multiplier = factor[A].multiplier;
  a->a_shift = factor[A].shift;
  a->b_multiplier = factor[B].multiplier;
  a->b_shift = factor[B].shift;
  a->multiplier = factor[Y].multiplier;
  a->shift = factor[Y].shift;
  return TRUE;
}

static gboolean
read_product (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  CleaveTfliteFactor factor;

  if (!cleave_tflite_read_factor ((double) scales[0] * (double) scales[1] / (double) scales[2],
                                  &factor, error))
    return FALSE;
  a->multiplier = factor.multiplier;
  a->shift = factor.shift;
  return TRUE;
}

typedef enum { ADD, SUB, MUL } Binary;

static gboolean
convert_binary (CleaveTfliteImport *import, Binary kind, GError **error)
{
  static const char *const ops[] = { "TfliteAdd", "TfliteSub", "TfliteMul" };
  const CleaveTfliteTensor *b = cleave_tflite_input (import, 1);
  CleaveTfliteBinaryAttrs attrs = { 0 };
  CleaveTfliteScales s;
  CleaveTfliteScale b_scale;
  CleaveResult *operands[2];
  float scales[3];

  if (!cleave_tflite_read_scales (import, &s, error) ||
      !cleave_tflite_read_scale (b, &b_scale, error) ||
      !cleave_tflite_read_bounds (import, 0, &s.y, &attrs.min, &attrs.max, error))
    return FALSE;
  scales[0] = s.x.scale;
  scales[1] = b_scale.scale;
  scales[2] = s.y.scale;
  attrs.a_zero = s.x.zero;
  attrs.b_zero = b_scale.zero;
  attrs.y_zero = s.y.zero;
  attrs.left_shift = kind == MUL ? 0 : b->type.element == CLEAVE_INT16 ? 15 : 20;
  if (!(kind == MUL ? read_product (scales, &attrs, error) : read_sum (scales, &attrs, error)) ||
      !cleave_tflite_find_result (import, 0, &operands[0], error) ||
      !cleave_tflite_find_result (import, 1, &operands[1], error))
    return FALSE;
  return cleave_tflite_set (
      import, 0, cleave_tflite_add (import, ops[kind], operands, 2, &attrs, error), error);
}

gboolean
cleave_tflite_convert_integer_add (CleaveTfliteImport *import, GError **error)
{
  return convert_binary (import, ADD, error);
}

gboolean
cleave_tflite_convert_integer_sub (CleaveTfliteImport *import, GError **error)
{
  return convert_binary (import, SUB, error);
}

gboolean
cleave_tflite_convert_integer_mul (CleaveTfliteImport *import, GError **error)
{
  return convert_binary (import, MUL, error);
}

/* Divides a multiplier by a number of elements, with as many bits as its shift leaves. */
static void
divide (CleaveTfliteFactor *factor, gint64 n)
{
  gint shift = MIN (63 - __builtin_clzll ((guint64) n), 32);

  shift = MIN (shift, 31 + factor->shift);
  factor->multiplier = (gint32) (((gint64) factor->multiplier << shift) / n);
  factor->shift -= shift;
}

static gboolean
convert_sum (CleaveTfliteImport *import, gboolean is_mean, GError **error)
{
  const CleaveShape *x_shape = &cleave_tflite_input_type (import, 0)->shape;
  CleaveTfliteSumAttrs attrs = { 0 };
  CleaveTfliteScales s;
  CleaveTfliteFactor factor;
  CleaveResult *x;
  gint64 n = 1;

  if (!cleave_tflite_read_ints (import, 1, &attrs.axes, error) ||
      !cleave_tflite_read_scales (import, &s, error) ||
      !cleave_tflite_read_factor ((double) s.x.scale / (double) s.y.scale, &factor, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  for (guint i = 0; i < attrs.axes.n; i++)
    {
      gint64 *axis = &attrs.axes.v[i];

      *axis += *axis < 0 ? x_shape->rank : 0;
      if (*axis < 0 || *axis >= x_shape->rank)
        return cleave_tflite_refuse (error, "an axis is beyond the %u dimensions", x_shape->rank);
      n *= x_shape->dim[*axis];
    }
  if (attrs.axes.n == 0 || n < 1 || n > G_MAXINT32)
    return cleave_tflite_refuse (error, "it reduces %" G_GINT64_FORMAT " elements", n);
  if (is_mean)
    divide (&factor, n);
  attrs.x_zero = s.x.zero;
  attrs.y_zero = s.y.zero;
  attrs.multiplier = factor.multiplier;
  attrs.shift = factor.shift;
  x = cleave_tflite_add_unary (import, "TfliteSum", x, &attrs, error);
  x = cleave_tflite_add_reshape (import, x, &cleave_tflite_output (import, 0)->type.shape, error);
  return cleave_tflite_set (import, 0, x, error);
}

gboolean
cleave_tflite_convert_integer_sum (CleaveTfliteImport *import, GError **error)
{
  return convert_sum (import, FALSE, error);
}

gboolean
cleave_tflite_convert_integer_mean (CleaveTfliteImport *import, GError **error)
{
  return convert_sum (import, TRUE, error);
}

/* Adds a TfliteRescale of input 0; `negative` is the factor below the zero point. */
static gboolean
set_rescaled (CleaveTfliteImport *import,
              const CleaveTfliteScales *s,
              const CleaveTfliteFactor *factor,
              const CleaveTfliteFactor *negative,
              GError **error)
{
  CleaveTfliteRescaleAttrs attrs = { .to = cleave_tflite_output (import, 0)->type.element,
                                     .x_zero = s->x.zero,
                                     .y_zero = s->y.zero,
                                     .multiplier = factor->multiplier,
                                     .shift = factor->shift,
                                     .negative_multiplier = negative->multiplier,
                                     .negative_shift = negative->shift };
  CleaveResult *x;

  return cleave_tflite_find_result (import, 0, &x, error) &&
         cleave_tflite_set (
             import, 0, cleave_tflite_add_unary (import, "TfliteRescale", x, &attrs, error), error);
}

/* The ratios of the scales are computed in float32, as TensorFlow Lite does. */
gboolean
cleave_tflite_convert_integer_leaky_relu (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteScales s;
  CleaveTfliteFactor factor, negative;
  float alpha;

  if (!cleave_tflite_option_float (import, 0, 0, &alpha, error) ||
      !cleave_tflite_read_scales (import, &s, error))
    return FALSE;
  if (alpha < 0)
    return cleave_tflite_refuse (error, "alpha is %g; below 0 it is not supported", (double) alpha);
  return cleave_tflite_read_factor ((double) (s.x.scale / s.y.scale), &factor, error) &&
         cleave_tflite_read_factor ((double) (s.x.scale * alpha / s.y.scale), &negative, error) &&
         set_rescaled (import, &s, &factor, &negative, error);
}

/* QUANTIZE of floats, or from one scale to another. */
gboolean
cleave_tflite_convert_quantize (CleaveTfliteImport *import, GError **error)
{
  const CleaveTfliteTensor *y = cleave_tflite_output (import, 0);
  CleaveTfliteScale scale;
  CleaveTfliteScales s;
  CleaveTfliteFactor factor;
  CleaveTfliteQuantizeAttrs attrs;
  CleaveResult *x;

  if (!cleave_tflite_read_scale (y, &scale, error))
    return FALSE;
  if (cleave_tflite_is_quantized (cleave_tflite_input (import, 0)))
    return cleave_tflite_read_scales (import, &s, error) &&
           cleave_tflite_read_factor ((double) s.x.scale / (double) s.y.scale, &factor, error) &&
           set_rescaled (import, &s, &factor, &factor, error);
  attrs = (CleaveTfliteQuantizeAttrs){ y->type.element, (double) scale.scale, scale.zero };
  return cleave_tflite_find_result (import, 0, &x, error) &&
         cleave_tflite_set (import, 0,
                            cleave_tflite_add_unary (import, "TfliteQuantize", x, &attrs, error),
                            error);
}

/* DEQUANTIZE: weights of float16 become float32; integers are (x - zero point) * scale, which is
 * exact but for one rounding, as in ONNX. */
gboolean
cleave_tflite_convert_dequantize (CleaveTfliteImport *import, GError **error)
{
  const CleaveTfliteTensor *tensor = cleave_tflite_input (import, 0);
  CleaveTfliteScale scale;
  CleaveCastAttrs cast = { CLEAVE_FLOAT32 };
  CleaveAxisAttrs axis = { 0 };
  CleaveResult *x, *y;

  if (!cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  if (cleave_element_is_float (tensor->type.element))
    y = cleave_tflite_add_unary (import, "Cast", x, &cast, error);
  else if (tensor->quantization.scales.n > 1)
    y = cleave_tflite_float_weights (import, 0, x, error);
  else if (!cleave_tflite_read_scale (tensor, &scale, error))
    return FALSE;
  else
    y = cleave_tflite_add (
        import, "DequantizeLinear",
        (CleaveResult *[]){ x, cleave_tflite_add_float (import, scale.scale),
                            cleave_tflite_add_integer (import, tensor->type.element, scale.zero) },
        3, &axis, error);
  return cleave_tflite_set (import, 0, y, error);
}
