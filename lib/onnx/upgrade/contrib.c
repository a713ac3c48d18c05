/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Ops of com.microsoft that ONNX Runtime's optimizer and quantizer write, as what they mean.  A
 * quantised op is the op of real numbers between DequantizeLinear and QuantizeLinear. */

#include "../import/import.h"

#include <string.h>

/* Quantised values: operands `x`, its scale and its zero point, which may be absent. */

static CleaveOnnxValue *
dequantize (CleaveOnnxNode *node, guint x, const char *suffix, CleaveOnnxAttr *axis, GError **error)
{
  CleaveOnnxValue *values[] = { cleave_onnx_node_operand (node, x),
                                cleave_onnx_node_operand (node, x + 1),
                                cleave_onnx_node_operand (node, x + 2) };

  if (values[0] == NULL || values[1] == NULL)
    {
      cleave_onnx_attr_free (axis);
      cleave_onnx_node_fail (node, error, "operand %u is missing", values[0] == NULL ? x : x + 1);
      return NULL;
    }
  return cleave_onnx_step (node, "DequantizeLinear", suffix, values, values[2] == NULL ? 2 : 3,
                           axis, error);
}

/* By the scale and zero point that are operands `scale` and the next. */
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

static gboolean
qlinear_binary (CleaveOnnxNode *node, const char *op, GError **error)
{
  CleaveOnnxValue *a = dequantize (node, 0, ".a", NULL, error),
                  *b = a == NULL ? NULL : dequantize (node, 3, ".b", NULL, error);

  return quantize (node, CLEAVE_ONNX_STEP (op, ".real", NULL, a, b), 6, error);
}

static gboolean
qlinear_add (CleaveOnnxNode *node, GError **error)
{
  return qlinear_binary (node, "Add", error);
}

static gboolean
qlinear_mul (CleaveOnnxNode *node, GError **error)
{
  return qlinear_binary (node, "Mul", error);
}

/* The op of the node's own attributes, of one real operand. */
static CleaveOnnxValue *
real_unary (CleaveOnnxNode *node, const char *op, CleaveOnnxValue *x, GError **error)
{
  g_autofree char *name = g_strconcat (node->name, ".real", NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, op, name, 1);
  gint64 opset = node->import->opset;
  gboolean good;

  if (x == NULL)
    return NULL;
  while (node->attrs->len > 0)
    g_ptr_array_add (made->attrs, g_ptr_array_steal_index (node->attrs, 0));
  cleave_onnx_node_set_operand (made, 0, x);
  node->import->opset = CLEAVE_ONNX_OPSET;
  good = cleave_onnx_upgrade (made, error) &&
         (made->values != NULL || cleave_onnx_node_make (made, error));
  node->import->opset = opset;
  return good ? made->values->pdata[0] : NULL;
}

static gboolean
qlinear_unary (CleaveOnnxNode *node, const char *op, GError **error)
{
  CleaveOnnxValue *x = dequantize (node, 0, ".x", NULL, error);

  return quantize (node, real_unary (node, op, x, error), 3, error);
}

static gboolean
qlinear_leaky_relu (CleaveOnnxNode *node, GError **error)
{
  return qlinear_unary (node, "LeakyRelu", error);
}

static gboolean
qlinear_sigmoid (CleaveOnnxNode *node, GError **error)
{
  return qlinear_unary (node, "Sigmoid", error);
}

/* Before opset 13 it takes all dimensions from the axis on as one. */
static gboolean
qlinear_softmax (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  const CleaveOnnxAttr *axis = cleave_onnx_node_find (node, "axis");
  gint64 at = axis == NULL || axis->ints->len != 1 ? -1 : g_array_index (axis->ints, gint64, 0);

  if (cleave_onnx_node_take_int (node, "opset", CLEAVE_ONNX_OPSET) < 13 && x != NULL && at != -1 &&
      at != (gint64) x->rank - 1)
    return cleave_onnx_node_fail (node, error, "opset must be at least 13, or axis the last");
  return qlinear_unary (node, "Softmax", error);
}

/* Channels last: between two Transposes. */
static CleaveOnnxValue *
turn (CleaveOnnxNode *node,
      CleaveOnnxValue *x,
      gboolean channels_last,
      const char *suffix,
      GError **error)
{
  guint rank = x == NULL ? 0 : cleave_onnx_value_type (x)->shape.rank;
  gint64 perm[CLEAVE_MAX_RANK] = { 0 };

  for (guint d = 1; d < rank; d++)
    if (channels_last)
      perm[d] = d == rank - 1 ? 1 : d + 1;
    else
      perm[d] = d == 1 ? rank - 1 : d - 1;
  return x == NULL ? NULL
                   : CLEAVE_ONNX_STEP ("Transpose", suffix,
                                       cleave_onnx_attr_new_ints ("perm", perm, rank), x);
}

static gboolean
qlinear_pool (CleaveOnnxNode *node, const char *op, GError **error)
{
  gboolean last = cleave_onnx_node_take_int (node, "channels_last", 0) != 0;
  CleaveOnnxValue *x = dequantize (node, 0, ".x", NULL, error), *y;

  if (last)
    x = turn (node, x, FALSE, ".nchw", error);
  y = real_unary (node, op, x, error);
  if (last)
    y = turn (node, y, TRUE, ".nhwc", error);
  return quantize (node, y, 3, error);
}

static gboolean
qlinear_global_average_pool (CleaveOnnxNode *node, GError **error)
{
  return qlinear_pool (node, "GlobalAveragePool", error);
}

static gboolean
qlinear_average_pool (CleaveOnnxNode *node, GError **error)
{
  return qlinear_pool (node, "AveragePool", error);
}

static gboolean
nhwc_max_pool (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);

  x = real_unary (node, "MaxPool", turn (node, x, FALSE, ".nchw", error), error);
  return cleave_onnx_finish (node, turn (node, x, TRUE, "", error));
}

/* Scale and zero point of the result, then value, scale and zero point of each operand. */
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

/* Products */

static CleaveOnnxValue *
to_float (CleaveOnnxNode *node, CleaveOnnxValue *x, const char *suffix, GError **error)
{
  return CLEAVE_ONNX_STEP (
      "Cast", suffix, cleave_onnx_attr_new_int ("to", cleave_onnx_element_number (CLEAVE_FLOAT32)),
      x);
}

/* QGemm: A and B with their scales and zero points, C of the scale of their product, then those of
 * Y, which may be absent. */
static gboolean
q_gemm (CleaveOnnxNode *node, GError **error)
{
  gint64 trans_b = cleave_onnx_node_take_int (node, "transB", 0);
  double alpha = cleave_onnx_node_take_real (node, "alpha", 1);
  CleaveOnnxAttr *trans_a = cleave_onnx_node_take (node, "transA");
  CleaveOnnxValue *c = cleave_onnx_node_operand (node, 6), *scale, *b, *y,
                  *a = dequantize (node, 0, ".a", NULL, error);

  if (trans_a != NULL && trans_a->ints->len == 1 && g_array_index (trans_a->ints, gint64, 0) != 0)
    a = a == NULL ? NULL
                  : CLEAVE_ONNX_STEP ("Transpose", ".at",
                                      cleave_onnx_attr_new_ints ("perm", (gint64[]){ 1, 0 }, 2), a);
  cleave_onnx_attr_free (trans_a);
  b = a == NULL ? NULL
                : dequantize (node, 3, ".b",
                              cleave_onnx_attr_new_int ("axis", trans_b != 0 ? 0 : 1), error);
  y = CLEAVE_ONNX_STEP ("Gemm", ".product", cleave_onnx_attr_new_int ("transB", trans_b), a, b);
  if (c != NULL)
    {
      scale = CLEAVE_ONNX_STEP ("Mul", ".scale", NULL, cleave_onnx_node_operand (node, 1),
                                cleave_onnx_node_operand (node, 4));
      c = to_float (node, c, ".c", error);
      c = CLEAVE_ONNX_STEP ("Mul", ".bias", NULL, c, scale);
      y = CLEAVE_ONNX_STEP ("Add", ".sum", NULL, y, c);
    }
  if (alpha != 1)
    y = CLEAVE_ONNX_STEP ("Mul", ".alpha", NULL, y, cleave_onnx_real (node, CLEAVE_FLOAT32, alpha));
  if (cleave_onnx_node_operand (node, 7) != NULL)
    return quantize (node, y, 7, error);
  return cleave_onnx_finish (node, y);
}

/* The product of integers, as a real number. */
static gboolean
scale_product (CleaveOnnxNode *node,
               CleaveOnnxValue *const *integers, /* A, B, their zero points */
               CleaveOnnxValue *a_scale,
               CleaveOnnxValue *b_scale,
               CleaveOnnxValue *bias,
               GError **error)
{
  g_autofree char *name = g_strconcat (node->name, ".product", NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, "MatMulInteger", name, 1);
  CleaveOnnxValue *y, *scale;

  for (guint i = 0; i < 4; i++)
    cleave_onnx_node_set_operand (made, i, integers[i]);
  if (!cleave_onnx_node_make (made, error))
    return FALSE;
  y = to_float (node, made->values->pdata[0], ".real", error);
  scale = CLEAVE_ONNX_STEP ("Mul", ".scale", NULL, a_scale, b_scale);
  y = CLEAVE_ONNX_STEP ("Mul", bias == NULL ? "" : ".scaled", NULL, y, scale);
  if (bias != NULL)
    y = CLEAVE_ONNX_STEP ("Add", "", NULL, y, bias);
  return cleave_onnx_finish (node, y);
}

static gboolean
need (const CleaveOnnxNode *node, guint n, GError **error)
{
  for (guint i = 0; i < n; i++)
    if (cleave_onnx_node_operand (node, i) == NULL)
      return cleave_onnx_node_fail (node, error, "operand %u is missing", i);
  return TRUE;
}

static gboolean
mat_mul_integer_to_float (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *integers[] = { cleave_onnx_node_operand (node, 0),
                                  cleave_onnx_node_operand (node, 1),
                                  cleave_onnx_node_operand (node, 4),
                                  cleave_onnx_node_operand (node, 5) };

  return need (node, 4, error) && scale_product (node, integers, cleave_onnx_node_operand (node, 2),
                                                 cleave_onnx_node_operand (node, 3),
                                                 cleave_onnx_node_operand (node, 6), error);
}

static gboolean
dynamic_quantize_mat_mul (CleaveOnnxNode *node, GError **error)
{
  g_autofree char *name = g_strconcat (node->name, ".a", NULL);
  g_autoptr (CleaveOnnxNode) made =
      cleave_onnx_node_new (node->import, "DynamicQuantizeLinear", name, 3);
  CleaveOnnxValue *integers[4] = { 0 };

  if (!need (node, 3, error))
    return FALSE;
  cleave_onnx_node_set_operand (made, 0, cleave_onnx_node_operand (node, 0));
  if (!cleave_onnx_node_make (made, error))
    return FALSE;
  integers[0] = made->values->pdata[0];
  integers[1] = cleave_onnx_node_operand (node, 1);
  integers[2] = made->values->pdata[2];
  integers[3] = cleave_onnx_node_operand (node, 3);
  return scale_product (node, integers, made->values->pdata[1], cleave_onnx_node_operand (node, 2),
                        cleave_onnx_node_operand (node, 4), error);
}

/* With its last two dimensions exchanged. */
static CleaveOnnxValue *
transpose (CleaveOnnxNode *node, CleaveOnnxValue *x, const char *suffix, GError **error)
{
  guint rank = cleave_onnx_value_type (x)->shape.rank;
  gint64 perm[CLEAVE_MAX_RANK];

  if (rank < 2)
    return x;
  for (guint d = 0; d < rank; d++)
    perm[d] = d + 2 < rank ? d : d + 2 == rank ? d + 1 : d - 1;
  return CLEAVE_ONNX_STEP ("Transpose", suffix, cleave_onnx_attr_new_ints ("perm", perm, rank), x);
}

static gboolean
fused_mat_mul (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *a = cleave_onnx_node_operand (node, 0), *b = cleave_onnx_node_operand (node, 1),
                  *y;
  double alpha = cleave_onnx_node_take_real (node, "alpha", 1);

  if (!need (node, 2, error))
    return FALSE;
  if (cleave_onnx_node_take_int (node, "transBatchA", 0) != 0 ||
      cleave_onnx_node_take_int (node, "transBatchB", 0) != 0)
    return cleave_onnx_node_fail (node, error, "transBatchA and transBatchB are not supported");
  if (cleave_onnx_node_take_int (node, "transA", 0) != 0)
    a = transpose (node, a, ".at", error);
  if (cleave_onnx_node_take_int (node, "transB", 0) != 0)
    b = transpose (node, b, ".bt", error);
  y = CLEAVE_ONNX_STEP ("MatMul", alpha == 1 ? "" : ".product", NULL, a, b);
  if (y != NULL && alpha != 1)
    y = CLEAVE_ONNX_STEP ("Mul", "", NULL, y,
                          cleave_onnx_real (node, cleave_onnx_value_type (y)->element, alpha));
  return cleave_onnx_finish (node, y);
}

/* Fused activations */

/* Which numbers an activation has, in the order of activation_params. */
static const struct
{
  const char *name, *params[2];
} activations[] = {
  { "Relu", { NULL } },
  { "Tanh", { NULL } },
  { "Sigmoid", { NULL } },
  { "LeakyRelu", { "alpha", NULL } },
  { "HardSigmoid", { "alpha", "beta" } },
  { "Clip", { "min", "max" } },
  { "HardSwish", { NULL } },
};

static gboolean
activate (CleaveOnnxNode *node,
          CleaveOnnxValue *y,
          const char *name,
          const double *params,
          guint n_params,
          GError **error)
{
  g_autoptr (CleaveOnnxNode) made = NULL;
  guint i = 0;

  while (i < G_N_ELEMENTS (activations) && g_strcmp0 (activations[i].name, name) != 0)
    i++;
  if (i == G_N_ELEMENTS (activations))
    return cleave_onnx_node_fail (node, error, "activation '%s' is not known", name);
  made = cleave_onnx_node_new (node->import, activations[i].name, node->name, 1);
  cleave_onnx_node_set_operand (made, 0, y);
  for (guint k = 0; k < MIN (n_params, 2) && activations[i].params[k] != NULL; k++)
    if (g_str_equal (name, "Clip"))
      cleave_onnx_node_set_operand (
          made, k + 1, cleave_onnx_real (node, cleave_onnx_value_type (y)->element, params[k]));
    else
      {
        CleaveOnnxAttr *attr = cleave_onnx_attr_new (activations[i].params[k],
                                                     ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

        g_array_append_val (attr->floats, params[k]);
        g_ptr_array_add (made->attrs, attr);
      }
  return cleave_onnx_node_make (made, error) && cleave_onnx_finish (node, made->values->pdata[0]);
}

/* The op with its first operands, then what is added (a Conv's Z), then the activation. */
static gboolean
fused (CleaveOnnxNode *node,
       const char *op,
       guint n_operands,
       const char *activation,
       const double *params,
       guint n_params,
       GError **error)
{
  g_autofree char *name = g_strconcat (node->name, ".linear", NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, op, name, 1);
  CleaveOnnxValue *y, *z = cleave_onnx_node_operand (node, n_operands);

  for (guint i = 0; i < n_operands; i++)
    cleave_onnx_node_set_operand (made, i, cleave_onnx_node_operand (node, i));
  while (made->operands->len > 0 && made->operands->pdata[made->operands->len - 1] == NULL)
    g_ptr_array_set_size (made->operands, (gint) made->operands->len - 1);
  while (node->attrs->len > 0)
    g_ptr_array_add (made->attrs, g_ptr_array_steal_index (node->attrs, 0));
  if (!cleave_onnx_upgrade (made, error) ||
      (made->values == NULL && !cleave_onnx_node_make (made, error)))
    return FALSE;
  y = made->values->pdata[0];
  if (z != NULL)
    y = CLEAVE_ONNX_STEP ("Add", ".sum", NULL, y, z);
  if (y == NULL || activation == NULL || *activation == '\0')
    return cleave_onnx_finish (node, y);
  return activate (node, y, activation, params, n_params, error);
}

static gboolean
fused_conv (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) activation = cleave_onnx_node_take (node, "activation"),
                             params = cleave_onnx_node_take (node, "activation_params");

  return fused (node, "Conv", 3, activation == NULL ? NULL : activation->string,
                params == NULL ? NULL : (const double *) (gpointer) params->floats->data,
                params == NULL ? 0 : params->floats->len, error);
}

static gboolean
fused_gemm (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) activation = cleave_onnx_node_take (node, "activation");
  double params[] = { cleave_onnx_node_take_real (node, "activation_alpha", 0.01),
                      cleave_onnx_node_take_real (node, "activation_beta", 0) };

  return fused (node, "Gemm", 3, activation == NULL ? NULL : activation->string, params, 2, error);
}

/* Activations and normalizations with what is added before */

static CleaveOnnxValue *
sum_of (CleaveOnnxNode *node, guint a, guint b, const char *suffix, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, a), *y = cleave_onnx_node_operand (node, b);

  return y == NULL ? x : CLEAVE_ONNX_STEP ("Add", suffix, NULL, x, y);
}

static gboolean
bias_gelu (CleaveOnnxNode *node, GError **error)
{
  return need (node, 1, error) &&
         cleave_onnx_finish (
             node, cleave_onnx_gelu (node, sum_of (node, 0, 1, ".biased", error), FALSE, error));
}

static gboolean
fast_gelu (CleaveOnnxNode *node, GError **error)
{
  return need (node, 1, error) &&
         cleave_onnx_finish (
             node, cleave_onnx_gelu (node, sum_of (node, 0, 1, ".biased", error), TRUE, error));
}

static gboolean
quick_gelu (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxAttr *alpha;

  if (cleave_onnx_node_find (node, "alpha") == NULL)
    {
      const double usual = (double) 1.702f;

      alpha = cleave_onnx_attr_new ("alpha", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);
      g_array_append_val (alpha->floats, usual);
      g_ptr_array_add (node->attrs, alpha);
    }
  return cleave_onnx_upgrade_swish (node, error);
}

/* X and what skips to it, then scale, and bias, of the normalization, and a bias before it.  The
 * sum may be result 3. */
static gboolean
skip_norm (CleaveOnnxNode *node, gboolean simplified, GError **error)
{
  double epsilon = cleave_onnx_node_take_real (node, "epsilon", (double) 1e-12f);
  CleaveOnnxValue *beta = simplified ? NULL : cleave_onnx_node_operand (node, 3),
                  *bias = cleave_onnx_node_operand (node, simplified ? 3 : 4), *x, *y;

  if (!need (node, 3, error))
    return FALSE;
  if (node->n_results == 2 || node->n_results == 3)
    return cleave_onnx_node_fail (node, error, "its mean and its deviation are not supported");
  x = sum_of (node, 0, 1, ".skipped", error);
  if (x != NULL && bias != NULL)
    x = CLEAVE_ONNX_STEP ("Add", ".biased", NULL, x, bias);
  if (x == NULL)
    return FALSE;
  if (simplified)
    y = cleave_onnx_rms_norm (node, x, cleave_onnx_node_operand (node, 2), -1, epsilon, error);
  else
    {
      CleaveOnnxValue *operands[] = { x, cleave_onnx_node_operand (node, 2), beta };
      CleaveOnnxAttr *attr =
          cleave_onnx_attr_new ("epsilon", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT);

      g_array_append_val (attr->floats, epsilon);
      y = cleave_onnx_step (node, "LayerNormalization", "", operands, beta == NULL ? 2 : 3, attr,
                            error);
    }
  if (!cleave_onnx_finish (node, y))
    return FALSE;
  for (guint i = 1; i < node->n_results; i++)
    g_ptr_array_add (node->values, i == 3 ? x : cleave_onnx_value_new (node->import, NULL));
  return TRUE;
}

static gboolean
skip_layer_norm (CleaveOnnxNode *node, GError **error)
{
  return skip_norm (node, FALSE, error);
}

static gboolean
skip_simplified_layer_norm (CleaveOnnxNode *node, GError **error)
{
  return skip_norm (node, TRUE, error);
}

/* The op of the default domain with the same name. */
static gboolean
same (CleaveOnnxNode *node, GError **error)
{
  return cleave_onnx_upgrade (node, error);
}

static gboolean
gelu (CleaveOnnxNode *node, GError **error)
{
  return cleave_onnx_finish (
      node, need (node, 1, error)
                ? cleave_onnx_gelu (node, cleave_onnx_node_operand (node, 0), FALSE, error)
                : NULL);
}

static const struct
{
  const char *op;
  gboolean (*upgrade) (CleaveOnnxNode *node, GError **error);
} contrib[] = {
  { "BiasGelu", bias_gelu },
  { "DequantizeLinear", same },
  { "DynamicQuantizeMatMul", dynamic_quantize_mat_mul },
  { "FastGelu", fast_gelu },
  { "FusedConv", fused_conv },
  { "FusedGemm", fused_gemm },
  { "FusedMatMul", fused_mat_mul },
  { "Gelu", gelu },
  { "MatMulIntegerToFloat", mat_mul_integer_to_float },
  { "NhwcMaxPool", nhwc_max_pool },
  { "QGemm", q_gemm },
  { "QLinearAdd", qlinear_add },
  { "QLinearAveragePool", qlinear_average_pool },
  { "QLinearConcat", qlinear_concat },
  { "QLinearGlobalAveragePool", qlinear_global_average_pool },
  { "QLinearLeakyRelu", qlinear_leaky_relu },
  { "QLinearMul", qlinear_mul },
  { "QLinearSigmoid", qlinear_sigmoid },
  { "QLinearSoftmax", qlinear_softmax },
  { "QuantizeLinear", same },
  { "QuickGelu", quick_gelu },
  { "SkipLayerNormalization", skip_layer_norm },
  { "SkipSimplifiedLayerNormalization", skip_simplified_layer_norm },
};

static guint
find (const char *op)
{
  guint i = 0;

  while (i < G_N_ELEMENTS (contrib) && strcmp (contrib[i].op, op) != 0)
    i++;
  return i;
}

gboolean
cleave_onnx_is_contrib (const char *domain, const char *op)
{
  return g_strcmp0 (domain, "com.microsoft") == 0 && find (op) < G_N_ELEMENTS (contrib);
}

gboolean
cleave_onnx_upgrade_contrib (CleaveOnnxNode *node, GError **error)
{
  return contrib[find (node->op)].upgrade (node, error);
}
