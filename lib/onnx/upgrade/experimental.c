/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades the experimental ops of opset 1. Later opsets do not have these ops, but ONNX Runtime
 * still runs them. */

#include "contrib.h"

#define STEP CLEAVE_ONNX_STEP

/* Returns x * scale + bias as a new value. */
static CleaveOnnxValue *
scale_by (CleaveOnnxNode *node,
          const char *suffix,
          CleaveOnnxValue *x,
          double scale,
          double bias,
          GError **error)
{
  g_autofree char *scaled = g_strconcat (suffix, ".scaled", NULL);
  CleaveElement element;

  if (x == NULL)
    return NULL;
  element = cleave_onnx_value_type (x)->element;
  x = STEP ("Mul", scaled, NULL, x, cleave_onnx_real (node, element, scale));
  return bias == 0 ? x : STEP ("Add", suffix, NULL, x, cleave_onnx_real (node, element, bias));
}

static gboolean
check (CleaveOnnxNode *node, GError **error)
{
  return cleave_onnx_node_need (node, 1, error) && cleave_onnx_node_check_no_attrs (node, error);
}

gboolean
cleave_onnx_upgrade_affine (CleaveOnnxNode *node, GError **error)
{
  double alpha = cleave_onnx_node_take_real (node, "alpha", 1),
         beta = cleave_onnx_node_take_real (node, "beta", 0);

  return check (node, error) &&
         cleave_onnx_finish (
             node, scale_by (node, "", cleave_onnx_node_operand (node, 0), alpha, beta, error));
}

gboolean
cleave_onnx_upgrade_scale (CleaveOnnxNode *node, GError **error)
{
  double scale = cleave_onnx_node_take_real (node, "scale", 1);

  return check (node, error) &&
         cleave_onnx_finish (
             node, scale_by (node, "", cleave_onnx_node_operand (node, 0), scale, 0, error));
}

/* Makes alpha * f (beta * x) the node's result, where f is the op `op`. */
static gboolean
scale_around (CleaveOnnxNode *node, const char *op, double alpha, double beta, GError **error)
{
  double outer = cleave_onnx_node_take_real (node, "alpha", alpha),
         inner = cleave_onnx_node_take_real (node, "beta", beta);
  CleaveOnnxValue *x;

  if (!check (node, error))
    return FALSE;
  x = scale_by (node, ".inner", cleave_onnx_node_operand (node, 0), inner, 0, error);
  x = STEP (op, ".f", NULL, x);
  return cleave_onnx_finish (node, scale_by (node, "", x, outer, 0, error));
}

gboolean
cleave_onnx_upgrade_parametric_softplus (CleaveOnnxNode *node, GError **error)
{
  return scale_around (node, "Softplus", 1, 1, error);
}

gboolean
cleave_onnx_upgrade_scaled_tanh (CleaveOnnxNode *node, GError **error)
{
  return scale_around (node, "Tanh", 1, 1, error);
}

/* Upgrades ImageScaler: multiplies by one number, and adds a bias for each channel. */
gboolean
cleave_onnx_upgrade_image_scaler (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) bias = cleave_onnx_node_take (node, "bias");
  double scale = cleave_onnx_node_take_real (node, "scale", 1);
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  g_autofree float *numbers = NULL;
  CleaveOnnxValue *y, *biases;
  CleaveTensorType type;

  if (!check (node, error))
    return FALSE;
  if (x->rank != 4 || bias == NULL || bias->floats->len != x->dim[1])
    return cleave_onnx_node_fail (
        node, error, "its operand must have rank 4, and bias a number for each channel");
  numbers = cleave_onnx_attr_dup_floats (bias);
  type = CLEAVE_TYPE (CLEAVE_FLOAT32, x->dim[1], 1, 1);
  y = scale_by (node, "", cleave_onnx_node_operand (node, 0), scale, 0, error);
  if (y == NULL)
    return FALSE;
  biases = cleave_onnx_cast (node, cleave_onnx_constant (node, &type, numbers),
                             cleave_onnx_value_type (y)->element, ".bias", error);
  return cleave_onnx_finish (node, STEP ("Add", ".moved", NULL, y, biases));
}

/* Upgrades Crop: removes `border`, which lists left, top, right and bottom. If the node has
 * `scale`, a height and a width, the result has this size and begins after the left and top
 * border. */
gboolean
cleave_onnx_upgrade_crop (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) border = cleave_onnx_node_take (node, "border"),
                             scale = cleave_onnx_node_take (node, "scale");
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  const CleaveTensorType two = CLEAVE_TYPE (CLEAVE_INT64, 2);
  gint64 begin[2], end[2], axes[2] = { 2, 3 };

  if (!check (node, error))
    return FALSE;
  if (x->rank != 4 || border == NULL || border->ints->len != 4 ||
      (scale != NULL && scale->ints->len != 2))
    return cleave_onnx_node_fail (node, error,
                                  "its operand must have rank 4, border 4 numbers, and scale 2");
  for (guint i = 0; i < 2; i++)
    {
      gint64 from = g_array_index (border->ints, gint64, 1 - i), n = x->dim[2 + i], last;
      gboolean overflows =
          scale != NULL
              ? __builtin_add_overflow (from, g_array_index (scale->ints, gint64, i), &last)
              : __builtin_sub_overflow (n, g_array_index (border->ints, gint64, 3 - i), &last);

      if (overflows || from < 0 || last < from || last > n)
        return cleave_onnx_node_fail (
            node, error, "dimension %u of %" G_GINT64_FORMAT " cannot be cropped", 2 + i, n);
      begin[i] = from;
      end[i] = last;
    }
  return cleave_onnx_finish (node, STEP ("Slice", "", NULL, cleave_onnx_node_operand (node, 0),
                                         cleave_onnx_constant (node, &two, begin),
                                         cleave_onnx_constant (node, &two, end),
                                         cleave_onnx_constant (node, &two, axes)));
}

/* Upgrades DynamicSlice, an older name of Slice. */
gboolean
cleave_onnx_upgrade_dynamic_slice (CleaveOnnxNode *node, GError **error)
{
  node->op = "Slice";
  return TRUE;
}
