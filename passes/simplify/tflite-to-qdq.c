/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces ops of TensorFlow Lite by ops of ONNX between DequantizeLinear and QuantizeLinear.
 *
 * Over 400 lines: each op of TensorFlow Lite has a function. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include <cleave/cleave-tflite.h>
#include <math.h>

#include "help.h"

/*       x   w                    x              w
 *        \ /                     |              |
 *    TfliteConv     =>   DequantizeLinear  DequantizeLinear
 *                                 \            /
 *                                      Conv
 *                                       |
 *                                 QuantizeLinear
 *
 * The ops of TensorFlow Lite know ratios of scales, not the scales. So a result has the scale 1,
 * and the ratio is the scale of an operand: of the weights here.  A lookup in a table becomes a
 * Gather, which is exact. QuantizeLinear rounds once, ties to even; the ops of TensorFlow Lite
 * round twice, ties away from zero. So results may differ by one, and no pipeline of the library
 * has this pass.
 *
 * Before: a valid graph.  After: the only ops of TensorFlow Lite are TfliteLstm, and ops whose
 * multipliers are not constant. */

/* Returns the smallest integer of a signed element type. */
static gint64
lowest (CleaveElement element)
{
  return -((gint64) 1 << (8 * cleave_element_size (element) - 1));
}

static gint64
highest (CleaveElement element)
{
  return -(lowest (element) + 1);
}

static double
factor (gint64 multiplier, gint64 shift)
{
  return ldexp ((double) multiplier, (int) shift - 31);
}

/* Adds a node with op `op` that takes its name from `node`. Returns NULL if an operand is NULL or
 * the new node is not legal. */
static CleaveResult *
add (const CleaveNode *node,
     const char *op,
     CleaveResult *const *operands,
     guint n_operands,
     gconstpointer attrs)
{
  CleaveNode *added;

  for (guint i = 0; i < n_operands; i++)
    if (operands[i] == NULL)
      return NULL;
  added = cleave_graph_add (node->graph, cleave_op_lookup (op), node->name, operands, n_operands, 1,
                            attrs, NULL);
  return added == NULL ? NULL : &added->results[0];
}

static CleaveResult *
unary (const CleaveNode *node, const char *op, CleaveResult *x, gconstpointer attrs)
{
  return add (node, op, &x, 1, attrs);
}

static CleaveResult *
binary (const CleaveNode *node, const char *op, CleaveResult *a, CleaveResult *b)
{
  return add (node, op, (CleaveResult *[]){ a, b }, 2, NULL);
}

/* Adds a constant of `n` elements; a scalar if `n` is 0. */
static CleaveResult *
constant (const CleaveNode *node, CleaveElement element, gint64 n, gconstpointer data)
{
  CleaveTensorType type = { element, { n == 0 ? 0 : 1, { n } } };
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&type, data, NULL);

  return tensor == NULL ? NULL : cleave_graph_add_constant (node->graph, NULL, tensor);
}

static CleaveResult *
integer (const CleaveNode *node, CleaveElement element, gint64 value)
{
  gint8 byte = (gint8) value;
  gint16 word = (gint16) value;
  gint32 whole = (gint32) value;

  return constant (node, element, 0,
                   element == CLEAVE_INT8    ? (gconstpointer) &byte
                   : element == CLEAVE_INT16 ? (gconstpointer) &word
                                             : &whole);
}

static CleaveElement
element_of (const CleaveResult *x)
{
  return cleave_result_get_type (x)->element;
}

/* Adds nodes that compute (x - zero) * scale. */
static CleaveResult *
dequantize (const CleaveNode *node, CleaveResult *x, double scale, gint64 zero)
{
  float value = (float) scale;

  return add (node, "DequantizeLinear",
              (CleaveResult *[]){ x, constant (node, CLEAVE_FLOAT32, 0, &value),
                                  integer (node, element_of (x), zero) },
              3, &(CleaveAxisAttrs){ 0 });
}

/* Adds nodes that compute y / scale + zero, rounded and clamped to the element type of the node's
 * result. */
static CleaveResult *
quantize (const CleaveNode *node, CleaveResult *y, double scale, gint64 zero)
{
  float value = (float) scale;

  return add (node, "QuantizeLinear",
              (CleaveResult *[]){ y, constant (node, CLEAVE_FLOAT32, 0, &value),
                                  integer (node, node->results[0].type.element, zero) },
              3, &(CleaveAxisAttrs){ 0 });
}

/* Adds nodes that clamp y to the bounds of an activation, and quantize y with scale 1. */
static CleaveResult *
finish (const CleaveNode *node, CleaveResult *y, gint64 zero, gint64 min, gint64 max)
{
  CleaveElement element = node->results[0].type.element;
  CleaveClipAttrs clip = { (double) (min - zero), (double) (max - zero) };

  if (min > lowest (element) || max < highest (element))
    y = unary (node, "Clip", y, &clip);
  return quantize (node, y, 1, zero);
}

/* operand indices of TfliteConv and TfliteConvTranspose */

enum { X, X_ZERO, W, MULTIPLIER, SHIFT, Y_ZERO, B };

/* Returns the constant integers of an operand; NULL if the operand is not constant. */
static CleaveTensor *
read (const CleaveNode *node, guint operand)
{
  CleaveTensor *value = cleave_node_get_final_constant (node->operands[operand].result->node);

  return value == NULL ? NULL : cleave_tensor_dup_dense (value);
}

static gint64
load (const CleaveTensor *tensor, gint64 i)
{
  const CleaveTensorType *type = cleave_tensor_get_type (tensor);
  gconstpointer data = cleave_tensor_get_data (tensor);

  i = cleave_shape_n_elements (&type->shape) == 1 ? 0 : i;
  return type->element == CLEAVE_INT8    ? ((const gint8 *) data)[i]
         : type->element == CLEAVE_INT16 ? ((const gint16 *) data)[i]
         : type->element == CLEAVE_INT32 ? ((const gint32 *) data)[i]
                                         : ((const gint64 *) data)[i];
}

/* Adds the scale factors of `n` channels as a constant. */
static CleaveResult *
add_factors (const CleaveNode *node, gint64 n)
{
  g_autoptr (CleaveTensor) multiplier = read (node, MULTIPLIER), shift = read (node, SHIFT);
  g_autofree float *factors = g_new (float, (gsize) n);

  if (multiplier == NULL || shift == NULL)
    return NULL;
  for (gint64 c = 0; c < n; c++)
    factors[c] = (float) factor (load (multiplier, c), load (shift, c));
  return constant (node, CLEAVE_FLOAT32, n, factors);
}

/* Adds the bias in the unit of the result: a DequantizeLinear of a 32-bit bias, or a constant for a
 * 64-bit bias. */
static CleaveResult *
add_bias (const CleaveNode *node, CleaveResult *factors, gint64 n)
{
  CleaveResult *bias = node->operands[B].result;
  g_autoptr (CleaveTensor) value = NULL, f = NULL;
  g_autofree float *real = NULL;

  if (element_of (bias) == CLEAVE_INT32)
    return add (node, "DequantizeLinear", (CleaveResult *[]){ bias, factors }, 2,
                &(CleaveAxisAttrs){ 0 });
  value = read (node, B);
  if (value == NULL)
    return NULL;
  f = cleave_tensor_dup_dense (cleave_node_get_constant (factors->node));
  real = g_new (float, (gsize) n);
  for (gint64 c = 0; c < n; c++)
    real[c] = (float) ((double) load (value, c) *
                       (double) ((const float *) cleave_tensor_get_data (f))[c]);
  return constant (node, CLEAVE_FLOAT32, n, real);
}

/* Adds a convolution of floats. Dimension `axis` of its weights holds the channels of the
 * result. */
static CleaveResult *
convolve (const CleaveNode *node, const char *op, gconstpointer attrs, gint64 axis, gint64 n)
{
  gboolean has_bias = node->n_operands > B && node->operands[B].result != NULL;
  g_autoptr (CleaveTensor) zero = read (node, X_ZERO);
  CleaveResult *factors = add_factors (node, n), *operands[3] = { NULL };

  if (zero == NULL || factors == NULL)
    return NULL;
  operands[0] = dequantize (node, node->operands[X].result, 1, load (zero, 0));
  operands[1] =
      add (node, "DequantizeLinear", (CleaveResult *[]){ node->operands[W].result, factors }, 2,
           &(CleaveAxisAttrs){ axis });
  if (has_bias)
    operands[2] = add_bias (node, factors, n);
  return add (node, op, operands, has_bias ? 3 : 2, attrs);
}

static CleaveResult *
lower_conv (const CleaveNode *node)
{
  const CleaveTfliteConvAttrs *a = node->attrs;
  g_autoptr (CleaveTensor) zero = read (node, Y_ZERO);
  gint64 n = cleave_result_get_type (node->operands[W].result)->shape.dim[0];

  if (zero == NULL || node->n_operands > B + 1) /* refuse weights with zero points */
    return NULL;
  return finish (node, convolve (node, "Conv", &a->conv, 0, n), load (zero, 0), a->min, a->max);
}

static CleaveResult *
lower_conv_transpose (const CleaveNode *node)
{
  const CleaveTfliteConvTransposeAttrs *a = node->attrs;
  g_autoptr (CleaveTensor) zero = read (node, Y_ZERO);
  gint64 n = cleave_result_get_type (node->operands[W].result)->shape.dim[1];

  if (zero == NULL || a->conv.group != 1 || node->n_operands > B + 1)
    return NULL;
  return finish (node, convolve (node, "ConvTranspose", &a->conv, 1, n), load (zero, 0), a->min,
                 a->max);
}

/* Adds op `op` on both operands, dequantized with the scales `of_a` and `of_b`. */
static CleaveResult *
combine (const CleaveNode *node, const char *op, double of_a, double of_b)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;

  return binary (node, op, dequantize (node, node->operands[0].result, of_a, a->a_zero),
                 dequantize (node, node->operands[1].result, of_b, a->b_zero));
}

static CleaveResult *
finish_binary (const CleaveNode *node, CleaveResult *y)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;

  return finish (node, y, a->y_zero, a->min, a->max);
}

static CleaveResult *
lower_sum (const CleaveNode *node, const char *op)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  double of_y = ldexp (factor (a->multiplier, a->shift), (int) a->left_shift);

  return finish_binary (node, combine (node, op, factor (a->a_multiplier, a->a_shift) * of_y,
                                       factor (a->b_multiplier, a->b_shift) * of_y));
}

static CleaveResult *
lower_add (const CleaveNode *node)
{
  return lower_sum (node, "Add");
}

static CleaveResult *
lower_sub (const CleaveNode *node)
{
  return lower_sum (node, "Sub");
}

static CleaveResult *
lower_product (const CleaveNode *node, const char *op)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;

  return finish_binary (node, combine (node, op, factor (a->multiplier, a->shift), 1));
}

static CleaveResult *
lower_mul (const CleaveNode *node)
{
  return lower_product (node, "Mul");
}

static CleaveResult *
lower_div (const CleaveNode *node)
{
  return lower_product (node, "Div");
}

static CleaveResult *
lower_mat_mul (const CleaveNode *node)
{
  return lower_product (node, "MatMul");
}

/* Lowers TfliteSquaredDifference: multiplies both operands by the square root of the factor of the
 * square. */
static CleaveResult *
lower_squared_difference (const CleaveNode *node)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  double of_y = ldexp (sqrt (factor (a->multiplier, a->shift)), (int) a->left_shift);
  CleaveResult *d = combine (node, "Sub", factor (a->a_multiplier, a->a_shift) * of_y,
                             factor (a->b_multiplier, a->b_shift) * of_y);

  return finish_binary (node, binary (node, "Mul", d, d));
}

static CleaveResult *
lower_prelu (const CleaveNode *node)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  double of_a = factor (a->a_multiplier, a->a_shift);

  return of_a == 0 ? NULL
                   : finish_binary (node, combine (node, "PRelu", of_a,
                                                   factor (a->multiplier, a->shift) / of_a));
}

static CleaveResult *
lower_average_pool (const CleaveNode *node)
{
  const CleaveTflitePoolAttrs *a = node->attrs;
  CleaveResult *x = dequantize (node, node->operands[0].result, 1, 0);

  return finish (node, unary (node, "AveragePool", x, &a->pool), 0, a->min, a->max);
}

static CleaveResult *
lower_reduction (const CleaveNode *node)
{
  const CleaveTfliteSumAttrs *a = node->attrs;
  CleaveReduceAttrs attrs = { .axes = a->axes, .keepdims = TRUE };
  CleaveResult *x =
      dequantize (node, node->operands[0].result, factor (a->multiplier, a->shift), a->x_zero);

  return quantize (node, unary (node, "ReduceSum", x, &attrs), 1, a->y_zero);
}

/* Lowers TfliteSoftmax. The scale follows from element 1 of its table, which is exp (-scale) in
 * units of 2^-31. */
static CleaveResult *
lower_softmax (const CleaveNode *node)
{
  g_autoptr (CleaveTensor) table = read (node, 1);
  CleaveElement element = node->results[0].type.element;
  int bits = 8 * (int) cleave_element_size (element);
  CleaveResult *x;

  if (table == NULL)
    return NULL;
  x = dequantize (node, node->operands[0].result,
                  -log (MAX ((double) load (table, 1), 0.5) * 0x1p-31), 0);
  x = unary (node, "Softmax", x, &(CleaveAxisAttrs){ -1 });
  return quantize (node, x, ldexp (1, -bits), lowest (element));
}

/* Lowers LOGISTIC, TANH and SOFTMAX on int16, whose results have units of 2^-15. */
static CleaveResult *
lower_unit (const CleaveNode *node, const char *op, double scale, gconstpointer attrs)
{
  CleaveResult *x = dequantize (node, node->operands[0].result, scale, 0);

  return quantize (node, unary (node, op, x, attrs), 0x1p-15, 0);
}

static CleaveResult *
lower_softmax_16 (const CleaveNode *node)
{
  const CleaveTfliteRescaleAttrs *a = node->attrs;

  return lower_unit (node, "Softmax", factor (a->multiplier, a->shift) * 10 / 65535,
                     &(CleaveAxisAttrs){ -1 });
}

/* Returns the scale of x in a sigmoid: the multiplier and a right shift convert x to units of 1 /
 * 12288. */
static double
sigmoid_scale (const CleaveNode *node)
{
  const CleaveTfliteRescaleAttrs *a = node->attrs;

  return ldexp ((double) a->multiplier, -(int) a->shift) / 12288;
}

static CleaveResult *
lower_logistic (const CleaveNode *node)
{
  return lower_unit (node, "Sigmoid", sigmoid_scale (node), NULL);
}

static CleaveResult *
lower_tanh (const CleaveNode *node)
{
  return lower_unit (node, "Tanh", sigmoid_scale (node), NULL);
}

static CleaveResult *
lower_lookup (const CleaveNode *node)
{
  CleaveResult *at =
      unary (node, "Cast", node->operands[0].result, &(CleaveCastAttrs){ CLEAVE_INT32 });

  if (element_of (node->operands[0].result) == CLEAVE_INT8)
    at = binary (node, "Add", at, integer (node, CLEAVE_INT32, 128));
  return add (node, "Gather", (CleaveResult *[]){ node->operands[1].result, at }, 2,
              &(CleaveAxisAttrs){ 0 });
}

/* Lowers a TfliteRescale. If values below the zero point have a factor of their own, this factor
 * becomes the slope of a PRelu. */
static CleaveResult *
lower_rescale (const CleaveNode *node)
{
  const CleaveTfliteRescaleAttrs *a = node->attrs;
  double above = factor (a->multiplier, a->shift);
  double below = factor (a->negative_multiplier, a->negative_shift);
  float slope = (float) (below / above);
  CleaveResult *x;

  if (a->to == CLEAVE_INT32 || above == 0 ||
      (a->x_zero != 0 && element_of (node->operands[0].result) == CLEAVE_INT32))
    return NULL;
  x = dequantize (node, node->operands[0].result, above, a->x_zero);
  if (below != above)
    x = binary (node, "PRelu", x, constant (node, CLEAVE_FLOAT32, 0, &slope));
  return quantize (node, x, 1, a->y_zero);
}

static CleaveResult *
lower_quantize (const CleaveNode *node)
{
  const CleaveTfliteQuantizeAttrs *a = node->attrs;

  return quantize (node, node->operands[0].result, a->scale, a->zero);
}

/* The ops that can be lowered, and the functions that lower them. */
static const struct
{
  const char *op;
  CleaveResult *(*lower) (const CleaveNode *node);
} lowerings[] = {
  { "TfliteConv", lower_conv },
  { "TfliteConvTranspose", lower_conv_transpose },
  { "TfliteAdd", lower_add },
  { "TfliteSub", lower_sub },
  { "TfliteMul", lower_mul },
  { "TfliteDiv", lower_div },
  { "TfliteMatMul", lower_mat_mul },
  { "TfliteSquaredDifference", lower_squared_difference },
  { "TflitePRelu", lower_prelu },
  { "TfliteAveragePool", lower_average_pool },
  { "TfliteSum", lower_reduction },
  { "TfliteSoftmax", lower_softmax },
  { "TfliteSoftmax16", lower_softmax_16 },
  { "TfliteLogistic", lower_logistic },
  { "TfliteTanh", lower_tanh },
  { "TfliteLookup", lower_lookup },
  { "TfliteRescale", lower_rescale },
  { "TfliteQuantize", lower_quantize },
};

static gboolean
visit (CleaveNode *node)
{
  guint first_new = node->graph->n_ids;

  if ((node->op->flags & CLEAVE_OP_NOT_ONNX) == 0)
    return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS (lowerings); i++)
    if (node->op == cleave_op_lookup (lowerings[i].op))
      return cleave_node_give_way (node, lowerings[i].lower (node), first_new);
  return FALSE;
}

const CleavePassInfo cleave_pass_info_tflite_to_qdq = {
  .name = "tflite-to-qdq",
  .summary = "Replaces ops of TensorFlow Lite by DequantizeLinear, ops on floats and "
             "QuantizeLinear; integers may change by one.",
  .visit = visit,
};
