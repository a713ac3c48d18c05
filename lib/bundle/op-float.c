/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of element-wise ops of float32. For a unary op on elements of one byte, the kernel looks
 * up the result in a table of 256 entries. */

#include "op-help.h"
#include "ops.h"

static gboolean
describe_unary (const CleaveNode *node,
                const char *name,
                double a,
                double b,
                CleaveBundleLayer *layer,
                GError **error)
{
  CleaveElement element = node->operands[0].result->type.element;
  g_autofree char *file = g_strdup_printf ("%s-f32", name);
  g_autofree char *kernel = g_strdup_printf ("cleave_%s_f32", name);
  g_autoptr (GString) fields = g_string_new (NULL);

  if (cleave_element_size (element) == 1)
    return cleave_bundle_describe_table (node, layer, error);
  if (!cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error))
    return FALSE;
  g_strdelimit (file, "_", '-');
  g_string_append_printf (fields, ".channels = %" G_GINT64_FORMAT ", .a = ",
                          cleave_bundle_image (&node->results[0]).channels);
  cleave_bundle_print_float ((float) a, fields);
  g_string_append (fields, ", .b = ");
  cleave_bundle_print_float ((float) b, fields);
  cleave_bundle_layer_set_kernel (layer, file, kernel);
  cleave_bundle_layer_set_params (layer, "CleaveUnaryF32", fields->str);
  cleave_bundle_layer_set_in_place (layer, 0);
  return TRUE;
}

static gboolean
describe_relu (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "relu", 0, 0, layer, error);
}

static gboolean
describe_leaky_relu (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveElementwiseAttrs *a = node->attrs;

  return describe_unary (node, "leaky_relu", a->alpha, a->beta, layer, error);
}

static gboolean
describe_clip (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveClipAttrs *a = node->attrs;

  return describe_unary (node, "clip", a->min, a->max, layer, error);
}

static gboolean
describe_hard_sigmoid (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveElementwiseAttrs *a = node->attrs;

  return describe_unary (node, "hard_sigmoid", a->alpha, a->beta, layer, error);
}

static gboolean
describe_hard_swish (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "hard_swish", 0, 0, layer, error);
}

static gboolean
describe_sigmoid (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "sigmoid", 0, 0, layer, error);
}

static gboolean
describe_tanh (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "tanh", 0, 0, layer, error);
}

static gboolean
describe_sqrt (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "sqrt", 0, 0, layer, error);
}

static gboolean
describe_abs (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "abs", 0, 0, layer, error);
}

static gboolean
describe_neg (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "neg", 0, 0, layer, error);
}

static gboolean
describe_exp (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "exp", 0, 0, layer, error);
}

static gboolean
describe_erf (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "erf", 0, 0, layer, error);
}

static gboolean
describe_reciprocal (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "reciprocal", 0, 0, layer, error);
}

static gboolean
describe_elu (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveElementwiseAttrs *a = node->attrs;

  return describe_unary (node, "elu", a->alpha, 0, layer, error);
}

static gboolean
describe_softsign (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "softsign", 0, 0, layer, error);
}

static gboolean
describe_thresholded_relu (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveElementwiseAttrs *a = node->attrs;

  return describe_unary (node, "thresholded_relu", a->alpha, 0, layer, error);
}

static gboolean
describe_binary (const CleaveNode *node, const char *name, CleaveBundleLayer *layer, GError **error)
{
  g_autofree char *file = g_strdup_printf ("%s-f32", name);
  g_autofree char *kernel = g_strdup_printf ("cleave_%s_f32", name);
  g_autoptr (GString) fields = g_string_new (".operands = { ");

  if (!cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_print_operand (node, 0, layer, fields, error))
    return FALSE;
  g_string_append (fields, ", ");
  if (!cleave_bundle_print_operand (node, 1, layer, fields, error))
    return FALSE;
  g_string_append_printf (fields, " }, .channels = %" G_GINT64_FORMAT,
                          cleave_bundle_image (&node->results[0]).channels);
  cleave_bundle_layer_set_kernel (layer, file, kernel);
  cleave_bundle_layer_set_params (layer, "CleaveBinaryF32", fields->str);
  cleave_bundle_set_in_place_if_same (node, layer);
  return TRUE;
}

static gboolean
describe_add (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "add", layer, error);
}

static gboolean
describe_sub (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "sub", layer, error);
}

static gboolean
describe_mul (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "mul", layer, error);
}

static gboolean
describe_div (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "div", layer, error);
}

static gboolean
describe_prelu (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "prelu", layer, error);
}

static gboolean
describe_max (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "max", layer, error);
}

static gboolean
describe_min (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_binary (node, "min", layer, error);
}

/* Describes a power with a constant exponent, such as 2 or 0.5, as a product or a square root. */
static gboolean
describe_pow (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResult *b = node->operands[1].result;
  const float *exponent;

  if (!cleave_bundle_need_constants (node, 1, 2, "exponents", error) ||
      !cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_need_element (node, 1, CLEAVE_FLOAT32, error))
    return FALSE;
  exponent = cleave_bundle_constant (node, 1);
  if (cleave_shape_n_elements (&b->type.shape) == 1 &&
      b->type.shape.rank <= node->operands[0].result->type.shape.rank)
    {
      if (*exponent == 2)
        return describe_unary (node, "square", 0, 0, layer, error);
      if (*exponent == 3)
        return describe_unary (node, "cube", 0, 0, layer, error);
      if (*exponent == 0.5f)
        return describe_unary (node, "root", 0, 0, layer, error);
    }
  return cleave_bundle_fail (node, error, "a bundle has kernels for the exponents 2, 3 and 0.5");
}

static gboolean
describe_softmax (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveAxisAttrs *a = node->attrs;
  CleaveBundleImage image = cleave_bundle_image (node->operands[0].result);

  gboolean is_log = g_str_equal (node->op->name, "LogSoftmax");

  if (!cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error))
    return FALSE;
  if (a->axis != image.channel_dim)
    return cleave_bundle_fail (node, error, "a bundle has a softmax of channels only, dimension %d",
                               image.channel_dim);
  return describe_unary (node, is_log ? "log_softmax" : "softmax", 0, 0, layer, error);
}

static gboolean
describe_log (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "log", 0, 0, layer, error);
}

static gboolean
describe_floor (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "floor", 0, 0, layer, error);
}

static gboolean
describe_ceil (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "ceil", 0, 0, layer, error);
}

static gboolean
describe_round (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "round", 0, 0, layer, error);
}

static gboolean
describe_sign (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_unary (node, "sign", 0, 0, layer, error);
}

static gboolean
describe_selu (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveElementwiseAttrs *a = node->attrs;

  return describe_unary (node, "selu", a->alpha, a->gamma, layer, error);
}

const CleaveBundleOp cleave_bundle_op_relu = { "Relu", describe_relu };
const CleaveBundleOp cleave_bundle_op_leaky_relu = { "LeakyRelu", describe_leaky_relu };
const CleaveBundleOp cleave_bundle_op_clip = { "Clip", describe_clip };
const CleaveBundleOp cleave_bundle_op_hard_sigmoid = { "HardSigmoid", describe_hard_sigmoid };
const CleaveBundleOp cleave_bundle_op_hard_swish = { "HardSwish", describe_hard_swish };
const CleaveBundleOp cleave_bundle_op_sigmoid = { "Sigmoid", describe_sigmoid };
const CleaveBundleOp cleave_bundle_op_tanh = { "Tanh", describe_tanh };
const CleaveBundleOp cleave_bundle_op_sqrt = { "Sqrt", describe_sqrt };
const CleaveBundleOp cleave_bundle_op_abs = { "Abs", describe_abs };
const CleaveBundleOp cleave_bundle_op_neg = { "Neg", describe_neg };
const CleaveBundleOp cleave_bundle_op_add = { "Add", describe_add };
const CleaveBundleOp cleave_bundle_op_sub = { "Sub", describe_sub };
const CleaveBundleOp cleave_bundle_op_mul = { "Mul", describe_mul };
const CleaveBundleOp cleave_bundle_op_div = { "Div", describe_div };
const CleaveBundleOp cleave_bundle_op_prelu = { "PRelu", describe_prelu };
const CleaveBundleOp cleave_bundle_op_softmax = { "Softmax", describe_softmax };
const CleaveBundleOp cleave_bundle_op_exp = { "Exp", describe_exp };
const CleaveBundleOp cleave_bundle_op_erf = { "Erf", describe_erf };
const CleaveBundleOp cleave_bundle_op_reciprocal = { "Reciprocal", describe_reciprocal };
const CleaveBundleOp cleave_bundle_op_max = { "Max", describe_max };
const CleaveBundleOp cleave_bundle_op_min = { "Min", describe_min };
const CleaveBundleOp cleave_bundle_op_pow = { "Pow", describe_pow };
const CleaveBundleOp cleave_bundle_op_elu = { "Elu", describe_elu };
const CleaveBundleOp cleave_bundle_op_softsign = { "Softsign", describe_softsign };
const CleaveBundleOp cleave_bundle_op_thresholded_relu = { "ThresholdedRelu",
                                                           describe_thresholded_relu };
const CleaveBundleOp cleave_bundle_op_log_softmax = { "LogSoftmax", describe_softmax };
const CleaveBundleOp cleave_bundle_op_log = { "Log", describe_log };
const CleaveBundleOp cleave_bundle_op_floor = { "Floor", describe_floor };
const CleaveBundleOp cleave_bundle_op_ceil = { "Ceil", describe_ceil };
const CleaveBundleOp cleave_bundle_op_round = { "Round", describe_round };
const CleaveBundleOp cleave_bundle_op_sign = { "Sign", describe_sign };
const CleaveBundleOp cleave_bundle_op_selu = { "Selu", describe_selu };
const CleaveBundleOp cleave_bundle_op_not = { "Not", cleave_bundle_describe_table };
