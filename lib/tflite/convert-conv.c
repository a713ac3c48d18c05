/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts convolutions and matrix products whose weights are constant.
 *
 * Weights of CONV_2D are [O, KH, KW, I / group] in the file, and weights of DEPTHWISE_CONV_2D are
 * [1, KH, KW, O]. In the graph, weights are [O, I / group, KH, KW]. FULLY_CONNECTED on integers
 * becomes a convolution with one tap: x, [M, K], is read as [1, M, K], and the weights, [N, K], as
 * [N, K, 1]. */

#include "convert.h"

enum { X, W, B };
enum { PADDING, STRIDE_W, STRIDE_H };
enum { CONV_ACTIVATION = 3, CONV_DILATION_W, CONV_DILATION_H };
enum { DEPTHWISE_ACTIVATION = 4, DEPTHWISE_DILATION_W, DEPTHWISE_DILATION_H };
enum { FULLY_CONNECTED_ACTIVATION, FULLY_CONNECTED_FORMAT };

/* A convolution of the file: its operands, and the attributes of its node in the graph. */
typedef struct
{
  gboolean is_depthwise;
  guint activation; /* index of the field of the options that names the activation */
  CleaveResult *x, *w, *b;
  CleaveConvAttrs attrs;
} Conv;

static gboolean
read_options (CleaveTfliteImport *import, Conv *c, gint64 *padding, GError **error)
{
  guint dilation_w = c->is_depthwise ? DEPTHWISE_DILATION_W : CONV_DILATION_W;
  CleaveConvAttrs *a = &c->attrs;

  c->activation = c->is_depthwise ? DEPTHWISE_ACTIVATION : CONV_ACTIVATION;
  a->layout = CLEAVE_LAYOUT_NHWC;
  a->strides.n = a->dilations.n = 2;
  return cleave_tflite_option (import, PADDING, 1, 0, padding, error) &&
         cleave_tflite_option (import, STRIDE_H, 4, 0, &a->strides.v[0], error) &&
         cleave_tflite_option (import, STRIDE_W, 4, 0, &a->strides.v[1], error) &&
         cleave_tflite_option (import, dilation_w + 1, 4, 1, &a->dilations.v[0], error) &&
         cleave_tflite_option (import, dilation_w, 4, 1, &a->dilations.v[1], error);
}

/* Sets the number of groups and the pads. If the importer deferred a PAD of zeros around x, the
 * zeros become pads of the convolution. */
static gboolean
read_geometry (CleaveTfliteImport *import, Conv *c, gint64 padding, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, X)->shape;
  const CleaveShape *w = &cleave_tflite_input_type (import, W)->shape;
  gint64 begin[2], end[2];

  if (x->rank != 4 || w->rank != 4)
    return cleave_tflite_refuse (error,
                                 "input 0 has %u dimensions and input 1 has %u, both must "
                                 "have 4",
                                 x->rank, w->rank);
  if (w->dim[3] < 1 || x->dim[3] < 1 || (!c->is_depthwise && x->dim[3] % w->dim[3] != 0) ||
      (c->is_depthwise && (w->dim[0] != 1 || w->dim[3] % x->dim[3] != 0)))
    return cleave_tflite_refuse (
        error, "the weights do not fit the %" G_GINT64_FORMAT " channels of input 0", x->dim[3]);
  c->attrs.group = c->is_depthwise ? x->dim[3] : x->dim[3] / w->dim[3];
  if (!cleave_tflite_pads (x, padding, &w->dim[1], &c->attrs.strides, &c->attrs.dilations,
                           &c->attrs.pads, error) ||
      !cleave_tflite_find_unpadded (import, &c->x, begin, end, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    {
      c->attrs.pads.v[i] += begin[i];
      c->attrs.pads.v[2 + i] += end[i];
    }
  return TRUE;
}

static CleaveResult *
turn_weights (CleaveTfliteImport *import, CleaveResult *w, gboolean is_depthwise, GError **error)
{
  CleaveInts perm = is_depthwise ? CLEAVE_INTS (3, 0, 1, 2) : CLEAVE_INTS (0, 3, 1, 2);

  return cleave_tflite_fold (import, cleave_tflite_add_transpose (import, w, &perm, error), error);
}

static gboolean
read_conv (CleaveTfliteImport *import, Conv *c, GError **error)
{
  gint64 padding;

  if (!read_options (import, c, &padding, error) || !read_geometry (import, c, padding, error) ||
      !cleave_tflite_find_result (import, W, &c->w, error) ||
      !cleave_tflite_find_result (import, B, &c->b, error))
    return FALSE;
  if (cleave_tflite_input_type (import, X)->element == CLEAVE_FLOAT32)
    c->w = cleave_tflite_float_weights (import, W, c->w, error);
  c->w = turn_weights (import, c->w, c->is_depthwise, error);
  return c->w != NULL;
}

static gboolean
convert_floats (CleaveTfliteImport *import, gboolean is_depthwise, GError **error)
{
  Conv c = { .is_depthwise = is_depthwise };
  CleaveResult *y;

  if (!read_conv (import, &c, error))
    return FALSE;
  y = cleave_tflite_add (import, "Conv", (CleaveResult *[]){ c.x, c.w, c.b }, c.b == NULL ? 2 : 3,
                         &c.attrs, error);
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add_activation (import, c.activation, y, error), error);
}

gboolean
cleave_tflite_convert_conv (CleaveTfliteImport *import, GError **error)
{
  return convert_floats (import, FALSE, error);
}

gboolean
cleave_tflite_convert_depthwise (CleaveTfliteImport *import, GError **error)
{
  return convert_floats (import, TRUE, error);
}

/* The functions below convert convolutions of integers. */

/* Checks that the weights have one scale, or one scale for each of `channels` channels along
 * `axis`. Sets the error if not. */
static gboolean
check_weights (const CleaveTfliteTensor *w, gint64 channels, gint64 axis, GError **error)
{
  const CleaveTfliteQuantization *q = &w->quantization;

  if (w->type.element != CLEAVE_INT8)
    return cleave_tflite_refuse (error, "the weights must be int8, with a scale");
  if (q->scales.n != 1 && (q->scales.n != channels || q->axis != axis))
    return cleave_tflite_refuse (error,
                                 "the weights have %u scales along dimension %" G_GINT64_FORMAT
                                 ", they must have 1, or %" G_GINT64_FORMAT
                                 " along dimension %" G_GINT64_FORMAT,
                                 q->scales.n, q->axis, channels, axis);
  return TRUE;
}

/* Adds the multipliers and the shifts of all channels as operands. A multiplier and a shift are a
 * fixed-point form of x scale * w scale / y scale. FULLY_CONNECTED with one scale multiplies the
 * scales of x and w in float32, as the reference kernel does; all other operators multiply the
 * scales in float64.
 */
static gboolean
add_factors (CleaveTfliteImport *import,
             const CleaveTfliteQuantization *w,
             const CleaveTfliteScales *scales,
             gboolean is_product,
             CleaveTfliteConvParts *parts,
             GError **error)
{
  guint n = w->scales.n;
  g_autofree gint32 *multipliers = g_new (gint32, n), *shifts = g_new (gint32, n);

  for (guint c = 0; c < n; c++)
    {
      float scale = cleave_flat_float (&w->scales, c);
      double product = is_product && n == 1 ? (double) (scales->x.scale * scale)
                                            : (double) scales->x.scale * (double) scale;
      CleaveTfliteFactor factor;

      if (!cleave_tflite_read_factor (product / (double) scales->y.scale, &factor, error))
        return FALSE;
      multipliers[c] = factor.multiplier;
      shifts[c] = factor.shift;
    }
  parts->operands[3] = cleave_tflite_add_data (import, CLEAVE_INT32, n, multipliers);
  parts->operands[4] = cleave_tflite_add_data (import, CLEAVE_INT32, n, shifts);
  return TRUE;
}

gboolean
cleave_tflite_read_conv_parts (CleaveTfliteImport *import,
                               const CleaveTfliteConvInputs *inputs,
                               CleaveTfliteConvParts *parts,
                               GError **error)
{
  const CleaveTfliteTensor *x = cleave_tflite_input (import, inputs->x);
  const CleaveTfliteTensor *w = cleave_tflite_input (import, inputs->w);
  CleaveResult *b = parts->operands[6];
  CleaveTfliteScales scales;

  if (!cleave_tflite_read_scale (x, &scales.x, error) ||
      !cleave_tflite_read_scale (cleave_tflite_output (import, 0), &scales.y, error) ||
      !check_weights (w, w->type.shape.dim[inputs->axis], inputs->axis, error) ||
      !cleave_tflite_read_bounds (import, inputs->activation, &scales.y, &parts->min, &parts->max,
                                  error) ||
      !add_factors (import, &w->quantization, &scales, inputs->is_product, parts, error))
    return FALSE;
  parts->wide = x->type.element == CLEAVE_INT16 &&
                (b == NULL || cleave_result_get_type (b)->element == CLEAVE_INT64);
  parts->operands[1] = cleave_tflite_add_integer (import, x->type.element, scales.x.zero);
  parts->operands[5] = cleave_tflite_add_integer (import, x->type.element, scales.y.zero);
  if (!cleave_tflite_add_weights_zero (import, w, parts, error))
    return FALSE;
  parts->n_operands = parts->operands[7] != NULL ? 8 : b != NULL ? 7 : 6;
  return TRUE;
}

/* Adds a TfliteConv of x, w and b, with the groups, pads, strides and dilations of `c`. */
static CleaveResult *
add_integer_conv (
    CleaveTfliteImport *import, const Conv *c, gint64 axis, gboolean is_product, GError **error)
{
  CleaveTfliteConvInputs inputs = { X, W, axis, c->activation, is_product };
  CleaveTfliteConvParts parts = { .operands = { [0] = c->x, [2] = c->w, [6] = c->b } };
  CleaveTfliteConvAttrs attrs = { .conv = c->attrs };

  if (!cleave_tflite_read_conv_parts (import, &inputs, &parts, error))
    return NULL;
  attrs.min = parts.min;
  attrs.max = parts.max;
  attrs.wide = parts.wide;
  return cleave_tflite_add (import, "TfliteConv", parts.operands, parts.n_operands, &attrs, error);
}

static gboolean
convert_integers (CleaveTfliteImport *import, gboolean is_depthwise, GError **error)
{
  Conv c = { .is_depthwise = is_depthwise };

  return read_conv (import, &c, error) &&
         cleave_tflite_set (
             import, 0, add_integer_conv (import, &c, is_depthwise ? 3 : 0, FALSE, error), error);
}

gboolean
cleave_tflite_convert_integer_conv (CleaveTfliteImport *import, GError **error)
{
  return convert_integers (import, FALSE, error);
}

gboolean
cleave_tflite_convert_integer_depthwise (CleaveTfliteImport *import, GError **error)
{
  return convert_integers (import, TRUE, error);
}

/* The functions below convert the operator FULLY_CONNECTED. */

/* Reads the operands of FULLY_CONNECTED. Sets `rows` to the number of rows of x as a matrix. */
static gboolean
read_product (CleaveTfliteImport *import, Conv *c, gint64 *rows, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, X)->shape;
  const CleaveShape *w = &cleave_tflite_input_type (import, W)->shape;
  gint64 format, n = cleave_shape_n_elements (x);

  if (!cleave_tflite_option (import, FULLY_CONNECTED_FORMAT, 1, 0, &format, error))
    return FALSE;
  if (format != 0)
    return cleave_tflite_refuse (error, "weights in the shuffled format are not supported");
  if (w->rank != 2 || w->dim[1] < 1 || n % w->dim[1] != 0)
    return cleave_tflite_refuse (
        error,
        "the weights must be a matrix whose rows divide the %" G_GINT64_FORMAT
        " elements of input 0",
        n);
  *rows = n / w->dim[1];
  c->activation = FULLY_CONNECTED_ACTIVATION;
  return cleave_tflite_find_result (import, X, &c->x, error) &&
         cleave_tflite_find_result (import, W, &c->w, error) &&
         cleave_tflite_find_result (import, B, &c->b, error);
}

gboolean
cleave_tflite_convert_fully_connected (CleaveTfliteImport *import, GError **error)
{
  CleaveGemmAttrs attrs = { .alpha = 1, .beta = 1, .transB = TRUE };
  Conv c = { 0 };
  CleaveShape shape;
  CleaveResult *y;
  gint64 rows;

  if (!read_product (import, &c, &rows, error))
    return FALSE;
  shape = CLEAVE_SHAPE (rows, cleave_tflite_input_type (import, W)->shape.dim[1]);
  c.x = cleave_tflite_add_reshape (import, c.x, &shape, error);
  c.w = cleave_tflite_float_weights (import, W, c.w, error);
  if (c.x == NULL || c.w == NULL)
    return FALSE;
  y = cleave_tflite_add (import, "Gemm", (CleaveResult *[]){ c.x, c.w, c.b }, c.b == NULL ? 2 : 3,
                         &attrs, error);
  y = cleave_tflite_add_activation (import, c.activation, y, error);
  y = cleave_tflite_add_reshape (import, y, &cleave_tflite_output (import, 0)->type.shape, error);
  return cleave_tflite_set (import, 0, y, error);
}

gboolean
cleave_tflite_convert_integer_fully_connected (CleaveTfliteImport *import, GError **error)
{
  Conv c = { .attrs = { .layout = CLEAVE_LAYOUT_NHWC, .group = 1 } };
  const CleaveShape *w;
  CleaveShape x_shape, w_shape;
  CleaveResult *y;
  gint64 rows;

  if (!read_product (import, &c, &rows, error))
    return FALSE;
  w = &cleave_tflite_input_type (import, W)->shape;
  x_shape = CLEAVE_SHAPE (1, rows, w->dim[1]);
  w_shape = CLEAVE_SHAPE (w->dim[0], w->dim[1], 1);
  c.x = cleave_tflite_add_reshape (import, c.x, &x_shape, error);
  c.w =
      cleave_tflite_fold (import, cleave_tflite_add_reshape (import, c.w, &w_shape, error), error);
  if (c.x == NULL || c.w == NULL)
    return FALSE;
  y = add_integer_conv (import, &c, 0, TRUE, error);
  y = cleave_tflite_add_reshape (import, y, &cleave_tflite_output (import, 0)->type.shape, error);
  return cleave_tflite_set (import, 0, y, error);
}
