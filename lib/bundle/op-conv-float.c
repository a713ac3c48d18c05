/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Convolutions, matrix products, poolings and normalizations of float32. kernels/cleave-kernels.h
 * describes the order of the weights. */

#include <math.h>

#include "../ops/conv-parts.h"
#include "op-help.h"
#include "ops.h"

enum { X, W, B };

/* The sizes of a convolution. */
typedef struct
{
  gint64 groups, in, out; /* channels of a group */
  gint64 taps;
} Sizes;

/* Adds weights, which are [channel of the result][channel of a group][tap] with these strides. */
static const char *
add_weights (const Sizes *s, const float *w, const gint64 *strides, CleaveBundleLayer *layer)
{
  g_autoptr (GArray) to = g_array_new (FALSE, FALSE, sizeof (float));
  gint64 channels = s->groups * s->out, n;

  if (s->in == 1 && s->out == 1)
    for (gint64 tap = 0; tap < s->taps; tap++)
      for (gint64 c = 0; c < channels; c++)
        g_array_append_val (to, w[c * strides[0] + tap * strides[2]]);
  else
    for (gint64 c = 0; c < channels; c += n)
      {
        n = s->out - c % s->out >= 4 ? 4 : 1;
        for (gint64 tap = 0; tap < s->taps; tap++)
          for (gint64 i = 0; i < s->in; i++)
            for (gint64 k = c; k < c + n; k++)
              g_array_append_val (to, w[k * strides[0] + i * strides[1] + tap * strides[2]]);
      }
  return cleave_bundle_layer_add_array (layer, "float", to->data, to->len);
}

static void
set_conv (const Sizes *s,
          const char *weights,
          const char *bias,
          gboolean is_bias_last,
          GString *slide,
          CleaveBundleLayer *layer)
{
  gboolean is_depthwise = s->in == 1 && s->out == 1;
  g_autofree char *fields = g_strdup_printf (
      ".weights = %s, .bias = %s, %s, .in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT
      ", .groups = %" G_GINT64_FORMAT ", .is_bias_last = %d",
      weights, bias == NULL ? "NULL" : bias, slide->str, s->in, s->out, s->groups, is_bias_last);

  cleave_bundle_layer_set_kernel (
      layer, is_depthwise && !is_bias_last ? "depthwise-f32" : "conv-f32",
      is_depthwise && !is_bias_last ? "cleave_depthwise_f32" : "cleave_conv_f32");
  cleave_bundle_layer_set_params (layer, "CleaveConvF32", fields);
}

static gboolean
describe_conv (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveConvAttrs *a = node->attrs;
  const CleaveShape *w = &node->operands[W].result->type.shape;
  const gint64 kernel[] = { w->dim[2], w->rank > 3 ? w->dim[3] : 1 };
  Sizes s = { a->group, w->dim[1], w->dim[0] / a->group, kernel[0] * kernel[1] };
  const gint64 strides[] = { s.in * s.taps, s.taps, 1 };
  g_autoptr (GString) slide = g_string_new (NULL);
  g_auto (CleaveNodeCall) call = { 0 };
  const char *weights, *bias = NULL;

  if (!cleave_bundle_need_constants (node, W, node->n_operands, "weights", error) ||
      !cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_print_slide (node, kernel, &a->strides, &a->dilations, &a->pads, slide, error))
    return FALSE;
  if (cleave_conv_is_winograd (cleave_node_call_init (&call, node)))
    return cleave_bundle_fail (
        node, error, "a bundle has no kernel for Winograd's algorithm, whose bits differ");
  weights = add_weights (&s, cleave_bundle_constant (node, W), strides, layer);
  if (cleave_bundle_constant (node, B) != NULL)
    bias = cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, B),
                                          (gsize) w->dim[0]);
  set_conv (&s, weights, bias, FALSE, slide, layer);
  return TRUE;
}

/* Sets a product of pixels with a matrix, whose element [k][n] is at k * stride_k + n * stride_n.
 */
static void
set_product (const CleaveNode *node,
             const Sizes *s,
             gint64 stride_k,
             gint64 stride_n,
             const char *bias,
             CleaveBundleLayer *layer)
{
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  const gint64 strides[] = { stride_n, stride_k, 0 };
  const char *weights = add_weights (s, cleave_bundle_constant (node, W), strides, layer);
  g_autoptr (GString) slide = g_string_new (NULL);

  g_string_printf (slide,
                   ".slide = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                   ", { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 } }",
                   image.rows, image.columns);
  set_conv (s, weights, bias, TRUE, slide, layer);
}

static gboolean
describe_gemm (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveGemmAttrs *a = node->attrs;
  const CleaveShape *w = &node->operands[W].result->type.shape;
  Sizes s = { 1, w->dim[a->transB ? 1 : 0], w->dim[a->transB ? 0 : 1], 1 };
  const float *c;
  const char *bias = NULL;

  if (!cleave_bundle_need_constants (node, W, node->n_operands, "weights", error) ||
      !cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error))
    return FALSE;
  if (a->transA || a->alpha != 1)
    return cleave_bundle_fail (node, error, "a bundle needs transA = 0 and alpha = 1");
  c = cleave_bundle_constant (node, B);
  if (c != NULL)
    {
      const CleaveShape *shape = &node->operands[B].result->type.shape;
      gint64 n = cleave_shape_n_elements (shape);
      g_autofree float *values = g_new (float, (gsize) s.out);

      if (n != 1 && (n != s.out || shape->dim[shape->rank - 1] != s.out))
        return cleave_bundle_fail (node, error, "a bundle needs one element of C for each column");
      for (gint64 i = 0; i < s.out; i++)
        values[i] = a->beta == 1 ? c[n == 1 ? 0 : i] : (float) a->beta * c[n == 1 ? 0 : i];
      bias = cleave_bundle_layer_add_array (layer, "float", values, (gsize) s.out);
    }
  set_product (node, &s, a->transB ? 1 : s.out, a->transB ? s.in : 1, bias, layer);
  return TRUE;
}

static gboolean
describe_matmul (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResult *x = node->operands[X].result;
  const CleaveShape *w = &node->operands[W].result->type.shape;
  Sizes s = { 1, w->dim[0], w->rank > 1 ? w->dim[1] : 1, 1 };

  if (!cleave_bundle_need_constants (node, W, 2, "weights", error) ||
      !cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error))
    return FALSE;
  if (w->rank != 2 || cleave_bundle_image (x).channel_dim != (gint) x->type.shape.rank - 1)
    return cleave_bundle_fail (node, error,
                               "a bundle needs a constant matrix B, and the channels of A last");
  set_product (node, &s, s.out, 1, NULL, layer);
  return TRUE;
}

/* Poolings */

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
                                    fields, error) &&
         set_pool (node, file, kernel, cleave_ints_at (&a->pads, n, 0),
                   n < 2 ? 0 : cleave_ints_at (&a->pads, n + 1, 0), a->count_include_pad, fields,
                   layer);
}

static gboolean
describe_average (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  return cleave_bundle_describe_float_pool (node, "average-pool-f32", "cleave_average_pool_f32",
                                            layer, error);
}

static gboolean
describe_global_max (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  const gint64 kernel[] = { image.rows, image.columns };
  const CleaveInts none = { 0 };
  g_autoptr (GString) fields = g_string_new (NULL);

  return cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) &&
         cleave_bundle_print_slide (node, kernel, &none, &none, &none, fields, error) &&
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
  return set_mean (node, image.rows, image.columns, 1, "global-average-f32",
                   "cleave_global_average_f32", layer, error);
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

/* BatchNormalization */

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

const CleaveBundleOp cleave_bundle_op_conv = { "Conv", describe_conv };
const CleaveBundleOp cleave_bundle_op_gemm = { "Gemm", describe_gemm };
const CleaveBundleOp cleave_bundle_op_matmul = { "MatMul", describe_matmul };
const CleaveBundleOp cleave_bundle_op_average_pool = { "AveragePool", describe_average };
const CleaveBundleOp cleave_bundle_op_global_max_pool = { "GlobalMaxPool", describe_global_max };
const CleaveBundleOp cleave_bundle_op_global_average_pool = { "GlobalAveragePool",
                                                              describe_global_average };
const CleaveBundleOp cleave_bundle_op_reduce_mean = { "ReduceMean", describe_reduce_mean };
const CleaveBundleOp cleave_bundle_op_batch_normalization = { "BatchNormalization", describe_norm };
