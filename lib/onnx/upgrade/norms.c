/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades forms of BatchNormalization and LayerNormalization that our op records do not have. */

#include "contrib.h"

#define STEP CLEAVE_ONNX_STEP

/* The functions below upgrade forms of BatchNormalization. */

/* Upgrades a BatchNormalization before opset 9 with spatial = 0. Each element of an image has
 * parameters of its own: y = (x - mean) * (scale / sqrt (variance + epsilon)) + b. */
static gboolean
normalize_elements (CleaveOnnxNode *node, GError **error)
{
  double epsilon = cleave_onnx_node_take_real (node, "epsilon", 1e-5f);
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0), *deviation, *y;
  CleaveElement element;
  gboolean is_test;

  is_test = cleave_onnx_node_take_int (node, "is_test", 0) != 0;
  cleave_onnx_node_take_real (node, "momentum", 0.9f);
  if (!cleave_onnx_node_need (node, 5, error) || !cleave_onnx_node_check_no_attrs (node, error))
    return FALSE;
  if (node->n_declared == 5 && !is_test)
    return cleave_onnx_node_fail (node, error,
                                  "spatial = 0 is supported for inference, with one result");
  element = cleave_onnx_value_type (x)->element;
  deviation = STEP ("Sqrt", ".deviation", NULL,
                    STEP ("Add", ".variance", NULL, cleave_onnx_node_operand (node, 4),
                          cleave_onnx_real (node, element, epsilon)));
  y = STEP ("Mul", ".scaled", NULL,
            STEP ("Sub", ".centered", NULL, x, cleave_onnx_node_operand (node, 3)),
            STEP ("Div", ".scale", NULL, cleave_onnx_node_operand (node, 1), deviation));
  return cleave_onnx_finish (node, STEP ("Add", "", NULL, y, cleave_onnx_node_operand (node, 2)));
}

/* Upgrades forms of BatchNormalization: spatial = 0, and an operand of rank 1. An operand with N
 * elements is reshaped to [N, 1], N images with one channel. */
gboolean
cleave_onnx_upgrade_batch_norm_forms (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  CleaveOnnxValue *value;

  if (cleave_onnx_node_take_int (node, "spatial", 1) == 0)
    return normalize_elements (node, error);
  if (x == NULL || x->rank != 1)
    return cleave_onnx_upgrade_batch_norm (node, error);
  value = cleave_onnx_reshape (node, cleave_onnx_node_operand (node, 0),
                               &CLEAVE_SHAPE (x->dim[0], 1), ".column", error);
  if (value == NULL)
    return FALSE;
  cleave_onnx_node_set_operand (node, 0, value);
  if (!cleave_onnx_upgrade_batch_norm (node, error) ||
      (node->values == NULL && !cleave_onnx_node_make (node, error)))
    return FALSE;
  value = cleave_onnx_reshape (node, node->values->pdata[0], x, ".line", error);
  node->values->pdata[0] = value;
  return value != NULL;
}

/* The functions below upgrade forms of LayerNormalization. */

/* Removes leading dimensions of extent 1 from an operand until its rank is `rank`. */
static gboolean
drop_leading_ones (
    CleaveOnnxNode *node, guint operand, guint rank, const char *suffix, GError **error)
{
  const CleaveShape *own = cleave_onnx_node_operand_shape (node, operand);
  CleaveShape shape = { 0 };
  CleaveOnnxValue *value;
  guint first = 0;

  while (own != NULL && own->rank - first > rank && own->dim[first] == 1)
    first++;
  if (first == 0)
    return TRUE;
  for (guint d = first; d < own->rank; d++)
    shape.dim[shape.rank++] = own->dim[d];
  value =
      cleave_onnx_reshape (node, cleave_onnx_node_operand (node, operand), &shape, suffix, error);
  if (value != NULL)
    cleave_onnx_node_set_operand (node, operand, value);
  return value != NULL;
}

/* Returns whether an operand (scale or bias) has more dimensions than LayerNormalization
 * normalizes, and broadcasts to X. `own`: shape of the operand; `n_inner`: number of normalized
 * dimensions. */
static gboolean
reaches_out (const CleaveShape *x, const CleaveShape *own, guint n_inner)
{
  CleaveShape both;

  return own != NULL && own->rank > n_inner && cleave_shape_broadcast (x, own, &both) &&
         cleave_shape_equal (x, &both);
}

/* Adds a LayerNormalization of `x` with scale 1 and without bias, and returns its result; NULL on
 * error. Moves the attributes of `node` to the added node. */
static CleaveOnnxNode *
normalize_only (CleaveOnnxNode *node, CleaveOnnxValue *x, GError **error)
{
  CleaveTensorType type = CLEAVE_TYPE (cleave_onnx_value_type (x)->element, 1);
  g_autofree char *name = g_strconcat (node->name, ".normalized", NULL);
  g_autoptr (CleaveOnnxNode) made =
      cleave_onnx_node_new (node->import, node->op, name, node->n_results);
  CleaveTensor *one = cleave_tensor_new (&type, NULL);

  cleave_onnx_fill (one, 1);
  while (node->attrs->len > 0)
    g_ptr_array_add (made->attrs, g_ptr_array_steal_index (node->attrs, 0));
  cleave_onnx_node_set_operand (made, 0, x);
  cleave_onnx_node_set_operand (made, 1, cleave_onnx_value_new_constant (node->import, NULL, one));
  return cleave_onnx_node_make (made, error) ? g_steal_pointer (&made) : NULL;
}

/* Replaces a LayerNormalization by a LayerNormalization without scale and bias, a Mul by the scale
 * and an Add of the bias. Computes in float32 if the elements have fewer bits. */
static gboolean
scale_by_own_nodes (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *operands[3] = { NULL }, *y;
  CleaveElement element = cleave_onnx_value_type (cleave_onnx_node_operand (node, 0))->element;
  static const char *const suffixes[] = { ".x.float", ".scale.float", ".bias.float" };
  g_autoptr (CleaveOnnxNode) made = NULL;

  for (guint i = 0; i < 3 && cleave_onnx_node_operand (node, i) != NULL; i++)
    {
      operands[i] = cleave_onnx_node_operand (node, i);
      if (cleave_element_size (element) < sizeof (float))
        operands[i] = cleave_onnx_cast (node, operands[i], CLEAVE_FLOAT32, suffixes[i], error);
      if (operands[i] == NULL)
        return FALSE;
    }
  made = normalize_only (node, operands[0], error);
  if (made == NULL)
    return FALSE;
  y = STEP ("Mul", ".scaled", NULL, made->values->pdata[0], operands[1]);
  if (operands[2] != NULL)
    y = STEP ("Add", ".moved", NULL, y, operands[2]);
  y = y == NULL ? NULL : cleave_onnx_cast (node, y, element, ".y", error);
  made->values->pdata[0] = y;
  return y != NULL && cleave_onnx_finish_all (node, (CleaveOnnxValue *const *) made->values->pdata,
                                              made->values->len);
}

/* Upgrades a LayerNormalization whose scale or bias has dimensions that are not normalized: a Mul
 * and an Add apply the scale and the bias. */
gboolean
cleave_onnx_upgrade_layer_norm (CleaveOnnxNode *node, GError **error)
{
  gint64 axis = cleave_onnx_node_get_int (node, "axis", -1);
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  guint n_inner;

  if (x != NULL && axis < 0)
    axis += x->rank;
  if (x == NULL || cleave_onnx_node_operand (node, 1) == NULL || axis < 0 || axis >= x->rank)
    return TRUE;
  n_inner = x->rank - (guint) axis;
  if (!drop_leading_ones (node, 1, n_inner, ".scale", error) ||
      !drop_leading_ones (node, 2, n_inner, ".bias", error))
    return FALSE;
  if (!reaches_out (x, cleave_onnx_node_operand_shape (node, 1), n_inner) &&
      !reaches_out (x, cleave_onnx_node_operand_shape (node, 2), n_inner))
    return TRUE;
  return scale_by_own_nodes (node, error);
}
