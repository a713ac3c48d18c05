/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades quantized ops. Each op becomes a DequantizeLinear of each operand, the float op, and a
 * QuantizeLinear of the result. */

#include "contrib.h"

#include <string.h>

/* Returns operand `x` of the node, dequantized. The scale is operand x + 1, and the zero point is
 * operand x + 2. The zero point may be absent. */

static CleaveOnnxValue *
dequantize (CleaveOnnxNode *node, guint x, const char *suffix, CleaveOnnxAttr *axis, GError **error)
{
  CleaveOnnxValue *values[] = { cleave_onnx_node_operand (node, x),
                                cleave_onnx_node_operand (node, x + 1),
                                cleave_onnx_node_operand (node, x + 2) };

  if (values[0] == NULL || values[1] == NULL)
    {
      cleave_onnx_attr_free (axis);
      return cleave_onnx_node_fail_null (node, error, "operand %u is missing",
                                         values[0] == NULL ? x : x + 1);
    }
  return cleave_onnx_step (node, "DequantizeLinear", suffix, values, values[2] == NULL ? 2 : 3,
                           axis, error);
}

/* Quantizes `y`, and makes the quantized value the node's result. The scale is operand `scale` of
 * the node, and the zero point is operand scale + 1. */
static gboolean
quantize (CleaveOnnxNode *node, CleaveOnnxValue *y, guint scale, GError **error)
{
  CleaveOnnxValue *values[] = { y, cleave_onnx_node_operand (node, scale),
                                cleave_onnx_node_operand (node, scale + 1) };

  if (y != NULL && values[1] == NULL)
    return cleave_onnx_node_fail (node, error, "operand %u is missing", scale);
  return y != NULL &&
         cleave_onnx_finish (node, cleave_onnx_step (node, "QuantizeLinear", "", values,
                                                     values[2] == NULL ? 2 : 3, NULL, error));
}

/* Returns the name of the float op of a QLinear… op, such as "Add" for QLinearAdd. */
static const char *
real_op (const CleaveOnnxNode *node)
{
  return node->op + strlen ("QLinear");
}

static gboolean
qlinear_binary (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *a = dequantize (node, 0, ".a", NULL, error),
                  *b = a == NULL ? NULL : dequantize (node, 3, ".b", NULL, error);

  return quantize (node, CLEAVE_ONNX_STEP (real_op (node), ".real", NULL, a, b), 6, error);
}

static gboolean
qlinear_unary (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = dequantize (node, 0, ".x", NULL, error);

  return quantize (node, cleave_onnx_upgrade_step (node, real_op (node), ".real", &x, 1, error), 3,
                   error);
}

/* Upgrades QLinearSoftmax. Before opset 13, Softmax flattens the dimensions from the axis on. The
 * upgrade accepts only the last axis, where flattening changes nothing. */
static gboolean
qlinear_softmax (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  gint64 at = cleave_onnx_node_get_int (node, "axis", -1);

  if (cleave_onnx_node_take_int (node, "opset", CLEAVE_ONNX_OPSET) < 13 && x != NULL && at != -1 &&
      at != (gint64) x->rank - 1)
    return cleave_onnx_node_fail (node, error, "opset must be at least 13, or axis the last");
  return qlinear_unary (node, error);
}

/* Upgrades QLinearWhere. Its operands are the condition, then value, scale and zero point of X,
 * then value, scale and zero point of Y. */
static gboolean
qlinear_where (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = dequantize (node, 1, ".x", NULL, error),
                  *y = x == NULL ? NULL : dequantize (node, 4, ".y", NULL, error);

  if (y == NULL || !cleave_onnx_node_need (node, 1, error))
    return FALSE;
  y = CLEAVE_ONNX_STEP ("Where", ".real", NULL, cleave_onnx_node_operand (node, 0), x, y);
  return quantize (node, y, 7, error);
}

/* Adds a Transpose to NHWC (`channels_last`) or to NCHW, and returns its result. */
static CleaveOnnxValue *
permute (CleaveOnnxNode *node,
         CleaveOnnxValue *x,
         gboolean channels_last,
         const char *suffix,
         GError **error)
{
  CleaveShape order = { .rank = x == NULL ? 0 : cleave_onnx_value_shape (x)->rank };

  for (guint d = 1; d < order.rank; d++)
    if (channels_last)
      order.dim[d] = d == order.rank - 1 ? 1 : d + 1;
    else
      order.dim[d] = d == 1 ? order.rank - 1 : d - 1;
  return cleave_onnx_permute (node, x, &order, suffix, error);
}

static gboolean
qlinear_pool (CleaveOnnxNode *node, GError **error)
{
  gboolean last = cleave_onnx_node_take_int (node, "channels_last", 0) != 0;
  CleaveOnnxValue *x = dequantize (node, 0, ".x", NULL, error), *y;

  if (last)
    x = permute (node, x, FALSE, ".nchw", error);
  y = cleave_onnx_upgrade_step (node, real_op (node), ".real", &x, 1, error);
  if (last)
    y = permute (node, y, TRUE, ".nhwc", error);
  return quantize (node, y, 3, error);
}

/* Upgrades QLinearConv of com.microsoft, which differs from the op of the default domain by an
 * optional layout NHWC. */
static gboolean
qlinear_conv (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (GPtrArray) operands = g_ptr_array_copy (node->operands, NULL, NULL);
  CleaveOnnxValue *y;

  if (cleave_onnx_node_take_int (node, "channels_last", 0) == 0)
    return cleave_onnx_upgrade (node, error);
  if (!cleave_onnx_node_need (node, 8, error))
    return FALSE;
  operands->pdata[0] = permute (node, operands->pdata[0], FALSE, ".nchw", error);
  y = cleave_onnx_upgrade_step (node, "QLinearConv", ".conv", (CleaveOnnxValue **) operands->pdata,
                                operands->len, error);
  return cleave_onnx_finish (node, permute (node, y, TRUE, "", error));
}

static gboolean
nhwc_max_pool (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);

  if (!cleave_onnx_node_need (node, 1, error))
    return FALSE;
  x = permute (node, x, FALSE, ".nchw", error);
  x = cleave_onnx_upgrade_step (node, "MaxPool", ".real", &x, 1, error);
  return cleave_onnx_finish (node, permute (node, x, TRUE, "", error));
}

/* Upgrades QLinearConcat. Its operands are scale and zero point of the result, then value, scale
 * and zero point of each part. */
static gboolean
qlinear_concat (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (GPtrArray) parts = g_ptr_array_new ();
  CleaveOnnxAttr *axis;

  if (node->operands->len < 5 || node->operands->len % 3 != 2)
    return cleave_onnx_node_fail (node, error, "it has %u operands", node->operands->len);
  for (guint i = 2; i < node->operands->len; i += 3)
    {
      g_autofree char *suffix = g_strdup_printf (".x%u", i / 3);
      CleaveOnnxValue *part = dequantize (node, i, suffix, NULL, error);

      if (part == NULL)
        return FALSE;
      g_ptr_array_add (parts, part);
    }
  axis = cleave_onnx_node_take (node, "axis");
  return quantize (node,
                   cleave_onnx_step (node, "Concat", ".real", (CleaveOnnxValue **) parts->pdata,
                                     parts->len, axis, error),
                   0, error);
}

/* The functions below upgrade products of quantized matrices. */

/* Upgrades QGemm. Its operands are A and B, each with scale and zero point, then C, then scale and
 * zero point of Y. The scale of C is the product of the scales of A and B. Without a scale of Y, Y
 * is float. */
static gboolean
q_gemm (CleaveOnnxNode *node, GError **error)
{
  gint64 trans_b = cleave_onnx_node_take_int (node, "transB", 0);
  double alpha = cleave_onnx_node_take_real (node, "alpha", 1);
  gboolean trans_a = cleave_onnx_node_take_int (node, "transA", 0) != 0;
  CleaveOnnxValue *c = cleave_onnx_node_operand (node, 6), *scale, *b, *y,
                  *a = dequantize (node, 0, ".a", NULL, error);

  if (trans_a)
    a = cleave_onnx_permute (node, a, &CLEAVE_SHAPE (1, 0), ".at", error);
  b = a == NULL ? NULL
                : dequantize (node, 3, ".b",
                              cleave_onnx_attr_new_int ("axis", trans_b != 0 ? 0 : 1), error);
  y = CLEAVE_ONNX_STEP ("Gemm", ".product", cleave_onnx_attr_new_int ("transB", trans_b), a, b);
  if (c != NULL)
    {
      scale = CLEAVE_ONNX_STEP ("Mul", ".scale", NULL, cleave_onnx_node_operand (node, 1),
                                cleave_onnx_node_operand (node, 4));
      c = cleave_onnx_cast (node, c, CLEAVE_FLOAT32, ".c", error);
      c = CLEAVE_ONNX_STEP ("Mul", ".bias", NULL, c, scale);
      y = CLEAVE_ONNX_STEP ("Add", ".sum", NULL, y, c);
    }
  if (alpha != 1)
    y = CLEAVE_ONNX_STEP ("Mul", ".alpha", NULL, y, cleave_onnx_real (node, CLEAVE_FLOAT32, alpha));
  if (cleave_onnx_node_operand (node, 7) != NULL)
    return quantize (node, y, 7, error);
  return cleave_onnx_finish (node, y);
}

CleaveOnnxValue *
cleave_onnx_scaled_product (CleaveOnnxNode *node,
                            CleaveOnnxValue *const *integers,
                            CleaveOnnxValue *a_scale,
                            CleaveOnnxValue *b_scale,
                            const char *suffix,
                            GError **error)
{
  g_autofree char *name = g_strconcat (node->name, suffix, ".product", NULL),
                  *real = g_strconcat (suffix, ".real", NULL),
                  *scaled = g_strconcat (suffix, ".scale", NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, "MatMulInteger", name, 1);
  CleaveOnnxValue *y, *scale;

  for (guint i = 0; i < 4; i++)
    cleave_onnx_node_set_operand (made, i, integers[i]);
  if (!cleave_onnx_node_make (made, error))
    return NULL;
  y = cleave_onnx_cast (node, made->values->pdata[0], CLEAVE_FLOAT32, real, error);
  scale = CLEAVE_ONNX_STEP ("Mul", scaled, NULL, a_scale, b_scale);
  return CLEAVE_ONNX_STEP ("Mul", suffix, NULL, y, scale);
}

/* Computes the product of two quantized matrices as floats, and makes the product the node's
 * result. Adds `bias` unless it is NULL. `integers`: A, B and their zero points. */
static gboolean
finish_product (CleaveOnnxNode *node,
                CleaveOnnxValue *const *integers,
                CleaveOnnxValue *a_scale,
                CleaveOnnxValue *b_scale,
                CleaveOnnxValue *bias,
                GError **error)
{
  CleaveOnnxValue *y = cleave_onnx_scaled_product (node, integers, a_scale, b_scale,
                                                   bias == NULL ? "" : ".scaled", error);

  if (bias != NULL)
    y = CLEAVE_ONNX_STEP ("Add", "", NULL, y, bias);
  return cleave_onnx_finish (node, y);
}

static gboolean
mat_mul_integer_to_float (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *integers[] = { cleave_onnx_node_operand (node, 0),
                                  cleave_onnx_node_operand (node, 1),
                                  cleave_onnx_node_operand (node, 4),
                                  cleave_onnx_node_operand (node, 5) };

  return cleave_onnx_node_need (node, 4, error) &&
         finish_product (node, integers, cleave_onnx_node_operand (node, 2),
                         cleave_onnx_node_operand (node, 3), cleave_onnx_node_operand (node, 6),
                         error);
}

gboolean
cleave_onnx_quantize_dynamically (CleaveOnnxNode *node,
                                  CleaveOnnxValue *x,
                                  const char *suffix,
                                  CleaveOnnxValue **quantized,
                                  GError **error)
{
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);
  g_autoptr (CleaveOnnxNode) made =
      cleave_onnx_node_new (node->import, "DynamicQuantizeLinear", name, CLEAVE_ONNX_N_QUANTIZED);

  cleave_onnx_node_set_operand (made, 0, x);
  if (!cleave_onnx_node_make (made, error))
    return FALSE;
  for (guint i = 0; i < CLEAVE_ONNX_N_QUANTIZED; i++)
    quantized[i] = made->values->pdata[i];
  return TRUE;
}

static gboolean
dynamic_quantize_mat_mul (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *a[CLEAVE_ONNX_N_QUANTIZED];

  return cleave_onnx_node_need (node, 3, error) &&
         cleave_onnx_quantize_dynamically (node, cleave_onnx_node_operand (node, 0), ".a", a,
                                           error) &&
         finish_product (node,
                         (CleaveOnnxValue *[]){ a[0], cleave_onnx_node_operand (node, 1), a[2],
                                                cleave_onnx_node_operand (node, 3) },
                         a[1], cleave_onnx_node_operand (node, 2),
                         cleave_onnx_node_operand (node, 4), error);
}

/* Upgrades QuantizeLinear and DequantizeLinear of com.microsoft. Whatever the opset of the model,
 * both ops have the form that the default domain has since opset 21. This form includes 16-bit
 * integers. */
static gboolean
quantize_of_21 (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxImport *import = node->import;
  gint64 opset = import->opset;
  gboolean good;

  import->opset = MAX (opset, 21);
  good = cleave_onnx_upgrade (node, error) &&
         (node->values != NULL || cleave_onnx_node_make (node, error));
  import->opset = opset;
  return good;
}

const CleaveOnnxContrib cleave_onnx_contrib_quantized[] = {
  { "DequantizeLinear", quantize_of_21 },
  { "DynamicQuantizeLSTM", cleave_onnx_upgrade_dynamic_quantize_lstm },
  { "DynamicQuantizeMatMul", dynamic_quantize_mat_mul },
  { "MatMulIntegerToFloat", mat_mul_integer_to_float },
  { "NhwcMaxPool", nhwc_max_pool },
  { "QGemm", q_gemm },
  { "QLinearAdd", qlinear_binary },
  { "QLinearAveragePool", qlinear_pool },
  { "QLinearConcat", qlinear_concat },
  { "QLinearConv", qlinear_conv },
  { "QLinearGlobalAveragePool", qlinear_pool },
  { "QLinearLeakyRelu", qlinear_unary },
  { "QLinearMul", qlinear_binary },
  { "QLinearSigmoid", qlinear_unary },
  { "QLinearSoftmax", qlinear_softmax },
  { "QLinearWhere", qlinear_where },
  { "QuantizeLinear", quantize_of_21 },
  { NULL, NULL },
};
