/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts constants to the form that the graph needs: weights of integers whose zero point is not
 * 0, as in old models of uint8, and sparse constants.
 *
 * A convolution adds up (x - x_zero) * (w - w_zero). If all differences w - w_zero fit int8, the
 * differences become the weights: kernels without w_zero are faster, and bundles have no kernels
 * with w_zero. If a difference does not fit, w_zero is an operand. */

#include "convert.h"

#include "../ir/graph-private.h"

/* Subtracts `zero` from each of `n` elements. Returns whether all differences fit int8. */
static gboolean
subtract (gint8 *elements, gint64 zero, gint64 n)
{
  gboolean fits = TRUE;

  for (gint64 i = 0; i < n; i++)
    {
      gint64 value = elements[i] - zero;

      elements[i] = (gint8) value;
      fits = fits && elements[i] == value;
    }
  return fits;
}

/* Returns the weights minus their zero point, as int8. Returns NULL if a difference does not fit.
 */
static CleaveTensor *
center (CleaveTensor *weights, gint64 zero)
{
  g_autoptr (CleaveTensor) dense = cleave_tensor_dup_dense (weights);
  const CleaveTensorType *type = cleave_tensor_get_type (dense);
  gint64 n = cleave_shape_n_elements (&type->shape);
  CleaveTensor *centered = cleave_tensor_new_copy (type, cleave_tensor_get_data (dense), NULL);

  if (!subtract (cleave_tensor_get_mutable_data (centered), zero, n))
    g_clear_pointer (&centered, cleave_tensor_unref);
  return centered;
}

gboolean
cleave_tflite_add_weights_zero (CleaveTfliteImport *import,
                                const CleaveTfliteTensor *tensor,
                                CleaveTfliteConvParts *parts,
                                GError **error)
{
  CleaveNode *w = parts->operands[2]->node;
  gint64 zero = cleave_tflite_zero_point (tensor, 0);
  CleaveTensor *centered = NULL;

  for (guint c = 1; c < tensor->quantization.zeros.n; c++)
    if (cleave_tflite_zero_point (tensor, c) != zero)
      return cleave_tflite_refuse (error, "the weights have different zero points");
  if (zero < G_MININT8 || zero > G_MAXINT8)
    return cleave_tflite_refuse (error, "the zero point of the weights is beyond their type");
  if (zero == 0)
    return TRUE;
  if (w->op == &cleave_op_constant)
    {
      if (!cleave_tflite_take_bytes (import, cleave_tensor_type_n_bytes (&w->results[0].type),
                                     error))
        return FALSE;
      centered = center (cleave_node_get_constant (w), zero);
    }
  if (centered != NULL)
    parts->operands[2] = cleave_tflite_add_constant (import, centered);
  else
    parts->operands[7] = cleave_tflite_add_integer (import, CLEAVE_INT8, (gint32) zero);
  return TRUE;
}

/* Converts DENSIFY. The import reads each sparse constant as a dense tensor, so no node is needed.
 */
gboolean
cleave_tflite_convert_densify (CleaveTfliteImport *import, GError **error)
{
  CleaveTensor *constant;

  if (!cleave_tflite_find_constant (import, 0, &constant, error))
    return FALSE;
  if (constant == NULL)
    return cleave_tflite_refuse (error, "input 0 must be a constant");
  return cleave_tflite_set_constant (import, 0, cleave_tensor_ref (constant), error);
}
