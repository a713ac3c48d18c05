/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces a product by a QLinearConv or a QLinearMatMul. A product is a Conv or MatMul between
 * nodes that dequantize its operands from bytes and a node that quantizes its result to bytes. */

#include "../info.h"

#include "../../lib/ir/defaults.h"

#include <math.h>

#include "help.h"

/*          x                     w
 *          |                     |
 *  DequantizeLinear      DequantizeLinear        x   w   bias of int32
 *             \           /                       \  |  /
 *           Conv or MatMul                =>    QLinearConv
 *                  |                                 |
 *            Relu or Clip
 *                  |
 *           QuantizeLinear
 *                  |
 *
 * The fused op sums integers and rounds once; floats are rounded after each product.  A result next
 * to a tie may differ by one, so no pipeline of the library has this pass.
 *
 * Before: a valid graph. After: a product of bytes with constant scales is left only if a node
 * outside the pattern reads a value between the nodes of the pattern. The pass drops a Relu or Clip
 * whose bounds contain the range of the byte. */

enum { X, SCALE, ZERO }; /* operand indices of QuantizeLinear and DequantizeLinear */
enum { W = 1, BIAS };    /* operand indices of Conv and MatMul */
/* operand indices of QLinearConv; QLinearMatMul has the same operands, without the bias */
enum { TO_X, TO_X_SCALE, TO_X_ZERO, TO_W, TO_W_SCALE, TO_W_ZERO, TO_Y_SCALE, TO_Y_ZERO, TO_BIAS };

/* The `n` elements of a constant, in `dense`, a contiguous copy of the constant. */
typedef struct
{
  CleaveTensor *dense;
  gint64 n;
} Numbers;

static void
numbers_clear (Numbers *numbers)
{
  g_clear_pointer (&numbers->dense, cleave_tensor_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Numbers, numbers_clear)

static gboolean
has (const CleaveNode *node, guint operand)
{
  return operand < node->n_operands && node->operands[operand].result != NULL;
}

/* Sets `numbers` to the elements of an operand. Returns FALSE if the operand is missing or not
 * constant. */
static gboolean
get_numbers (const CleaveNode *node, guint operand, Numbers *numbers)
{
  const CleaveResult *value = has (node, operand) ? node->operands[operand].result : NULL;
  CleaveTensor *tensor = value == NULL ? NULL : cleave_node_get_final_constant (value->node);

  if (tensor == NULL)
    return FALSE;
  numbers->dense = cleave_tensor_dup_dense (tensor);
  numbers->n = cleave_shape_n_elements (&value->type.shape);
  return TRUE;
}

/* Returns element `index` of a constant as a double. If the constant has one element, returns
 * this element for any index. */
static double
get (const Numbers *numbers, gint64 index)
{
  gconstpointer data = cleave_tensor_get_data (numbers->dense);
  gint64 i = numbers->n == 1 ? 0 : index;

  switch (cleave_tensor_get_type (numbers->dense)->element)
    {
    case CLEAVE_FLOAT32:
      return (double) ((const float *) data)[i];
    case CLEAVE_INT32:
      return ((const gint32 *) data)[i];
    case CLEAVE_INT8:
      return ((const gint8 *) data)[i];
    case CLEAVE_UINT8:
      return ((const guint8 *) data)[i];
    default:
      return NAN;
    }
}

static gboolean
is_byte (CleaveElement element)
{
  return element == CLEAVE_INT8 || element == CLEAVE_UINT8;
}

/* Returns the DequantizeLinear that computes an operand from bytes. Its scales must be constant:
 * one scale for all elements, or one for each index of dimension `axis`. `axis` -1: only one scale
 * is allowed. Returns NULL if there is no such node. */
static const CleaveNode *
find_bytes (const CleaveNode *node, guint operand, gint64 axis)
{
  const CleaveNode *from = node->operands[operand].result->node;
  const CleaveResult *scale;

  if (!cleave_node_is (from, CLEAVE_KNOWN_DEQUANTIZE_LINEAR) ||
      !is_byte (from->operands[X].result->type.element))
    return NULL;
  scale = from->operands[SCALE].result;
  if (cleave_shape_n_elements (&scale->type.shape) != 1 &&
      (axis < 0 || ((const CleaveAxisAttrs *) from->attrs)->axis != axis))
    return NULL;
  return scale->type.element == CLEAVE_FLOAT32 &&
                 cleave_node_get_final_constant (scale->node) != NULL
             ? from
             : NULL;
}

/* Returns whether the Relu or Clip `bound` changes nothing: `quantize` clamps to a byte, and the
 * range of this byte lies within the bounds of `bound`. */
static gboolean
is_kept_by_range (const CleaveNode *bound, const CleaveNode *quantize)
{
  g_auto (Numbers) scale = { 0 }, zero = { 0 };
  gboolean is_signed = quantize->results[0].type.element == CLEAVE_INT8;
  double least = is_signed ? -128 : 0, lowest = 0, highest = INFINITY, at;

  if (!get_numbers (quantize, SCALE, &scale) ||
      (has (quantize, ZERO) && !get_numbers (quantize, ZERO, &zero)))
    return FALSE;
  if (cleave_node_is (bound, CLEAVE_KNOWN_CLIP))
    {
      const CleaveClipAttrs *a = bound->attrs;

      lowest = a->min;
      highest = a->max;
    }
  at = zero.dense == NULL ? 0 : get (&zero, 0);
  return get (&scale, 0) > 0 && rint (lowest / get (&scale, 0)) + at <= least &&
         rint (highest / get (&scale, 0)) + at >= least + 255;
}

/* Returns the Conv or MatMul whose result `quantize` quantizes. A Relu or Clip may stand between
 * both nodes if it changes nothing (is_kept_by_range()). Returns NULL if there is no such node, or
 * if the result of the Conv or MatMul has other readers. */
static const CleaveNode *
find_product (const CleaveNode *quantize)
{
  const CleaveNode *node = quantize->operands[X].result->node;

  if ((cleave_node_is (node, CLEAVE_KNOWN_RELU) || cleave_node_is (node, CLEAVE_KNOWN_CLIP)) &&
      node->n_operands == 1 && node->results[0].n_uses == 1 && is_kept_by_range (node, quantize))
    node = node->operands[X].result->node;
  return (cleave_node_is (node, CLEAVE_KNOWN_CONV) || cleave_node_is (node, CLEAVE_KNOWN_MATMUL)) &&
                 node->results[0].n_uses == 1 && !cleave_node_is_fixed (node)
             ? node
             : NULL;
}

/* Sets `to` to the bias of each channel c in integers: round (bias[c] * own[c] / (x[0] * w[c])),
 * with the scales `x` and `w` of both operands. `own` has the scales of a quantized bias, and is
 * empty for a float bias. Returns FALSE if an integer does not fit into 32 bits. */
static gboolean
round_bias (const Numbers *bias, const Numbers *own, const Numbers *x, const Numbers *w, gint32 *to)
{
  for (gint64 c = 0; c < bias->n; c++)
    {
      double value = get (bias, c) * (own->dense == NULL ? 1 : get (own, c));
      double units = rint (value / (get (x, 0) * get (w, c)));

      if (!(fabs (units) < G_MAXINT32))
        return FALSE;
      to[c] = (gint32) units;
    }
  return TRUE;
}

/* Sets `bias` to the numbers of a bias: a float constant, or the int32 operand of a
 * DequantizeLinear with zero point 0. Sets `own` to the scales of this DequantizeLinear. Returns
 * FALSE if the bias has neither form. */
static gboolean
get_bias (const CleaveNode *conv, Numbers *bias, Numbers *own)
{
  const CleaveNode *from = conv->operands[BIAS].result->node;
  g_auto (Numbers) zero = { 0 };

  if (!cleave_node_is (from, CLEAVE_KNOWN_DEQUANTIZE_LINEAR))
    return get_numbers (conv, BIAS, bias);
  if (from->operands[X].result->type.element != CLEAVE_INT32 || !get_numbers (from, X, bias) ||
      !get_numbers (from, SCALE, own) || (has (from, ZERO) && !get_numbers (from, ZERO, &zero)))
    return FALSE;
  for (gint64 i = 0; i < zero.n; i++)
    if (get (&zero, i) != 0)
      return FALSE;
  return TRUE;
}

/* Sets `*made` to the bias as an int32 constant. Leaves `*made` unchanged if the convolution has no
 * bias. Returns FALSE if the bias cannot be converted. */
static gboolean
make_bias (const CleaveNode *conv, const CleaveNode *x, const CleaveNode *w, CleaveTensor **made)
{
  g_auto (Numbers) bias = { 0 }, own = { 0 }, x_scale = { 0 }, w_scale = { 0 };
  CleaveTensorType type = { CLEAVE_INT32, { 1, { 0 } } };
  g_autoptr (CleaveTensor) tensor = NULL;

  if (!has (conv, BIAS))
    return TRUE;
  if (!get_bias (conv, &bias, &own) || !get_numbers (x, SCALE, &x_scale) ||
      !get_numbers (w, SCALE, &w_scale))
    return FALSE;
  type.shape.dim[0] = bias.n;
  tensor = cleave_tensor_new (&type, NULL);
  if (tensor == NULL ||
      !round_bias (&bias, &own, &x_scale, &w_scale, cleave_tensor_get_mutable_data (tensor)))
    return FALSE;
  *made = g_steal_pointer (&tensor);
  return TRUE;
}

/* Returns the zero point of a node. If the node has no zero point, adds and returns a constant
 * 0. */
static CleaveResult *
find_zero (const CleaveNode *node, CleaveElement element)
{
  const CleaveTensorType type = { element, { 0 } };
  g_autoptr (CleaveTensor) zero = NULL;

  if (has (node, ZERO))
    return node->operands[ZERO].result;
  zero = cleave_tensor_new (&type, NULL);
  *(guint8 *) cleave_tensor_get_mutable_data (zero) = 0;
  return cleave_graph_add_constant (node->graph, node->name, zero);
}

static void
take_bytes (const CleaveNode *from, CleaveResult **operands)
{
  operands[0] = from->operands[X].result;
  operands[1] = from->operands[SCALE].result;
  operands[2] = find_zero (from, from->operands[X].result->type.element);
}

static gboolean
fuse (CleaveNode *quantize, const CleaveNode *product, const CleaveNode *x, const CleaveNode *w)
{
  g_autoptr (CleaveTensor) bias = NULL;
  gboolean is_conv = cleave_node_is (product, CLEAVE_KNOWN_CONV);
  CleaveResult *operands[TO_BIAS + 1] = { 0 };
  guint first_new = quantize->graph->n_ids;
  CleaveNode *node;

  if (is_conv && !make_bias (product, x, w, &bias))
    return FALSE;
  take_bytes (x, &operands[TO_X]);
  take_bytes (w, &operands[TO_W]);
  operands[TO_Y_SCALE] = quantize->operands[SCALE].result;
  operands[TO_Y_ZERO] = find_zero (quantize, quantize->results[0].type.element);
  if (bias != NULL)
    operands[TO_BIAS] = cleave_graph_add_constant (quantize->graph, product->name, bias);
  node = cleave_graph_add (
      quantize->graph,
      cleave_known_op (is_conv ? CLEAVE_KNOWN_QLINEAR_CONV : CLEAVE_KNOWN_QLINEAR_MATMUL),
      product->name, operands, bias == NULL ? TO_BIAS : TO_BIAS + 1, 1,
      is_conv ? product->attrs : NULL, NULL);
  if (node == NULL)
    return FALSE;
  return cleave_node_give_way (quantize, &node->results[0], first_new);
}

static gboolean
visit (CleaveNode *node)
{
  const CleaveNode *product, *x, *w;
  gint64 axis;

  if (!cleave_node_is (node, CLEAVE_KNOWN_QUANTIZE_LINEAR) ||
      !is_byte (node->results[0].type.element) ||
      cleave_shape_n_elements (&node->operands[SCALE].result->type.shape) != 1)
    return FALSE;
  product = find_product (node);
  if (product == NULL)
    return FALSE;
  /* dimension of the weights that holds the channels of the result: the first for a Conv, the last
   * for a matrix */
  axis = cleave_node_is (product, CLEAVE_KNOWN_CONV)         ? 0
         : product->operands[W].result->type.shape.rank == 2 ? 1
                                                             : -1;
  x = find_bytes (product, X, -1);
  w = find_bytes (product, W, axis);
  return x != NULL && w != NULL && fuse (node, product, x, w);
}

const CleavePassInfo cleave_pass_info_fuse_quantized = {
  .name = "fuse-quantized",
  .summary = "Replaces a Conv or MatMul between bytes by one on bytes; may change a byte by one.",
  .visit = visit,
};
