/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of convolutions and matrix products of float32. kernels/constants-f32.h describes the
 * order of the weights. */

#include "../ops/conv-parts.h"
#include "../ops/winograd.h"
#include "op-help.h"
#include "ops.h"

enum { X, W, B };

/* Numbers of groups, channels and taps of a convolution. */
typedef struct
{
  gint64 groups, in, out; /* number of groups, and number of channels of one group in x and in the
                           * result */
  gint64 taps;
} Sizes;

/* Adds the array of weights to the layer. `strides`: the distances in `w`, in elements, of adjacent
 * channels of the result, of adjacent channels of a group of x, and of adjacent taps. Returns the C
 * expression of the array. */
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

/* Transforms the 3x3 weights `w` for Winograd's algorithm. Stores the 16 factors in `to`, with a
 * distance of `n` elements. */
static void
store_factors (const float *w, float *to, gint64 n)
{
  float u[CLEAVE_WINOGRAD_PRODUCTS];

  CLEAVE_WINOGRAD_FILTER (float, w, u);
  for (gint64 t = 0; t < CLEAVE_WINOGRAD_PRODUCTS; t++)
    to[t * n] = u[t];
}

/* Adds the array of factors of Winograd's algorithm to the layer. `w` is indexed by [channel of the
 * result][channel of a group of x][tap]. Returns the C expression of the array. */
static const char *
add_factors (const Sizes *s, const float *w, CleaveBundleLayer *layer)
{
  gint64 channels = s->groups * s->out, n;
  g_autofree float *factors = g_new (float, (gsize) (channels * s->in * CLEAVE_WINOGRAD_PRODUCTS));
  float *to = factors;

  for (gint64 c = 0; c < channels; c += n)
    {
      n = s->out - c % s->out >= 4 ? 4 : 1;
      for (gint64 i = 0; i < s->in; i++, to += n * CLEAVE_WINOGRAD_PRODUCTS)
        for (gint64 k = 0; k < n; k++)
          store_factors (w + ((c + k) * s->in + i) * 9, to + k, n);
    }
  return cleave_bundle_layer_add_array (layer, "float", factors,
                                        (gsize) (channels * s->in * CLEAVE_WINOGRAD_PRODUCTS));
}

static gboolean
set_winograd (const CleaveNode *node, const Sizes *s, const char *bias, CleaveBundleLayer *layer)
{
  const CleaveConvAttrs *a = node->attrs;
  CleaveBundleImage image = cleave_bundle_image (node->operands[X].result);
  g_autofree char *fields = g_strdup_printf (
      ".weights = %s, .bias = %s, .rows = %" G_GINT64_FORMAT ", .columns = %" G_GINT64_FORMAT
      ", .pad = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " }, .phase = { %" G_GINT64_FORMAT
      ", %" G_GINT64_FORMAT " }, .in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT
      ", .groups = %" G_GINT64_FORMAT,
      add_factors (s, cleave_bundle_constant (node, W), layer), bias == NULL ? "NULL" : bias,
      image.rows, image.columns, cleave_ints_at (&a->pads, 0, 0), cleave_ints_at (&a->pads, 1, 0),
      cleave_ints_at (&a->winograd, 0, 0), cleave_ints_at (&a->winograd, 1, 0), s->in, s->out,
      s->groups);

  cleave_bundle_layer_set_kernel (layer, "winograd-f32", "cleave_winograd_f32");
  cleave_bundle_layer_set_params (layer, "CleaveWinogradF32", fields);
  return TRUE;
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
      !cleave_bundle_print_slide (node, kernel, &a->strides, &a->dilations, &a->pads, layer, slide,
                                  error))
    return FALSE;
  if (cleave_bundle_constant (node, B) != NULL)
    bias = cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, B),
                                          (gsize) w->dim[0]);
  if (cleave_conv_is_winograd (cleave_node_call_init (&call, node)))
    return set_winograd (node, &s, bias, layer);
  weights = add_weights (&s, cleave_bundle_constant (node, W), strides, layer);
  set_conv (&s, weights, bias, FALSE, slide, layer);
  return TRUE;
}

static gboolean
describe_transpose (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveConvTransposeAttrs *a = node->attrs;
  const CleaveShape *w = &node->operands[W].result->type.shape;
  const gint64 kernel[] = { w->dim[2], w->rank > 3 ? w->dim[3] : 1 };
  Sizes s = { a->group, w->dim[0] / a->group, w->dim[1], kernel[0] * kernel[1] };
  g_autoptr (GString) slide = g_string_new (NULL);
  g_autoptr (GArray) weights = g_array_new (FALSE, FALSE, sizeof (float));
  g_autofree char *fields = NULL;
  const char *bias = NULL;
  const float *from;

  if (!cleave_bundle_need_constants (node, W, node->n_operands, "weights", error) ||
      !cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error) ||
      !cleave_bundle_print_slide (node, kernel, &a->strides, &a->dilations, &a->pads, layer, slide,
                                  error))
    return FALSE;
  from = cleave_bundle_constant (node, W);
  for (gint64 c = 0; c < s.groups * s.out; c++)
    for (gint64 tap = 0; tap < s.taps; tap++)
      for (gint64 i = 0; i < s.in; i++)
        g_array_append_val (weights,
                            from[((c / s.out * s.in + i) * s.out + c % s.out) * s.taps + tap]);
  if (cleave_bundle_constant (node, B) != NULL)
    bias = cleave_bundle_layer_add_array (layer, "float", cleave_bundle_constant (node, B),
                                          (gsize) (s.groups * s.out));
  fields =
      g_strdup_printf (".weights = %s, .bias = %s, %s, .in = %" G_GINT64_FORMAT
                       ", .out = %" G_GINT64_FORMAT ", .groups = %" G_GINT64_FORMAT,
                       cleave_bundle_layer_add_array (layer, "float", weights->data, weights->len),
                       bias == NULL ? "NULL" : bias, slide->str, s.in, s.out, s.groups);
  cleave_bundle_layer_set_kernel (layer, "conv-transpose-f32", "cleave_conv_transpose_f32");
  cleave_bundle_layer_set_params (layer, "CleaveConvF32", fields);
  return TRUE;
}

/* Describes the layer that multiplies each pixel of x by the constant matrix W. Element [k][n] of
 * the matrix has the index k * stride_k + n * stride_n in the constant. */
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

  if (!cleave_node_is_fixed (x->node) && !cleave_node_is_fixed (node->operands[W].result->node))
    return cleave_bundle_describe_product (node, layer, error);
  if (!cleave_bundle_need_constants (node, W, 2, "weights", error) ||
      !cleave_bundle_need_element (node, X, CLEAVE_FLOAT32, error))
    return FALSE;
  if (w->rank != 2 || cleave_bundle_image (x).channel_dim != (gint) x->type.shape.rank - 1)
    return cleave_bundle_fail (node, error,
                               "a bundle needs a constant matrix B, and the channels of A last");
  set_product (node, &s, s.out, 1, NULL, layer);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_conv = { "Conv", describe_conv };
const CleaveBundleOp cleave_bundle_op_conv_transpose = { "ConvTranspose", describe_transpose };
const CleaveBundleOp cleave_bundle_op_gemm = { "Gemm", describe_gemm };
const CleaveBundleOp cleave_bundle_op_matmul = { "MatMul", describe_matmul };
