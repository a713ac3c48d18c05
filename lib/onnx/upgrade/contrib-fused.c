/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades FusedConv, FusedGemm and FusedMatMul. Each op becomes a product or a convolution,
 * followed by the ops that ONNX Runtime fused with the product or the convolution. */

#include "contrib.h"

/* Exchanges the last two dimensions of `x`. Returns `x` if its rank is below 2. */
static CleaveOnnxValue *
transpose (CleaveOnnxNode *node, CleaveOnnxValue *x, const char *suffix, GError **error)
{
  CleaveShape order = { .rank = cleave_onnx_value_shape (x)->rank };

  for (guint d = 0; d < order.rank; d++)
    order.dim[d] = d + 2 < order.rank ? d : 2 * order.rank - 3 - d;
  return order.rank < 2 ? x : cleave_onnx_permute (node, x, &order, suffix, error);
}

static gboolean
fused_mat_mul (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *a = cleave_onnx_node_operand (node, 0), *b = cleave_onnx_node_operand (node, 1),
                  *y;
  double alpha = cleave_onnx_node_take_real (node, "alpha", 1);

  if (!cleave_onnx_node_need (node, 2, error))
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

/* The table and the functions below are for activations that ONNX Runtime fused with another op. */

/* The activations, with the names of their attributes in the order of the node's activation_params.
 */
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
      g_ptr_array_add (made->attrs,
                       cleave_onnx_attr_new_real (activations[i].params[k], params[k]));
  return cleave_onnx_node_make (made, error) && cleave_onnx_finish (node, made->values->pdata[0]);
}

/* Adds the op `op` with the first `n_operands` operands of the node. If the node has one more
 * operand, such as Z of a FusedConv, adds this operand to the result. Then adds the activation. */
static gboolean
fused (CleaveOnnxNode *node,
       const char *op,
       guint n_operands,
       const char *activation,
       const double *params,
       guint n_params,
       GError **error)
{
  CleaveOnnxValue *y, *z = cleave_onnx_node_operand (node, n_operands);

  if (!cleave_onnx_node_need (node, 1, error))
    return FALSE;
  y = cleave_onnx_upgrade_step (node, op, ".linear", (CleaveOnnxValue **) node->operands->pdata,
                                MIN (n_operands, node->operands->len), error);
  if (y != NULL && z != NULL)
    y = CLEAVE_ONNX_STEP ("Add", ".sum", NULL, y, z);
  if (y == NULL || activation == NULL || *activation == '\0')
    return cleave_onnx_finish (node, y);
  return activate (node, y, activation, params, n_params, error);
}

gboolean
cleave_onnx_fused_conv (CleaveOnnxNode *node, GError **error)
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

const CleaveOnnxContrib cleave_onnx_contrib_fused[] = {
  { "FusedConv", cleave_onnx_fused_conv },
  { "FusedGemm", fused_gemm },
  { "FusedMatMul", fused_mat_mul },
  { "TransposeMatMul", fused_mat_mul }, /* an older name of FusedMatMul */
  { NULL, NULL },
};
