/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces ops of TensorFlow Lite by ops of ONNX between DequantizeLinear and QuantizeLinear. Each
 * lower_ function returns the result that replaces the result of `node`; NULL: the op stays. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include <cleave/cleave-tflite.h>
#include <math.h>

#include "help.h"
#include "to-qdq-nodes.h"

/*       x   w                    x              w
 *        \ /                     |              |
 *    TfliteConv     =>   DequantizeLinear  DequantizeLinear
 *                                 \            /
 *                                      Conv
 *                                       |
 *                                 QuantizeLinear
 *
 * The ops of TensorFlow Lite contain ratios of scales, not the scales. So each result gets the
 * scale 1, and the ratios become scales of operands. In the drawing, x gets the scale 1, and the
 * weights w get the ratio as their scale. A lookup in a table becomes a Gather, which is exact.
 * QuantizeLinear rounds once, ties to even; the ops of TensorFlow Lite round twice, ties away from
 * zero. So results may differ by one, and no pipeline of the library has this pass.
 *
 * Before: a valid graph.  After: the only ops of TensorFlow Lite are TfliteLstm, and ops whose
 * multipliers are not constant. */

/* Adds a node with op `op`, and returns its result. The node reads both operands of `node`,
 * dequantized with the scales `of_a` and `of_b`. */
static CleaveResult *
combine (const CleaveNode *node, const char *op, double of_a, double of_b)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;

  return cleave_to_qdq_binary (
      node, op, cleave_to_qdq_dequantize (node, node->operands[0].result, of_a, a->a_zero),
      cleave_to_qdq_dequantize (node, node->operands[1].result, of_b, a->b_zero));
}

static CleaveResult *
finish_binary (const CleaveNode *node, CleaveResult *y)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;

  return cleave_to_qdq_finish (node, y, a->y_zero, a->min, a->max);
}

static CleaveResult *
lower_sum (const CleaveNode *node, const char *op)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  double of_y = ldexp (cleave_to_qdq_factor (a->multiplier, a->shift), (int) a->left_shift);

  return finish_binary (node, combine (node, op,
                                       cleave_to_qdq_factor (a->a_multiplier, a->a_shift) * of_y,
                                       cleave_to_qdq_factor (a->b_multiplier, a->b_shift) * of_y));
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

  return finish_binary (node,
                        combine (node, op, cleave_to_qdq_factor (a->multiplier, a->shift), 1));
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

/* Lowers TfliteSquaredDifference, which computes f * (a - b)^2 with a factor f. Multiplies both
 * operands by the square root of f, so that the square needs no factor. */
static CleaveResult *
lower_squared_difference (const CleaveNode *node)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  double of_y = ldexp (sqrt (cleave_to_qdq_factor (a->multiplier, a->shift)), (int) a->left_shift);
  CleaveResult *d = combine (node, "Sub", cleave_to_qdq_factor (a->a_multiplier, a->a_shift) * of_y,
                             cleave_to_qdq_factor (a->b_multiplier, a->b_shift) * of_y);

  return finish_binary (node, cleave_to_qdq_binary (node, "Mul", d, d));
}

static CleaveResult *
lower_prelu (const CleaveNode *node)
{
  const CleaveTfliteBinaryAttrs *a = node->attrs;
  double of_a = cleave_to_qdq_factor (a->a_multiplier, a->a_shift);

  return of_a == 0 ? NULL
                   : finish_binary (
                         node, combine (node, "PRelu", of_a,
                                        cleave_to_qdq_factor (a->multiplier, a->shift) / of_a));
}

static CleaveResult *
lower_average_pool (const CleaveNode *node)
{
  const CleaveTflitePoolAttrs *a = node->attrs;
  CleaveResult *x = cleave_to_qdq_dequantize (node, node->operands[0].result, 1, 0);

  return cleave_to_qdq_finish (node, cleave_to_qdq_unary (node, "AveragePool", x, &a->pool), 0,
                               a->min, a->max);
}

static CleaveResult *
lower_reduction (const CleaveNode *node)
{
  const CleaveTfliteSumAttrs *a = node->attrs;
  CleaveReduceAttrs attrs = { .axes = a->axes, .keepdims = TRUE };
  CleaveResult *x = cleave_to_qdq_dequantize (
      node, node->operands[0].result, cleave_to_qdq_factor (a->multiplier, a->shift), a->x_zero);

  return cleave_to_qdq_quantize (node, cleave_to_qdq_unary (node, "ReduceSum", x, &attrs), 1,
                                 a->y_zero);
}

/* Lowers TfliteSoftmax. Operand 1 is a table. The scale of operand 0 follows from element 1 of the
 * table, which is exp (-scale) in units of 2^-31. */
static CleaveResult *
lower_softmax (const CleaveNode *node)
{
  g_autoptr (CleaveTensor) table = cleave_to_qdq_read (node, 1);
  CleaveElement element = node->results[0].type.element;
  int bits = 8 * (int) cleave_element_size (element);
  CleaveResult *x;

  if (table == NULL)
    return NULL;
  x = cleave_to_qdq_dequantize (node, node->operands[0].result,
                                -log (MAX ((double) cleave_to_qdq_load (table, 1), 0.5) * 0x1p-31),
                                0);
  x = cleave_to_qdq_unary (node, "Softmax", x, &(CleaveAxisAttrs){ -1 });
  return cleave_to_qdq_quantize (node, x, ldexp (1, -bits), cleave_to_qdq_lowest (element));
}

/* Lowers LOGISTIC, TANH and SOFTMAX on int16, whose results have units of 2^-15. */
static CleaveResult *
lower_unit (const CleaveNode *node, const char *op, double scale, gconstpointer attrs)
{
  CleaveResult *x = cleave_to_qdq_dequantize (node, node->operands[0].result, scale, 0);

  return cleave_to_qdq_quantize (node, cleave_to_qdq_unary (node, op, x, attrs), 0x1p-15, 0);
}

static CleaveResult *
lower_softmax_16 (const CleaveNode *node)
{
  const CleaveTfliteRescaleAttrs *a = node->attrs;

  return lower_unit (node, "Softmax", cleave_to_qdq_factor (a->multiplier, a->shift) * 10 / 65535,
                     &(CleaveAxisAttrs){ -1 });
}

/* Returns the scale of the operand of a LOGISTIC or TANH on int16. A stored number, times
 * `multiplier`, shifted right by `shift` bits, is the operand in units of 1 / 12288. */
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
  CleaveResult *at = cleave_to_qdq_unary (node, "Cast", node->operands[0].result,
                                          &(CleaveCastAttrs){ CLEAVE_INT32 });

  if (cleave_to_qdq_element (node->operands[0].result) == CLEAVE_INT8)
    at = cleave_to_qdq_binary (node, "Add", at, cleave_to_qdq_integer (node, CLEAVE_INT32, 128));
  return cleave_to_qdq_add (node, "Gather", (CleaveResult *[]){ node->operands[1].result, at }, 2,
                            &(CleaveAxisAttrs){ 0 });
}

/* Lowers a TfliteRescale. If values below the zero point have a factor of their own, this factor
 * becomes the slope of a PRelu. */
static CleaveResult *
lower_rescale (const CleaveNode *node)
{
  const CleaveTfliteRescaleAttrs *a = node->attrs;
  double above = cleave_to_qdq_factor (a->multiplier, a->shift);
  double below = cleave_to_qdq_factor (a->negative_multiplier, a->negative_shift);
  float slope = (float) (below / above);
  CleaveResult *x;

  if (a->to == CLEAVE_INT32 || above == 0 ||
      (a->x_zero != 0 && cleave_to_qdq_element (node->operands[0].result) == CLEAVE_INT32))
    return NULL;
  x = cleave_to_qdq_dequantize (node, node->operands[0].result, above, a->x_zero);
  if (below != above)
    x = cleave_to_qdq_binary (node, "PRelu", x,
                              cleave_to_qdq_constant (node, CLEAVE_FLOAT32, 0, &slope));
  return cleave_to_qdq_quantize (node, x, 1, a->y_zero);
}

static CleaveResult *
lower_quantize (const CleaveNode *node)
{
  const CleaveTfliteQuantizeAttrs *a = node->attrs;

  return cleave_to_qdq_quantize (node, node->operands[0].result, a->scale, a->zero);
}

/* The ops that can be lowered, and the functions that lower them. */
static const struct
{
  const char *op;
  CleaveResult *(*lower) (const CleaveNode *node);
} lowerings[] = {
  { "TfliteConv", cleave_to_qdq_conv },
  { "TfliteConvTranspose", cleave_to_qdq_conv_transpose },
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
