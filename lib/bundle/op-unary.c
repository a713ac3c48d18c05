/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of ops with one operand of int8: TfliteSum, TfliteSoftmax, TfliteLookup, TfliteRescale;
 * and of conversions: TfliteQuantize and DequantizeLinear. */

#include <cleave/cleave-tflite.h>

#include "../ops/reference.h"
#include "op-help.h"
#include "ops.h"

static gint64
count_of (const CleaveTfliteSumAttrs *a, const CleaveShape *x, gint dim)
{
  return dim >= 0 && cleave_ints_contain (&a->axes, dim) ? x->dim[dim] : 1;
}

static gboolean
describe_sum (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteSumAttrs *a = node->attrs;
  const CleaveResult *x = node->operands[0].result;
  const CleaveShape *shape = &x->type.shape;
  CleaveBundleImage image = cleave_bundle_image (x), y = cleave_bundle_image (&node->results[0]);
  gint64 rows = count_of (a, shape, image.row_dim), columns = count_of (a, shape, image.column_dim);
  gint64 channels = count_of (a, shape, image.channel_dim), n = rows * columns * channels;
  g_autofree char *fields = NULL;

  if (!cleave_bundle_need_element (node, 0, CLEAVE_INT8, error) ||
      !cleave_bundle_check_multiplier (node, a->multiplier, error))
    return FALSE;
  for (guint i = 0; i < a->axes.n; i++)
    if (a->axes.v[i] != image.row_dim && a->axes.v[i] != image.column_dim &&
        a->axes.v[i] != image.channel_dim && shape->dim[a->axes.v[i]] != 1)
      return cleave_bundle_fail (
          node, error, "a bundle has no kernel for a sum along dimension %" G_GINT64_FORMAT,
          a->axes.v[i]);
  fields = g_strdup_printf (
      ".count = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
      " }, .channels = %" G_GINT64_FORMAT ", .y_channels = %" G_GINT64_FORMAT
      ", .start = %d, .multiplier = %" G_GINT64_FORMAT ", .shift = %d, .y_zero = %" G_GINT64_FORMAT,
      rows, columns, channels, image.channels, y.channels, (gint32) (guint32) (-n * a->x_zero),
      a->multiplier, cleave_bundle_shift (a->shift), a->y_zero);
  if (rows > 1 && rows == image.rows)
    {
      cleave_bundle_layer_set_kernel (layer, "sum-rows-s8", "cleave_sum_end_s8");
      cleave_bundle_layer_set_sums (layer, "cleave_sum_row_s8", y.columns, 4 * (gsize) y.channels);
    }
  else
    cleave_bundle_layer_set_kernel (layer, "sum-s8", "cleave_sum_s8");
  cleave_bundle_layer_set_params (layer, "CleaveSumS8", fields);
  return TRUE;
}

static gboolean
describe_softmax (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResult *x = node->operands[0].result;
  CleaveBundleImage image = cleave_bundle_image (x);
  guint y_bytes = (guint) cleave_element_size (node->results[0].type.element);
  const gint32 *table;
  g_autofree char *fields = NULL;

  if (!cleave_bundle_need_constants (node, 1, 2, "tables", error))
    return FALSE;
  if (image.channel_dim != (gint) x->type.shape.rank - 1)
    return cleave_bundle_fail (
        node, error, "a bundle needs the channels of '%s' in the last dimension", x->node->name);
  table = cleave_bundle_constant (node, 1);
  for (guint i = 0; i < 256; i++)
    if (table[i] < 0)
      return cleave_bundle_fail (
          node, error, "entry %u of the table is %d, but must not be negative", i, table[i]);
  fields = g_strdup_printf (".table = %s, .channels = %" G_GINT64_FORMAT ", .y_bytes = %u",
                            cleave_bundle_layer_add_array (layer, "int32_t", table, 256),
                            image.channels, y_bytes);
  cleave_bundle_layer_set_kernel (layer, "softmax-s8", "cleave_softmax_s8");
  cleave_bundle_layer_set_params (layer, "CleaveSoftmaxS8", fields);
  if (y_bytes == 1)
    cleave_bundle_layer_set_in_place (layer, 0);
  return TRUE;
}

/* Describes a table that maps each byte of x to an element of the result. */
static void
set_lookup (const CleaveNode *node, CleaveBundleLayer *layer, const guint8 *table)
{
  g_autofree char *fields =
      g_strdup_printf (".table = %s, .channels = %" G_GINT64_FORMAT,
                       cleave_bundle_layer_add_array (layer, "uint8_t", table, 256),
                       cleave_bundle_image (&node->results[0]).channels);

  cleave_bundle_layer_set_kernel (layer, "lookup", "cleave_lookup");
  cleave_bundle_layer_set_params (layer, "CleaveLookup", fields);
  cleave_bundle_layer_set_in_place (layer, 0);
}

/* Describes the layer with a table: the results of the op's reference code for all 256 bytes. */
gboolean
cleave_bundle_describe_table (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  guint8 bytes[256], table[256];
  CleaveTensorType x = { node->operands[0].result->type.element, CLEAVE_SHAPE (256) };
  CleaveTensorType y = { node->results[0].type.element, CLEAVE_SHAPE (256) };
  g_autofree CleaveTensorType *types = g_new0 (CleaveTensorType, node->n_operands);
  g_autofree CleaveView *views = g_new0 (CleaveView, node->n_operands);
  CleaveView result = cleave_view_dense (&y, table);
  CleaveCall call = { .op = node->op,
                      .attrs = node->attrs,
                      .n_operands = node->n_operands,
                      .n_results = 1,
                      .operands = types,
                      .results = &y };

  if (!cleave_bundle_need_constants (node, 1, node->n_operands, "tables", error))
    return FALSE;
  if (cleave_element_size (x.element) != 1 || cleave_element_size (y.element) != 1)
    return cleave_bundle_fail (node, error, "a bundle has no kernel for %s to %s",
                               cleave_element_get_name (x.element),
                               cleave_element_get_name (y.element));
  for (guint i = 0; i < 256; i++)
    bytes[i] = (guint8) i;
  types[0] = x;
  views[0] = cleave_view_dense (&x, bytes);
  for (guint i = 1; i < node->n_operands; i++)
    if (node->operands[i].result != NULL)
      {
        types[i] = node->operands[i].result->type;
        views[i] = cleave_view_dense (&types[i], (gpointer) cleave_bundle_constant (node, i));
      }
  node->op->compute (&call, views, &result);
  set_lookup (node, layer, table);
  return TRUE;
}

/* Describes a table if the operand has 8 bits; otherwise, describes a kernel that computes each
 * element. */
static gboolean
describe_rescale (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteRescaleAttrs *a = node->attrs;
  gsize x = cleave_element_size (node->operands[0].result->type.element);
  gsize y = cleave_element_size (node->results[0].type.element);
  g_autofree char *fields = NULL;

  if (x == 1 && y == 1)
    return cleave_bundle_describe_table (node, layer, error);
  if (!cleave_bundle_check_multiplier (node, a->multiplier, error) ||
      !cleave_bundle_check_multiplier (node, a->negative_multiplier, error))
    return FALSE;
  fields = g_strdup_printf (".channels = %" G_GINT64_FORMAT ", .multipliers = { %" G_GINT64_FORMAT
                            ", %" G_GINT64_FORMAT " }, .zeros = { %" G_GINT64_FORMAT
                            ", %" G_GINT64_FORMAT " }, .low = %s, .high = %s"
                            ", .shifts = { %d, %d }, .x_bytes = %u, .y_bytes = %u",
                            cleave_bundle_image (&node->results[0]).channels, a->multiplier,
                            a->negative_multiplier, a->x_zero, a->y_zero,
                            y == 1   ? "INT8_MIN"
                            : y == 2 ? "INT16_MIN"
                                     : "INT32_MIN",
                            y == 1   ? "INT8_MAX"
                            : y == 2 ? "INT16_MAX"
                                     : "INT32_MAX",
                            cleave_bundle_shift (a->shift), cleave_bundle_shift (a->negative_shift),
                            (guint) x, (guint) y);
  cleave_bundle_layer_set_kernel (layer, "rescale", "cleave_rescale");
  cleave_bundle_layer_set_params (layer, "CleaveRescale", fields);
  if (x == y)
    cleave_bundle_layer_set_in_place (layer, 0);
  return TRUE;
}

/* Describes a conversion with the scales and zero points of the channels. */
static void
set_conversion (const CleaveNode *node,
                CleaveBundleLayer *layer,
                const char *kernel,
                const float *scales,
                const gint32 *zeros,
                gint64 n)
{
  gint64 channels = cleave_bundle_image (&node->results[0]).channels;
  g_autofree char *fields = g_strdup_printf (
      ".scales = %s, .zeros = %s, .channels = %" G_GINT64_FORMAT ", .n = %" G_GINT64_FORMAT,
      cleave_bundle_layer_add_array (layer, "float", scales, (gsize) n),
      cleave_bundle_layer_add_array (layer, "int32_t", zeros, (gsize) n), channels, n);
  g_autofree char *function = g_strdup_printf ("cleave_%s", kernel);

  g_strdelimit (function, "-", '_');
  if (MAX (channels, n) > G_MAXUINT16)
    cleave_bundle_layer_set_wide (layer);
  cleave_bundle_layer_set_kernel (layer, kernel, function);
  cleave_bundle_layer_set_params (layer, "CleaveQuantize", fields);
}

static gboolean
describe_quantize (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteQuantizeAttrs *a = node->attrs;
  float scale = (float) a->scale;
  gint32 zero = (gint32) a->zero;

  if (a->to != CLEAVE_INT8)
    return cleave_bundle_fail (node, error, "a bundle has no kernel for results of %s",
                               cleave_element_get_name (a->to));
  set_conversion (node, layer, "quantize-s8", &scale, &zero, 1);
  return TRUE;
}

/* Describes a QuantizeLinear or a DequantizeLinear between float32 and the type `bytes` (int8 or
 * uint8). */
static gboolean
describe_linear (const CleaveNode *node,
                 const char *name,
                 CleaveElement bytes,
                 CleaveBundleLayer *layer,
                 GError **error)
{
  const CleaveAxisAttrs *a = node->attrs;
  CleaveBundleImage image = cleave_bundle_image (node->operands[0].result);
  g_autofree char *kernel = g_strdup_printf ("%s-%s", name, bytes == CLEAVE_UINT8 ? "u8" : "s8");
  g_autofree gint32 *zeros = NULL;
  gint64 n;

  if (!cleave_bundle_need_constants (node, 1, node->n_operands, "scales", error))
    return FALSE;
  if (bytes != CLEAVE_INT8 && bytes != CLEAVE_UINT8)
    return cleave_bundle_fail (node, error, "a bundle has no kernel for %s",
                               cleave_element_get_name (bytes));
  n = cleave_shape_n_elements (&node->operands[1].result->type.shape);
  if (n > 1 && a->axis != image.channel_dim)
    return cleave_bundle_fail (node, error, "a bundle needs one scale, or one for each channel");
  zeros = g_new (gint32, (gsize) n);
  for (gint64 i = 0; i < n; i++)
    zeros[i] = (gint32) cleave_bundle_integer (node, 2, i);
  set_conversion (node, layer, kernel, cleave_bundle_constant (node, 1), zeros, n);
  return TRUE;
}

static gboolean
describe_quantize_linear (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error) &&
         describe_linear (node, "quantize-even", node->results[0].type.element, layer, error);
}

static gboolean
describe_dequantize (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_linear (node, "dequantize", node->operands[0].result->type.element, layer, error);
}

const CleaveBundleOp cleave_bundle_op_tflite_sum = { "TfliteSum", describe_sum };
const CleaveBundleOp cleave_bundle_op_tflite_softmax = { "TfliteSoftmax", describe_softmax };
const CleaveBundleOp cleave_bundle_op_tflite_lookup = { "TfliteLookup",
                                                        cleave_bundle_describe_table };
const CleaveBundleOp cleave_bundle_op_tflite_rescale = { "TfliteRescale", describe_rescale };
const CleaveBundleOp cleave_bundle_op_tflite_quantize = { "TfliteQuantize", describe_quantize };
const CleaveBundleOp cleave_bundle_op_dequantize_linear = { "DequantizeLinear",
                                                            describe_dequantize };
const CleaveBundleOp cleave_bundle_op_quantize_linear = { "QuantizeLinear",
                                                          describe_quantize_linear };
