/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of poolings, means and normalizations of float32. */

#include <math.h>

#include "op-help.h"
#include "ops.h"

enum { X };

enum { N_LANES = 8 }; /* partial sums of a channel in GlobalAveragePool */

static gboolean
set_pool (const CleaveNode *node,
          const char *file,
          const char *kernel,
          gint64 pad_rows,
          gint64 pad_columns,
          gboolean is_padding_counted,
          GString *fields,
          CleaveBundleLayer *layer)
{
  g_string_append_printf (fields,
                          ", .channels = %" G_GINT64_FORMAT ", .pads = { %" G_GINT64_FORMAT
                          ", %" G_GINT64_FORMAT " }, .is_padding_counted = %d",
                          cleave_bundle_image (node->operands[X].result).channels, pad_rows,
                          pad_columns, is_padding_counted);
  cleave_bundle_layer_set_kernel (layer, file, kernel);
  cleave_bundle_layer_set_params (layer, "CleavePoolF32", fields->str);
  return TRUE;
}

gboolean
cleave_bundle_describe_float_pool (const CleaveNode *node,
                                   const char *file,
                                   const char *kernel,
                                   CleaveBundleLayer *layer,
                                   GError **error)
{
  const CleavePoolAttrs *a = node->attrs;
  guint n = node->operands[X].result->type.shape.rank - 2;
  g_autoptr (GString) fields = g_string_new (NULL);

  return cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) &&
         cleave_bundle_print_slide (node, a->kernel_shape.v, &a->strides, &a->dilations, &a->pads,
                                    layer, fields, error) &&
         set_pool (node, file, kernel, cleave_ints_at (&a->pads, n, 0),
                   n < 2 ? 0 : cleave_ints_at (&a->pads, n + 1, 0), a->count_include_pad, fields,
                   layer);
}

/* Returns whether no other node reads the operand. Another reader may need the whole operand: the
 * squeeze-and-excite of a MobileNetV3 multiplies the operand of a GlobalAveragePool by a function
 * of the means. Sums row by row would then need more memory. */
static gboolean
is_only_reader (const CleaveNode *node)
{
  return node->operands[X].result->n_uses == 1;
}

static gboolean
describe_average (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  CleaveBundleImage y = cleave_bundle_image (&node->results[0]);

  if (!is_only_reader (node) || !cleave_bundle_pool_has_all_rows (node, node->attrs))
    return cleave_bundle_describe_float_pool (node, "average-pool-f32", "cleave_average_pool_f32",
                                              layer, error);
  cleave_bundle_layer_set_sums (layer, "cleave_average_pool_row_f32", y.columns,
                                sizeof (float) * (gsize) y.channels);
  return cleave_bundle_describe_float_pool (node, "average-pool-rows-f32",
                                            "cleave_average_pool_end_f32", layer, error);
}

static gboolean
describe_global_max (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  const gint64 kernel[] = { image.rows, image.columns };
  const CleaveInts none = { 0 };
  g_autoptr (GString) fields = g_string_new (NULL);

  return cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) &&
         cleave_bundle_print_slide (node, kernel, &none, &none, &none, layer, fields, error) &&
         set_pool (node, "max-pool-f32", "cleave_max_pool_f32", 0, 0, FALSE, fields, layer);
}

static gboolean
set_mean (const CleaveNode *node,
          gint64 rows,
          gint64 columns,
          gint64 channels,
          const char *file,
          const char *kernel,
          CleaveBundleLayer *layer,
          GError **error)
{
  g_autofree char *fields = g_strdup_printf (
      ".count = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
      " }, .channels = %" G_GINT64_FORMAT,
      rows, columns, channels, cleave_bundle_image (node->operands[X].result).channels);

  if (!cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error))
    return FALSE;
  cleave_bundle_layer_set_kernel (layer, file, kernel);
  cleave_bundle_layer_set_params (layer, "CleaveMeanF32", fields);
  return TRUE;
}

static gboolean
describe_global_average (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  guint rank = node->operands[X].result->type.shape.rank;

  if (rank > 4)
    return cleave_bundle_fail (node, error, "a bundle needs one or two spatial dimensions");
  /* sums row by row, if eight lanes and a row are smaller than the image */
  if (!is_only_reader (node) || N_LANES + image.columns >= image.rows * image.columns)
    return set_mean (node, image.rows, image.columns, 1, "global-average-f32",
                     "cleave_global_average_f32", layer, error);
  cleave_bundle_layer_set_sums (layer, "cleave_global_average_row_f32", 1,
                                N_LANES * sizeof (float) * (gsize) image.channels);
  return set_mean (node, image.rows, image.columns, 1, "global-average-rows-f32",
                   "cleave_global_average_end_f32", layer, error);
}

static gint64
count_of (const CleaveReduceAttrs *a, const CleaveShape *x, gint dim)
{
  return dim >= 0 && cleave_ints_contain (&a->axes, dim) ? x->dim[dim] : 1;
}

static gboolean
describe_reduce_mean (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveReduceAttrs *a = node->attrs;
  const CleaveResult *x = node->operands[X].result;
  const CleaveShape *shape = &x->type.shape;
  CleaveBundleImage image = cleave_bundle_image (x);
  gint64 rows = count_of (a, shape, image.row_dim), columns = count_of (a, shape, image.column_dim);
  gint64 channels = count_of (a, shape, image.channel_dim), n = 1;

  for (guint i = 0; i < a->axes.n; i++)
    n *= shape->dim[a->axes.v[i]];
  if (a->axes.n == 0 || n != rows * columns * channels || (rows * columns > 1 && channels > 1))
    return cleave_bundle_fail (node, error,
                               "a bundle has no kernel for a mean along these dimensions");
  if (!a->keepdims && node->results[0].type.shape.rank != shape->rank - a->axes.n)
    return cleave_bundle_fail (node, error, "a bundle needs keepdims = 1");
  if (!a->keepdims &&
      (rows != image.rows || columns != image.columns || channels != 1 || image.images != 1))
    return cleave_bundle_fail (node, error, "a bundle needs keepdims = 1");
  return set_mean (node, rows, columns, channels, "mean-f32", "cleave_mean_f32", layer, error);
}

static gboolean
describe_reduce (const CleaveNode *node, const char *op, CleaveBundleLayer *layer, GError **error)
{
  const CleaveReduceAttrs *a = node->attrs;
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  g_autofree char *fields = NULL;

  if (!cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error))
    return FALSE;
  if (!a->keepdims || a->axes.n != 1 || a->axes.v[0] != image.channel_dim)
    return cleave_bundle_fail (node, error, "a bundle has no kernel along these dimensions");
  fields = g_strdup_printf (".channels = %" G_GINT64_FORMAT ", .op = CLEAVE_REDUCE_%s",
                            image.channels, op);
  cleave_bundle_layer_set_kernel (layer, "reduce-f32", "cleave_reduce_f32");
  cleave_bundle_layer_set_params (layer, "CleaveReduce", fields);
  return TRUE;
}

static gboolean
describe_sum (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "SUM", layer, error);
}

static gboolean
describe_reduce_max (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "MAX", layer, error);
}

static gboolean
describe_reduce_min (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "MIN", layer, error);
}

static gboolean
describe_reduce_prod (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "PROD", layer, error);
}

static gboolean
describe_reduce_l1 (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "L1", layer, error);
}

static gboolean
describe_reduce_l2 (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "L2", layer, error);
}

static gboolean
describe_reduce_sum_square (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return describe_reduce (node, "SUM_SQUARE", layer, error);
}

/* The functions below describe normalizations. */

static gboolean
describe_instance_norm (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveNormAttrs *a = node->attrs;
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  gsize n = (gsize) image.channels;
  g_autoptr (GString) fields = g_string_new (NULL);

  if (!cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_need_constants (node, 1, node->n_operands, "scale and B", error))
    return FALSE;
  if (node->operands[X].result->type.shape.rank > 4)
    return cleave_bundle_fail (node, error, "a bundle needs one or two spatial dimensions");
  g_string_printf (
      fields,
      ".scales = %s, .offsets = %s, .channels = %" G_GINT64_FORMAT ", .columns = %" G_GINT64_FORMAT
      ", .epsilon = ",
      cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, 1), n),
      cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, 2), n),
      image.channels, image.rows * image.columns);
  cleave_bundle_print_float ((float) a->epsilon, fields);
  cleave_bundle_layer_set_kernel (layer, "instance-norm-f32", "cleave_instance_norm_f32");
  cleave_bundle_layer_set_params (layer, "CleaveInstanceNormF32", fields->str);
  cleave_bundle_layer_set_flat (layer);
  return TRUE;
}

static gboolean
describe_norm (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveNormAttrs *a = node->attrs;
  enum { SCALE = 1, OFFSET, MEAN, VARIANCE };
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  gsize n = (gsize) image.channels;
  g_autofree float *factors = g_new (float, n);
  g_autofree char *fields = NULL;
  const float *scale, *variance;

  if (!cleave_bundle_need_constants (node, 1, node->n_operands, "factors", error))
    return FALSE;
  for (guint i = 0; i < node->n_operands; i++)
    if (!cleave_bundle_need_element (node, i, CLEAVE_FLOAT32, error))
      return FALSE;
  scale = cleave_bundle_constant (node, SCALE);
  variance = cleave_bundle_constant (node, VARIANCE);
  for (gsize c = 0; c < n; c++)
    factors[c] = scale[c] / sqrtf (variance[c] + (float) a->epsilon);
  fields = g_strdup_printf (
      ".means = %s, .factors = %s, .offsets = %s, .channels = %" G_GINT64_FORMAT,
      cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, MEAN), n),
      cleave_bundle_layer_add_array (layer, "float", factors, n),
      cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, OFFSET), n),
      image.channels);
  cleave_bundle_layer_set_kernel (layer, "norm-f32", "cleave_norm_f32");
  cleave_bundle_layer_set_params (layer, "CleaveNormF32", fields);
  cleave_bundle_layer_set_in_place (layer, 0);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_average_pool = { "AveragePool", describe_average };
const CleaveBundleOp cleave_bundle_op_global_max_pool = { "GlobalMaxPool", describe_global_max };
const CleaveBundleOp cleave_bundle_op_global_average_pool = { "GlobalAveragePool",
                                                              describe_global_average };
const CleaveBundleOp cleave_bundle_op_reduce_mean = { "ReduceMean", describe_reduce_mean };
const CleaveBundleOp cleave_bundle_op_batch_normalization = { "BatchNormalization", describe_norm };
const CleaveBundleOp cleave_bundle_op_instance_normalization = { "InstanceNormalization",
                                                                 describe_instance_norm };
const CleaveBundleOp cleave_bundle_op_reduce_sum = { "ReduceSum", describe_sum };
const CleaveBundleOp cleave_bundle_op_reduce_max = { "ReduceMax", describe_reduce_max };
const CleaveBundleOp cleave_bundle_op_reduce_min = { "ReduceMin", describe_reduce_min };
const CleaveBundleOp cleave_bundle_op_reduce_prod = { "ReduceProd", describe_reduce_prod };
const CleaveBundleOp cleave_bundle_op_reduce_l1 = { "ReduceL1", describe_reduce_l1 };
const CleaveBundleOp cleave_bundle_op_reduce_l2 = { "ReduceL2", describe_reduce_l2 };
const CleaveBundleOp cleave_bundle_op_reduce_sum_square = { "ReduceSumSquare",
                                                            describe_reduce_sum_square };
