/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts sums, products, reductions and rescalings of integers with a scale. The multipliers are
 * computed as in the Prepare functions of the reference kernels. */

#include "convert.h"

#include <string.h>

#include "../ir/graph-private.h"
#include "../ops/tflite.h"

enum { A, B, Y };

/* Sets the multiplier and the shift of the result to the real number `ratio` in fixed point. */
static gboolean
set_factor (double ratio, CleaveTfliteBinaryAttrs *a, GError **error)
{
  CleaveTfliteFactor factor;

  if (!cleave_tflite_read_factor (ratio, &factor, error))
    return FALSE;
  a->multiplier = factor.multiplier;
  a->shift = factor.shift;
  return TRUE;
}

/* Sets three fixed-point factors: the factors that convert the first and the second operand to a
 * common scale, and the factor of the result. `ratios` has the three factors as real numbers, in
 * this order. */
static gboolean
set_factors (const double *ratios, CleaveTfliteBinaryAttrs *a, GError **error)
{
  CleaveTfliteFactor factor[2];

  for (guint i = 0; i < 2; i++)
    if (!cleave_tflite_read_factor (ratios[i], &factor[i], error))
      return FALSE;
  a->a_multiplier = factor[A].multiplier;
  a->a_shift = factor[A].shift;
  a->b_multiplier = factor[B].multiplier;
  a->b_shift = factor[B].shift;
  return set_factor (ratios[Y], a, error);
}

/* Computes the factors of a sum. Computes the ratios of the scales in float64, also for SUB: with
 * float32, SUB would not give the expected values of the reference kernels' tests. */
static gboolean
read_sum (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  double twice = 2 * (double) MAX (scales[A], scales[B]);
  double ratios[] = { (double) scales[A] / twice, (double) scales[B] / twice,
                      twice / ((double) (1 << a->left_shift) * (double) scales[Y]) };

  if (!set_factors (ratios, a, error))
    return FALSE;
  return a->shift <= 0 || cleave_tflite_refuse (error, "the scale of the output is too small");
}

static gboolean
read_product (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  return set_factor ((double) scales[A] * (double) scales[B] / (double) scales[Y], a, error);
}

/* Computes the factor that rescales the result of a DIV. Computes the ratio of the scales in
 * float32. */
static gboolean
read_quotient (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  return set_factor ((double) (scales[A] / (scales[B] * scales[Y])), a, error);
}

/* Computes the factors of a squared difference. The operands are converted to a common scale, as
 * for a sum. */
static gboolean
read_squared_difference (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  double twice = 2 * (double) MAX (scales[A], scales[B]);
  float unit = (float) (1 << (2 * a->left_shift)) * scales[Y];
  double ratios[] = { (double) scales[A] / twice, (double) scales[B] / twice,
                      twice * twice / (double) unit };

  return set_factors (ratios, a, error);
}

static gboolean
read_prelu (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  CleaveTfliteFactor factor;

  if (!cleave_tflite_read_factor ((double) scales[A] / (double) scales[Y], &factor, error))
    return FALSE;
  a->a_multiplier = factor.multiplier;
  a->a_shift = factor.shift;
  return read_product (scales, a, error);
}

/* Computes the factor of BATCH_MATMUL. Multiplies the scales of the operands in float32. */
static gboolean
read_matrix_product (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error)
{
  return set_factor ((double) (scales[A] * scales[B]) / (double) scales[Y], a, error);
}

/* The parameters of an operator with two operands. */
typedef struct
{
  const char *op;
  gboolean (*read_factors) (const float *scales, CleaveTfliteBinaryAttrs *a, GError **error);
  gint64 shift_8, shift_16; /* number of bits by which operands of int8, and of int16, are
                             * shifted left */
  gboolean has_activation;  /* whether field 0 of the operator's options names an activation
                             * function */
  gboolean can_adjoin;      /* whether the operator's options can ask to transpose the last two
                             * dimensions of an operand */
} Binary;

/* Reads zero points, bounds and factors of an operator with two operands. */
static gboolean
read_binary (CleaveTfliteImport *import,
             const Binary *kind,
             CleaveTfliteBinaryAttrs *a,
             GError **error)
{
  CleaveElement element = cleave_tflite_output (import, 0)->type.element;
  CleaveTfliteScales s;
  CleaveTfliteScale b;

  if (!cleave_tflite_read_scales (import, &s, error) ||
      !cleave_tflite_read_scale (cleave_tflite_input (import, 1), &b, error))
    return FALSE;
  a->min = cleave_tflite_lowest (element);
  a->max = cleave_tflite_highest (element);
  if (kind->has_activation && !cleave_tflite_read_bounds (import, 0, &s.y, &a->min, &a->max, error))
    return FALSE;
  a->a_zero = s.x.zero;
  a->b_zero = b.zero;
  a->y_zero = s.y.zero;
  a->left_shift = element == CLEAVE_INT16 ? kind->shift_16 : kind->shift_8;
  return kind->read_factors ((float[]){ s.x.scale, b.scale, s.y.scale }, a, error);
}

static gboolean
convert_binary (CleaveTfliteImport *import, const Binary *kind, GError **error)
{
  CleaveTfliteBinaryAttrs attrs = { 0 };
  CleaveResult *operands[2];

  if (!read_binary (import, kind, &attrs, error) ||
      !cleave_tflite_find_result (import, 0, &operands[A], error) ||
      !cleave_tflite_find_result (import, 1, &operands[B], error))
    return FALSE;
  for (guint i = 0; kind->can_adjoin && i < 2; i++)
    if ((operands[i] = cleave_tflite_adjoin (import, i, operands[i], error)) == NULL)
      return FALSE;
  return cleave_tflite_set (
      import, 0, cleave_tflite_add (import, kind->op, operands, 2, &attrs, error), error);
}

/* Defines the converter of an operator with two operands. */
#define CONVERT(name, ...)                                                                         \
  gboolean cleave_tflite_convert_integer_##name (CleaveTfliteImport *import, GError **error)       \
  {                                                                                                \
    return convert_binary (import, &(const Binary){ __VA_ARGS__ }, error);                         \
  }

CONVERT (add, "TfliteAdd", read_sum, 20, 15, .has_activation = TRUE)
CONVERT (sub, "TfliteSub", read_sum, 20, 15, .has_activation = TRUE)
CONVERT (mul, "TfliteMul", read_product, .has_activation = TRUE)
CONVERT (div, "TfliteDiv", read_quotient, .has_activation = TRUE)
CONVERT (squared_difference, "TfliteSquaredDifference", read_squared_difference, .shift_8 = 7)
CONVERT (prelu, "TflitePRelu", read_prelu, .has_activation = FALSE)
CONVERT (batch_matmul, "TfliteMatMul", read_matrix_product, .can_adjoin = TRUE)

/* Divides the factor of a sum by n, for a mean. First shifts the multiplier left as far as n and
 * the factor's shift allow, so that fewer bits are lost. */
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

gboolean
cleave_tflite_set_rescaled (CleaveTfliteImport *import,
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

/* Converts LEAKY_RELU on integers. The ratios of the scales are computed in float32, as in
 * TensorFlow Lite. */
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
         cleave_tflite_set_rescaled (import, &s, &factor, &negative, error);
}

/* Returns whether a value is a constant scalar of type `element` whose bytes equal `bytes`. */
static gboolean
is_constant (const CleaveResult *x, CleaveElement element, gconstpointer bytes)
{
  const CleaveTensor *value = cleave_node_get_constant (x->node);
  const CleaveTensorType *type = value == NULL ? NULL : cleave_tensor_get_type (value);

  return type != NULL && type->element == element && cleave_shape_n_elements (&type->shape) == 1 &&
         memcmp (cleave_tensor_get_data (value), bytes, cleave_element_size (element)) == 0;
}

/* If DEQUANTIZE computed x from integers, returns these integers. The integers must have the
 * element type and the scale of the output, so that a QUANTIZE of x would return them unchanged.
 * Returns NULL if DEQUANTIZE did not compute x, if the type or the scale differs, or if the scale
 * is below 2^-100: products could then lose bits in float32. */
static CleaveResult *
find_integers (const CleaveResult *x, CleaveElement element, const CleaveTfliteScale *scale)
{
  enum { INTEGERS, SCALE, ZERO };
  const CleaveNode *node = x->node;
  gint8 byte = (gint8) scale->zero;
  gint16 word = (gint16) scale->zero;

  if (node->op != cleave_op_lookup ("DequantizeLinear") || scale->scale < 0x1p-100f ||
      (element != CLEAVE_INT8 && element != CLEAVE_INT16) ||
      cleave_result_get_type (node->operands[INTEGERS].result)->element != element ||
      !is_constant (node->operands[SCALE].result, CLEAVE_FLOAT32, &scale->scale) ||
      !is_constant (node->operands[ZERO].result, element,
                    element == CLEAVE_INT8 ? (gconstpointer) &byte : &word))
    return NULL;
  return node->operands[INTEGERS].result;
}

/* Converts a QUANTIZE of integers, which changes their scale. If both scales are equal, adds no
 * node: the operand becomes the output. */
static gboolean
requantize (CleaveTfliteImport *import, GError **error)
{
  CleaveElement element = cleave_tflite_output (import, 0)->type.element;
  CleaveTfliteScales s;
  CleaveTfliteFactor factor;
  CleaveResult *x;

  if (!cleave_tflite_read_scales (import, &s, error) ||
      !cleave_tflite_read_factor ((double) s.x.scale / (double) s.y.scale, &factor, error))
    return FALSE;
  if (s.x.scale != s.y.scale || s.x.zero != s.y.zero ||
      cleave_tflite_input_type (import, 0)->element != element || element == CLEAVE_INT32)
    return cleave_tflite_set_rescaled (import, &s, &factor, &factor, error);
  return cleave_tflite_find_result (import, 0, &x, error) &&
         cleave_tflite_set (import, 0, x, error);
}

/* Converts QUANTIZE, of floats or of integers with another scale. */
gboolean
cleave_tflite_convert_quantize (CleaveTfliteImport *import, GError **error)
{
  const CleaveTfliteTensor *y = cleave_tflite_output (import, 0);
  CleaveTfliteScale scale;
  CleaveTfliteQuantizeAttrs attrs;
  CleaveResult *x, *integers;

  if (cleave_tflite_is_quantized (cleave_tflite_input (import, 0)))
    return requantize (import, error);
  if (!cleave_tflite_read_scale (y, &scale, error) ||
      !cleave_tflite_find_result (import, 0, &x, error))
    return FALSE;
  integers = find_integers (x, y->type.element, &scale);
  if (integers != NULL)
    return cleave_tflite_set (import, 0, integers, error);
  attrs = (CleaveTfliteQuantizeAttrs){ y->type.element, (double) scale.scale, scale.zero };
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_unary (import, "TfliteQuantize", x, &attrs, error), error);
}

/* Converts DEQUANTIZE. Weights of float16 become float32. Integers become (x - zero point) * scale,
 * as in ONNX: the difference is exact, and the product is rounded once. */
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
