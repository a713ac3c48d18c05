/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of ops of transformers: LayerNormalization, the products of two operands that are
 * computed at run time, and a Gather of rows of a constant table. */

#include <math.h>
#include <string.h>

#include "op-help.h"
#include "ops.h"

/* The functions below describe LayerNormalization. */

/* Adds the array of a constant operand, broadcast to the `n` elements that are normalized together.
 * Returns the C expression of the array. */
static const char *
add_parameter (const CleaveNode *node, guint operand, gint64 n, CleaveBundleLayer *layer)
{
  g_autofree float *values = g_new (float, (gsize) n);
  const float *from = cleave_bundle_constant (node, operand);
  gint64 own = cleave_shape_n_elements (&node->operands[operand].result->type.shape);

  for (gint64 i = 0; i < n; i++)
    values[i] = from[own == 1 ? 0 : i];
  return cleave_bundle_layer_add_array (layer, "float", values, (gsize) n);
}

static gboolean
describe_layer_norm (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  enum { X, SCALE, B };
  const CleaveLayerNormAttrs *a = node->attrs;
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  gboolean is_channels = a->axis == image.channel_dim && image.channels > 0;
  gint64 n = is_channels ? image.channels : image.columns;
  gboolean has_b = node->n_operands > B && node->operands[B].result != NULL;
  g_autofree char *fields = NULL;

  if (!cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_need_constants (node, SCALE, node->n_operands, "Scale and B", error))
    return FALSE;
  if (a->axis != (gint64) node->operands[X].result->type.shape.rank - 1 ||
      (!is_channels && a->axis != image.column_dim))
    return cleave_bundle_fail (node, error,
                               "a bundle normalizes the last dimension only, if it is that of the "
                               "channels or columns of an image");
  fields = g_strdup_printf (
      ".scales = %s, .offsets = %s, .epsilon = %a, .channels = %" G_GINT64_FORMAT
      ", .n = %" G_GINT64_FORMAT ", .n_columns = %" G_GINT64_FORMAT,
      add_parameter (node, SCALE, n, layer), has_b ? add_parameter (node, B, n, layer) : "NULL",
      a->epsilon, image.channels, n, is_channels ? G_GINT64_CONSTANT (1) : n);
  cleave_bundle_layer_set_kernel (layer, "layer-norm-f32", "cleave_layer_norm_f32");
  cleave_bundle_layer_set_params (layer, "CleaveLayerNormF32", fields);
  if (is_channels)
    cleave_bundle_layer_set_in_place (layer, X);
  return TRUE;
}

/* The functions below describe MatMul and QLinearMatMul. */

static gboolean
has_channels_last (const CleaveResult *value)
{
  return cleave_bundle_image (value).channel_dim == (gint) value->type.shape.rank - 1;
}

/* Returns the fields of a CleaveMatMul for a product of A and B. `operand_b`: index of B among the
 * operands; A has the index 0. Returns NULL and sets the error if the kernels cannot multiply A and
 * B. */
static char *
print_matmul (const CleaveNode *node, guint operand_b, GError **error)
{
  const CleaveResult *a = node->operands[0].result, *b = node->operands[operand_b].result;
  CleaveBundleImage from = cleave_bundle_image (a), factors = cleave_bundle_image (b);
  guint rank = a->type.shape.rank;

  if (rank < 2 || b->type.shape.rank < 2 ||
      (b->type.shape.rank != rank && (b->type.shape.rank != 2 || rank > 4)))
    {
      cleave_bundle_fail (node, error,
                          "a bundle needs two stacks of matrices of the same rank, or a matrix B");
      return NULL;
    }
  if (!has_channels_last (a) || !has_channels_last (b) || !has_channels_last (&node->results[0]))
    {
      cleave_bundle_fail (node, error, "a bundle needs the channels of A and B last");
      return NULL;
    }
  return g_strdup_printf (".in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT
                          ", .has_columns = %d, .has_one_row = { %d, %d }",
                          from.channels, factors.channels, factors.column_dim >= 0, from.rows == 1,
                          factors.rows == 1);
}

gboolean
cleave_bundle_describe_product (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  g_autofree char *fields = NULL;

  if (!cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error))
    return FALSE;
  fields = print_matmul (node, 1, error);
  if (fields == NULL)
    return FALSE;
  cleave_bundle_layer_set_kernel (layer, "matmul-f32", "cleave_matmul_f32");
  cleave_bundle_layer_set_params (layer, "CleaveMatMul", fields);
  return TRUE;
}

/* Operand indices of QLinearMatMul. */
enum { A, A_SCALE, A_ZERO, B, B_SCALE, B_ZERO, Y_SCALE, Y_ZERO, N_OPERANDS };

/* Checks that each scale and zero point is a constant with one element. */
static gboolean
check_scales (const CleaveNode *node, GError **error)
{
  for (guint i = A; i < N_OPERANDS; i++)
    {
      if (i == A || i == B)
        continue;
      if (!cleave_bundle_need_constants (node, i, i + 1, "scales and zero points", error))
        return FALSE;
      if (cleave_shape_n_elements (&node->operands[i].result->type.shape) != 1)
        return cleave_bundle_fail (node, error,
                                   "a bundle needs one scale and one zero point for each of a, b "
                                   "and y, if a run computes a and b");
    }
  return TRUE;
}

static float
load_scale (const CleaveNode *node, guint operand)
{
  return *(const float *) cleave_bundle_constant (node, operand);
}

gboolean
cleave_bundle_describe_product_of_bytes (const CleaveNode *node,
                                         CleaveBundleLayer *layer,
                                         GError **error)
{
  const gboolean has_sign = node->results[0].type.element == CLEAVE_INT8;
  g_autofree char *shape = NULL, *fields = NULL;
  gint64 y_zero;
  float scale;
  gint32 bits;

  if (!check_scales (node, error))
    return FALSE;
  shape = print_matmul (node, B, error);
  if (shape == NULL)
    return FALSE;
  scale = load_scale (node, A_SCALE) * load_scale (node, B_SCALE) / load_scale (node, Y_SCALE);
  if (!isfinite (scale))
    return cleave_bundle_fail (node, error, "the scales must be finite; the scale of y is %g",
                               (double) scale);
  memcpy (&bits, &scale, sizeof bits);
  y_zero = cleave_bundle_integer (node, Y_ZERO, 0);
  fields = g_strdup_printf (
      ".shape = { %s }, .multiplier = %d, .shift = INT8_MAX, .zeros = { %" G_GINT64_FORMAT
      ", %" G_GINT64_FORMAT " }, .y_zero = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
      ", .high = %" G_GINT64_FORMAT ", .types = { %s, %s }",
      shape, bits, cleave_bundle_integer (node, A_ZERO, 0), cleave_bundle_integer (node, B_ZERO, 0),
      y_zero, (has_sign ? G_MININT8 : 0) - y_zero, (has_sign ? G_MAXINT8 : G_MAXUINT8) - y_zero,
      node->operands[A].result->type.element == CLEAVE_INT8 ? "CLEAVE_S8" : "CLEAVE_U8",
      node->operands[B].result->type.element == CLEAVE_INT8 ? "CLEAVE_S8" : "CLEAVE_U8");
  cleave_bundle_layer_set_float_scales (layer);
  cleave_bundle_layer_set_kernel (layer, "matmul-bytes", "cleave_matmul_bytes");
  cleave_bundle_layer_set_params (layer, "CleaveMatMulBytes", fields);
  return TRUE;
}

/* The functions below describe Gather. */

static gboolean
describe_embed (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  enum { DATA, INDICES };
  const CleaveAxisAttrs *a = node->attrs;
  const CleaveResult *data = node->operands[DATA].result, *at = node->operands[INDICES].result;
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);
  CleaveBundleImage indices = cleave_bundle_image (at);
  gint64 n = data->type.shape.dim[0];
  gsize size = cleave_element_size (data->type.element);
  g_autofree char *fields = NULL;

  if (!cleave_node_is_fixed (data->node) || data->type.shape.rank != 2 || a->axis != 0 ||
      n > G_MAXINT32 || !has_channels_last (&node->results[0]) || y.images != 1)
    return cleave_bundle_fail (node, error,
                               "a bundle gathers rows of a constant matrix if indices are computed "
                               "at run time; fix the indices with --fix, or compute this node "
                               "outside");
  if (indices.images != 1 || indices.rows != 1 || indices.columns != 1)
    return cleave_bundle_fail (node, error, "a bundle needs a list of indices");
  fields = g_strdup_printf (
      ".table = %s, .n = %" G_GINT64_FORMAT ", .bytes = %u, .columns = %" G_GINT64_FORMAT
      ", .index_bytes = %u",
      cleave_bundle_layer_add_array (layer, "uint8_t", cleave_bundle_constant (node, DATA),
                                     (gsize) cleave_tensor_type_n_bytes (&data->type)),
      n, (guint) (size * (gsize) y.channels), y.columns,
      (guint) cleave_element_size (at->type.element));
  cleave_bundle_layer_set_kernel (layer, "embed", "cleave_embed");
  cleave_bundle_layer_set_params (layer, "CleaveEmbed", fields);
  return TRUE;
}

static gboolean
describe_gather (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  if (!cleave_node_is_fixed (node->operands[1].result->node))
    return describe_embed (node, layer, error);
  return node->operands[1].result->type.shape.rank == 1
             ? cleave_bundle_describe_move (node, layer, error)
             : cleave_bundle_describe_reorder (node, layer, error);
}

const CleaveBundleOp cleave_bundle_op_layer_normalization = { "LayerNormalization",
                                                              describe_layer_norm };
const CleaveBundleOp cleave_bundle_op_gather = { "Gather", describe_gather };
