/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades ops of the default domain: converts nodes of earlier and later opsets to opset 17. Also
 * converts nodes of opset 17 that our op records cannot describe. ONNX's Changelog.md states the
 * changes of each opset.
 *
 * Over 400 lines: this file has one small function for each op that changed. */

#include "upgrades.h"

#include <math.h>
#include <string.h>

/* Attributes that the import ignores. */

static const struct
{
  const char *op, *attr;
  gboolean any;   /* whether the attribute may have any value */
  gint64 allowed; /* the only allowed value, unless `any` is set */
  gint64 until;   /* first opset without the attribute; 0: our op record decides whether the
                   * attribute exists */
} ignored[] = {
  { NULL, "consumed_inputs", .any = TRUE, .until = 6 }, /* attribute of any op: a hint about
                                                         * memory */
  { "Dropout", "is_test", .any = TRUE },
  { "GRU", "output_sequence", .any = TRUE }, /* states whether a node reads the result Y; the import
                                              * finds the readers of Y without this attribute */
  { "LSTM", "output_sequence", .any = TRUE },
  { "RNN", "output_sequence", .any = TRUE },
  { "Gemm", "broadcast", .any = TRUE }, /* before opset 7: whether operand C may broadcast. The
                                         * import lets C broadcast in every opset */
};

static gboolean
drop_ignored (CleaveOnnxNode *node, GError **error)
{
  for (guint i = 0; i < G_N_ELEMENTS (ignored) && node->attrs->len > 0; i++)
    {
      g_autoptr (CleaveOnnxAttr) attr = NULL;

      if (ignored[i].until != 0 && node->import->opset >= ignored[i].until)
        continue;
      if (ignored[i].op == NULL || strcmp (node->op, ignored[i].op) == 0)
        attr = cleave_onnx_node_take (node, ignored[i].attr);
      if (attr == NULL || ignored[i].any)
        continue;
      if (attr->ints->len != 1 || g_array_index (attr->ints, gint64, 0) != ignored[i].allowed)
        return cleave_onnx_node_fail (node, error, "%s must be %" G_GINT64_FORMAT, attr->name,
                                      ignored[i].allowed);
    }
  return TRUE;
}

/* Attributes that a later opset renamed. */

static const struct
{
  const char *op, *old, *name;
  gint64 until; /* first opset in which the attribute has the new name */
} renamed[] = {
  { "Pad", "paddings", "pads", 2 },
  { "Pad", "value", "constant_value", 11 },
};

static void
rename_attrs (CleaveOnnxNode *node)
{
  for (guint i = 0; i < G_N_ELEMENTS (renamed) && node->attrs->len > 0; i++)
    {
      CleaveOnnxAttr *attr =
          node->import->opset < renamed[i].until && strcmp (node->op, renamed[i].op) == 0
              ? cleave_onnx_node_find (node, renamed[i].old)
              : NULL;

      if (attr != NULL)
        {
          g_free (attr->name);
          attr->name = g_strdup (renamed[i].name);
        }
    }
}

/* Upgrades Constant: its value may be in one of several attributes, such as value_floats. */
static gboolean
upgrade_constant (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxAttr *attr = node->attrs->len == 1 ? node->attrs->pdata[0] : NULL;
  g_autofree float *floats = NULL;
  CleaveTensorType type;
  gboolean is_scalar;

  if (attr == NULL)
    return cleave_onnx_node_fail (node, error, "it has %u attributes, not one", node->attrs->len);
  if (attr->tensor != NULL)
    return cleave_onnx_finish (node, cleave_onnx_value_new_constant (
                                         node->import, NULL, cleave_tensor_ref (attr->tensor)));
  if (attr->string != NULL)
    return cleave_onnx_node_fail (node, error, "element type string is not supported");
  is_scalar = attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT ||
              attr->type == ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT;
  if (strcmp (attr->name, "value_int") == 0 || strcmp (attr->name, "value_ints") == 0)
    {
      type = (CleaveTensorType){ CLEAVE_INT64, { is_scalar ? 0 : 1, { attr->ints->len } } };
      return cleave_onnx_finish (node, cleave_onnx_constant (node, &type, attr->ints->data));
    }
  if (strcmp (attr->name, "value_float") != 0 && strcmp (attr->name, "value_floats") != 0)
    return cleave_onnx_node_fail (node, error, "attribute '%s' is not a value", attr->name);
  type = (CleaveTensorType){ CLEAVE_FLOAT32, { is_scalar ? 0 : 1, { attr->floats->len } } };
  floats = cleave_onnx_attr_dup_floats (attr);
  return cleave_onnx_finish (node, cleave_onnx_constant (node, &type, floats));
}

/* Upgrades Size to a constant, since the type of the operand is known. */
static gboolean
upgrade_size (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *shape = cleave_onnx_node_operand_shape (node, 0);
  gint64 n;

  if (shape == NULL)
    return cleave_onnx_node_fail (node, error, "it has no operand");
  n = cleave_shape_n_elements (shape);
  return cleave_onnx_finish (node, cleave_onnx_constant (node, &CLEAVE_SCALAR (CLEAVE_INT64), &n));
}

/* Upgrades CastLike to a Cast to the element type of operand 1. */
static gboolean
upgrade_cast_like (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *like = cleave_onnx_node_operand (node, 1);

  if (like == NULL)
    return cleave_onnx_node_fail (node, error, "it has no second operand");
  g_ptr_array_add (node->attrs,
                   cleave_onnx_attr_new_int (
                       "to", cleave_onnx_element_number (cleave_onnx_value_type (like)->element)));
  g_ptr_array_set_size (node->operands, 1);
  node->op = "Cast";
  return cleave_onnx_upgrade_cast_19 (node, error);
}

/* Upgrades Concat before opset 4, whose default axis is 1. */
static gboolean
upgrade_concat (CleaveOnnxNode *node, GError **error)
{
  if (cleave_onnx_node_find (node, "axis") == NULL)
    g_ptr_array_add (node->attrs, cleave_onnx_attr_new_int ("axis", 1));
  return TRUE;
}

/* Upgrades a binary op before opset 7. Its attribute `axis` is the dimension of operand 0 to which
 * dimension 0 of operand 1 corresponds. */
static gboolean
upgrade_binary (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) broadcast = cleave_onnx_node_take (node, "broadcast");
  g_autoptr (CleaveOnnxAttr) axis = cleave_onnx_node_take (node, "axis");
  const CleaveShape *a = cleave_onnx_node_operand_shape (node, 0),
                    *b = cleave_onnx_node_operand_shape (node, 1);
  CleaveOnnxValue *value;
  CleaveShape shape;
  gint64 at;

  if (axis == NULL || a == NULL || b == NULL || axis->ints->len != 1)
    return TRUE;
  at = g_array_index (axis->ints, gint64, 0);
  if (at < -(gint64) a->rank || at > (gint64) a->rank ||
      (at < 0 ? at + a->rank : at) + b->rank > a->rank)
    return cleave_onnx_node_fail (node, error,
                                  "axis %" G_GINT64_FORMAT " does not fit ranks %u and %u", at,
                                  a->rank, b->rank);
  shape = *b;
  shape.rank = a->rank - (guint) (at < 0 ? at + a->rank : at);
  for (guint d = b->rank; d < shape.rank; d++)
    shape.dim[d] = 1;
  value = cleave_onnx_node_reshape (node, cleave_onnx_node_operand (node, 1), &shape, ".B", error);
  if (value == NULL)
    return FALSE;
  cleave_onnx_node_set_operand (node, 1, value);
  return TRUE;
}

/* Upgrades PRelu before opset 7, which has one slope for each channel. */
static gboolean
upgrade_prelu (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0),
                    *slope = cleave_onnx_node_operand_shape (node, 1);
  CleaveShape shape = { .dim = { 1, 1, 1, 1, 1, 1, 1, 1 } };
  CleaveOnnxValue *value;

  if (x == NULL || slope == NULL || slope->rank != 1 || x->rank < 3)
    return TRUE;
  shape.rank = x->rank - 1;
  shape.dim[0] = slope->dim[0];
  value =
      cleave_onnx_node_reshape (node, cleave_onnx_node_operand (node, 1), &shape, ".slope", error);
  if (value == NULL)
    return FALSE;
  cleave_onnx_node_set_operand (node, 1, value);
  return TRUE;
}

/* Returns whether a constant attribute of Clip can hold the bound `limit`. If not, Clip becomes a
 * Max and a Min. An attribute cannot hold a computed bound or an integer that a double cannot
 * represent. A NaN in an attribute would mean that there is no bound. */

static gboolean
is_attr (CleaveOnnxImport *import, CleaveOnnxValue *limit)
{
  CleaveTensor *constant = cleave_onnx_value_constant (import, limit);
  g_autoptr (CleaveOnnxAttr) attr = NULL;

  if (constant == NULL)
    return FALSE;
  attr = cleave_onnx_attr_of_tensor ("limit", constant);
  return cleave_onnx_attr_is_exact (attr) &&
         !(attr->floats->len == 1 && isnan (g_array_index (attr->floats, double, 0)));
}

static CleaveOnnxValue *
bound (CleaveOnnxNode *node, CleaveOnnxValue *value, guint operand, const char *op, GError **error)
{
  CleaveOnnxValue *limit = cleave_onnx_node_operand (node, operand);
  g_autofree char *suffix = g_strconcat (".", op, NULL);

  return limit == NULL ? value : CLEAVE_ONNX_STEP (op, suffix, NULL, value, limit);
}

static gboolean
upgrade_clip (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, 0);
  gboolean is_computed = FALSE;

  for (guint i = 1; i <= 2; i++)
    {
      CleaveOnnxValue *limit = cleave_onnx_node_operand (node, i);

      is_computed = is_computed || (limit != NULL && !is_attr (node->import, limit));
    }
  if (!is_computed || x == NULL)
    return TRUE;
  x = bound (node, x, 1, "Max", error);
  return cleave_onnx_finish (node, bound (node, x, 2, "Min", error));
}

/* The functions below upgrade Softmax, LogSoftmax and Hardmax before opset 13, which flatten the
 * dimensions from the axis on. */

static CleaveShape
flatten (const CleaveShape *shape, guint axis)
{
  CleaveShape flat = { 2, { 1, 1 } };

  for (guint d = 0; d < shape->rank; d++)
    flat.dim[d < axis ? 0 : 1] *= shape->dim[d];
  return flat;
}

static gboolean
upgrade_softmax (CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);
  gint64 axis = cleave_onnx_node_get_int (node, "axis", 1);
  CleaveOnnxValue *value;
  CleaveShape flat;

  if (cleave_onnx_node_find (node, "axis") == NULL)
    g_ptr_array_add (node->attrs, cleave_onnx_attr_new_int ("axis", axis));
  if (x != NULL && axis < 0)
    axis += x->rank;
  if (x == NULL || axis < 0 || axis >= (gint64) x->rank || axis == (gint64) x->rank - 1)
    return TRUE;
  flat = flatten (x, (guint) axis);
  value =
      cleave_onnx_node_reshape (node, cleave_onnx_node_operand (node, 0), &flat, ".flat", error);
  value = CLEAVE_ONNX_STEP (node->op, "", cleave_onnx_attr_new_int ("axis", 1), value);
  value = cleave_onnx_node_reshape (node, value, x, ".shaped", error);
  return cleave_onnx_finish (node, value);
}

static gboolean
upgrade_scatter (CleaveOnnxNode *node, GError **error)
{
  if (node->import->opset >= 11)
    return cleave_onnx_node_fail_op (node, error);
  node->op = "ScatterElements";
  return TRUE;
}

/* Upgrades OneHot with a depth that is a float: makes the depth an integer. */
static gboolean
upgrade_one_hot (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *depth = cleave_onnx_node_operand (node, 1);
  g_autoptr (CleaveOnnxAttr) numbers = NULL;
  gint64 n;

  if (depth == NULL || cleave_onnx_value_constant (node->import, depth) == NULL ||
      !cleave_element_is_float (cleave_onnx_value_type (depth)->element))
    return TRUE;
  numbers = cleave_onnx_attr_of_tensor ("depth", depth->constant);
  if (numbers->floats->len != 1 || !(g_array_index (numbers->floats, double, 0) < 0x1p62) ||
      !(g_array_index (numbers->floats, double, 0) >= 0))
    return cleave_onnx_node_fail (node, error, "depth is not a number of elements");
  n = (gint64) g_array_index (numbers->floats, double, 0);
  cleave_onnx_node_set_operand (node, 1,
                                cleave_onnx_constant (node, &CLEAVE_SCALAR (CLEAVE_INT64), &n));
  return TRUE;
}

/* The upgrades of ops: each entry has the op, the opsets and the function. */

static const struct
{
  const char *op;
  gint64 until; /* first opset that does not need the upgrade; G_MAXINT64: all opsets need it */
  gint64 since; /* first opset that has the op; 0: not checked */
  gboolean (*upgrade) (CleaveOnnxNode *node, GError **error);
} upgrades[] = {
  { "Add", 7, 0, upgrade_binary },
  { "Sub", 7, 0, upgrade_binary },
  { "Mul", 7, 0, upgrade_binary },
  { "Div", 7, 0, upgrade_binary },
  { "Pow", 7, 0, upgrade_binary },
  { "And", 7, 0, upgrade_binary },
  { "Or", 7, 0, upgrade_binary },
  { "Xor", 7, 0, upgrade_binary },
  { "Equal", 7, 0, upgrade_binary },
  { "Less", 7, 0, upgrade_binary },
  { "Greater", 7, 0, upgrade_binary },
  { "PRelu", 7, 0, upgrade_prelu },
  { "Concat", 4, 0, upgrade_concat },
  { "Cast", 6, 0, cleave_onnx_upgrade_cast_1 },
  { "Dropout", 12, 0, cleave_onnx_upgrade_dropout_1 },
  { "GlobalLpPool", 2, 0, cleave_onnx_upgrade_power_1 },
  { "LpPool", 2, 0, cleave_onnx_upgrade_lp_pool_1 },
  { "Selu", 6, 0, cleave_onnx_upgrade_selu_1 },
  { "Split", 2, 0, cleave_onnx_upgrade_split_1 },
  { "Tile", 6, 0, cleave_onnx_upgrade_tile_1 },
  { "Upsample", 7, 0, cleave_onnx_upgrade_upsample_1 },
  { "Affine", 10, 0, cleave_onnx_upgrade_affine },
  { "Crop", 10, 0, cleave_onnx_upgrade_crop },
  { "DynamicSlice", 10, 0, cleave_onnx_upgrade_dynamic_slice },
  { "ImageScaler", 10, 0, cleave_onnx_upgrade_image_scaler },
  { "ParametricSoftplus", 10, 0, cleave_onnx_upgrade_parametric_softplus },
  { "Scale", 10, 0, cleave_onnx_upgrade_scale },
  { "ScaledTanh", 10, 0, cleave_onnx_upgrade_scaled_tanh },
  { "Size", G_MAXINT64, 0, upgrade_size },
  { "CastLike", G_MAXINT64, 0, upgrade_cast_like },
  { "Resize", 11, 0, cleave_onnx_upgrade_resize },
  { "Resize", 18, 0, cleave_onnx_upgrade_resize_11 },
  { "Resize", G_MAXINT64, 0, cleave_onnx_upgrade_resize_18 },
  { "RoiAlign", 16, 0, cleave_onnx_upgrade_roi_align },
  { "Pad", G_MAXINT64, 0, cleave_onnx_upgrade_pad_18 },
  { "Softmax", 13, 0, upgrade_softmax },
  { "LogSoftmax", 13, 0, upgrade_softmax },
  { "Hardmax", 13, 0, upgrade_softmax },
  { "ReduceMean", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceMax", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceMin", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceProd", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceL1", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceL2", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceSumSquare", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceLogSum", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "ReduceLogSumExp", G_MAXINT64, 0, cleave_onnx_upgrade_reduce },
  { "Split", G_MAXINT64, 0, cleave_onnx_upgrade_split },
  { "Clip", G_MAXINT64, 0, upgrade_clip },
  { "Upsample", G_MAXINT64, 0, cleave_onnx_upgrade_upsample },
  { "Scatter", G_MAXINT64, 0, upgrade_scatter },
  { "OneHot", G_MAXINT64, 0, upgrade_one_hot },
  { "TfIdfVectorizer", G_MAXINT64, 0, cleave_onnx_upgrade_tfidf },
  { "Constant", G_MAXINT64, 0, upgrade_constant },
  { "BatchNormalization", G_MAXINT64, 0, cleave_onnx_upgrade_batch_norm_forms },
  { "LayerNormalization", G_MAXINT64, 0, cleave_onnx_upgrade_layer_norm },
  { "NegativeLogLikelihoodLoss", G_MAXINT64, 0, cleave_onnx_upgrade_nll_loss },
  { "SoftmaxCrossEntropyLoss", G_MAXINT64, 0, cleave_onnx_upgrade_softmax_loss },
  { "Compress", G_MAXINT64, 0, cleave_onnx_upgrade_compress },
  { "NonMaxSuppression", G_MAXINT64, 0, cleave_onnx_upgrade_nms },
  { "NonZero", G_MAXINT64, 0, cleave_onnx_upgrade_non_zero },
  { "Unique", G_MAXINT64, 0, cleave_onnx_upgrade_unique },
  { "Conv", G_MAXINT64, 0, cleave_onnx_upgrade_conv },
  { "DeformConv", G_MAXINT64, 19, cleave_onnx_upgrade_deform_conv },
  { "ConvInteger", G_MAXINT64, 0, cleave_onnx_upgrade_conv },
  { "QLinearConv", G_MAXINT64, 0, cleave_onnx_upgrade_qlinear_conv },
  { "ConvTranspose", G_MAXINT64, 0, cleave_onnx_upgrade_conv_transpose },
  { "MaxPool", G_MAXINT64, 0, cleave_onnx_upgrade_pool },
  { "AveragePool", G_MAXINT64, 0, cleave_onnx_upgrade_pool },
  { "LpPool", G_MAXINT64, 0, cleave_onnx_upgrade_pool },
  { "Mish", G_MAXINT64, 18, cleave_onnx_upgrade_mish },
  { "CenterCropPad", G_MAXINT64, 18, cleave_onnx_upgrade_center_crop_pad },
  { "GroupNormalization", G_MAXINT64, 18, cleave_onnx_upgrade_group_norm },
  { "Gelu", G_MAXINT64, 20, cleave_onnx_upgrade_gelu },
  { "RMSNormalization", G_MAXINT64, 23, cleave_onnx_upgrade_rms_norm },
  { "Attention", G_MAXINT64, 23, cleave_onnx_upgrade_attention },
  { "RotaryEmbedding", G_MAXINT64, 23, cleave_onnx_upgrade_rotary_23 },
  { "Swish", G_MAXINT64, 24, cleave_onnx_upgrade_swish },
  { "SimplifiedLayerNormalization", G_MAXINT64, 0, cleave_onnx_upgrade_rms_norm },
  { "DFT", G_MAXINT64, 0, cleave_onnx_upgrade_dft_20 },
  { "STFT", G_MAXINT64, 0, cleave_onnx_upgrade_stft },
  { "GridSample", G_MAXINT64, 0, cleave_onnx_upgrade_grid_sample_20 },
  { "QuantizeLinear", G_MAXINT64, 0, cleave_onnx_upgrade_quantize_21 },
  { "DequantizeLinear", G_MAXINT64, 0, cleave_onnx_upgrade_dequantize_21 },
  { "QLinearMatMul", G_MAXINT64, 0, cleave_onnx_upgrade_qlinear_matmul_21 },
  { "AffineGrid", G_MAXINT64, 20, cleave_onnx_upgrade_affine_grid },
  { "TensorScatter", G_MAXINT64, 24, cleave_onnx_upgrade_tensor_scatter },
  { "Cast", G_MAXINT64, 0, cleave_onnx_upgrade_cast_19 },
  { "If", 0, 0, NULL },   /* if.c reads this op */
  { "Loop", 0, 0, NULL }, /* loop.c reads this op; scan.c reads Scan */
  { "Scan", 0, 0, NULL },
};

/* Returns whether entry `i` of the table is for `op`. Compares the first letters before it calls
 * strcmp(), since every node searches the table. */
static gboolean
is_of (guint i, const char *op)
{
  return upgrades[i].op[0] == op[0] && strcmp (upgrades[i].op, op) == 0;
}

gboolean
cleave_onnx_upgrade_knows (const char *op)
{
  for (guint i = 0; i < G_N_ELEMENTS (upgrades); i++)
    if (is_of (i, op))
      return TRUE;
  return FALSE;
}

gboolean
cleave_onnx_upgrade (CleaveOnnxNode *node, GError **error)
{
  const char *op = node->op;

  if (!drop_ignored (node, error))
    return FALSE;
  rename_attrs (node);
  for (guint i = 0; i < G_N_ELEMENTS (upgrades); i++)
    if (node->import->opset < upgrades[i].until && is_of (i, op))
      return node->import->opset < upgrades[i].since ? cleave_onnx_node_fail_op (node, error)
                                                     : upgrades[i].upgrade (node, error);
  return TRUE;
}

CleaveOnnxValue *
cleave_onnx_upgrade_step (CleaveOnnxNode *node,
                          const char *op,
                          const char *suffix,
                          CleaveOnnxValue *const *operands,
                          guint n_operands,
                          GError **error)
{
  g_autofree char *name = g_strconcat (node->name, suffix, NULL);
  g_autoptr (CleaveOnnxNode) made = cleave_onnx_node_new (node->import, op, name, 1);
  gint64 opset = node->import->opset;
  gboolean good;

  if (n_operands == 0 || operands[0] == NULL)
    return NULL;
  while (node->attrs->len > 0)
    g_ptr_array_add (made->attrs, g_ptr_array_steal_index (node->attrs, 0));
  for (guint i = 0; i < n_operands; i++)
    g_ptr_array_add (made->operands, operands[i]);
  node->import->opset = CLEAVE_ONNX_OPSET;
  good = cleave_onnx_upgrade (made, error) &&
         (made->values != NULL || cleave_onnx_node_make (made, error));
  node->import->opset = opset;
  return good ? made->values->pdata[0] : NULL;
}
