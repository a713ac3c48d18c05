/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces convolutions of TensorFlow Lite by convolutions of floats. tflite-to-qdq.c has a
 * drawing. Functions that add nodes return the new result; NULL: the node cannot be replaced. */

#include "to-qdq-nodes.h"

#include "../../lib/ir/defaults.h"

#include <cleave/cleave-tflite.h>

/* operand indices of TfliteConv and TfliteConvTranspose */

enum { X, X_ZERO, W, MULTIPLIER, SHIFT, Y_ZERO, B };

/* Adds the scale factors of `n` channels as a constant. */
static CleaveResult *
add_factors (const CleaveNode *node, gint64 n)
{
  g_autoptr (CleaveTensor) multiplier = cleave_to_qdq_read (node, MULTIPLIER),
                           shift = cleave_to_qdq_read (node, SHIFT);
  g_autofree float *factors = g_new (float, (gsize) n);

  if (multiplier == NULL || shift == NULL)
    return NULL;
  for (gint64 c = 0; c < n; c++)
    factors[c] = (float) cleave_to_qdq_factor (cleave_to_qdq_load (multiplier, c),
                                               cleave_to_qdq_load (shift, c));
  return cleave_to_qdq_constant (node, CLEAVE_FLOAT32, n, factors);
}

/* Adds the bias in the unit of the result: a DequantizeLinear of a 32-bit bias, or a constant for a
 * 64-bit bias. */
static CleaveResult *
add_bias (const CleaveNode *node, CleaveResult *factors, gint64 n)
{
  CleaveResult *bias = node->operands[B].result;
  g_autoptr (CleaveTensor) value = NULL, f = NULL;
  g_autofree float *real = NULL;

  if (cleave_to_qdq_element (bias) == CLEAVE_INT32)
    return cleave_to_qdq_add (node, "DequantizeLinear", (CleaveResult *[]){ bias, factors }, 2,
                              &(CleaveAxisAttrs){ 0 });
  value = cleave_to_qdq_read (node, B);
  if (value == NULL)
    return NULL;
  f = cleave_tensor_dup_dense (cleave_node_get_constant (factors->node));
  real = g_new (float, (gsize) n);
  for (gint64 c = 0; c < n; c++)
    real[c] = (float) ((double) cleave_to_qdq_load (value, c) *
                       (double) ((const float *) cleave_tensor_get_data (f))[c]);
  return cleave_to_qdq_constant (node, CLEAVE_FLOAT32, n, real);
}

/* Adds a convolution of floats. Dimension `axis` of its weights holds the channels of the
 * result. */
static CleaveResult *
convolve (const CleaveNode *node, const char *op, gconstpointer attrs, gint64 axis, gint64 n)
{
  gboolean has_bias = node->n_operands > B && node->operands[B].result != NULL;
  g_autoptr (CleaveTensor) zero = cleave_to_qdq_read (node, X_ZERO);
  CleaveResult *factors = add_factors (node, n), *operands[3] = { NULL };

  if (zero == NULL || factors == NULL)
    return NULL;
  operands[0] =
      cleave_to_qdq_dequantize (node, node->operands[X].result, 1, cleave_to_qdq_load (zero, 0));
  operands[1] = cleave_to_qdq_add (node, "DequantizeLinear",
                                   (CleaveResult *[]){ node->operands[W].result, factors }, 2,
                                   &(CleaveAxisAttrs){ axis });
  if (has_bias)
    operands[2] = add_bias (node, factors, n);
  return cleave_to_qdq_add (node, op, operands, has_bias ? 3 : 2, attrs);
}

CleaveResult *
cleave_to_qdq_conv (const CleaveNode *node)
{
  const CleaveTfliteConvAttrs *a = node->attrs;
  g_autoptr (CleaveTensor) zero = cleave_to_qdq_read (node, Y_ZERO);
  gint64 n = cleave_result_get_type (node->operands[W].result)->shape.dim[0];

  if (zero == NULL || node->n_operands > B + 1) /* refuse weights with zero points */
    return NULL;
  return cleave_to_qdq_finish (node, convolve (node, "Conv", &a->conv, 0, n),
                               cleave_to_qdq_load (zero, 0), a->min, a->max);
}

CleaveResult *
cleave_to_qdq_conv_transpose (const CleaveNode *node)
{
  const CleaveTfliteConvTransposeAttrs *a = node->attrs;
  g_autoptr (CleaveTensor) zero = cleave_to_qdq_read (node, Y_ZERO);
  gint64 n = cleave_result_get_type (node->operands[W].result)->shape.dim[1];

  if (zero == NULL || a->conv.group != 1 || node->n_operands > B + 1)
    return NULL;
  return cleave_to_qdq_finish (node, convolve (node, "ConvTranspose", &a->conv, 1, n),
                               cleave_to_qdq_load (zero, 0), a->min, a->max);
}
