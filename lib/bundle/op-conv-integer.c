/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of convolutions and products of integers: TfliteConv, TfliteConvTranspose, QLinearConv
 * and QLinearMatMul. For most convolutions and products of int8, op-conv.c selects a kernel.
 * kernels/conv-integer.c computes all others. */

#include <cleave/cleave-tflite.h>
#include <math.h>
#include <string.h>

#include "../ops/reference.h"
#include "op-conv.h"
#include "ops.h"

void
cleave_bundle_conv_clear (CleaveBundleConv *conv)
{
  g_free (conv->weights);
  g_free (conv->bias);
  g_free (conv->multipliers);
  g_free (conv->shifts);
}

static gint64
count_channels (const CleaveBundleConv *conv)
{
  return conv->groups * conv->out;
}

static gint64
count_weights (const CleaveBundleConv *conv)
{
  return count_channels (conv) * conv->in * conv->kernel[0] * conv->kernel[1];
}

/* Indices, among the node's operands, of the weights, their zero points, and the biases. */
typedef struct
{
  guint w, w_zero, bias; /* G_MAXUINT: the node has no such operand */
} Operands;

/* Copies weights and bias. In each group, the weight of output channel c, input channel i and tap t
 * is element c * strides[0] + i * strides[1] + t. The weights of the next group begin `group`
 * elements later. */
static gboolean
read_weights (const CleaveNode *node,
              const Operands *at,
              const gint64 *strides,
              gint64 group,
              CleaveBundleConv *conv,
              GError **error)
{
  CleaveElement element = node->operands[at->w].result->type.element;
  gsize size = cleave_element_size (element);
  const char *w = cleave_bundle_constant (node, at->w);
  gint64 taps = conv->kernel[0] * conv->kernel[1], n = 0;

  conv->weights = g_new (gint16, (gsize) count_weights (conv));
  conv->bias = g_new (gint64, (gsize) count_channels (conv));
  for (gint64 c = 0; c < count_channels (conv); c++)
    {
      gint64 zero = at->w_zero == G_MAXUINT ? 0 : cleave_bundle_integer (node, at->w_zero, c);

      conv->bias[c] = at->bias == G_MAXUINT ? 0 : cleave_bundle_integer (node, at->bias, c);
      for (gint64 i = 0; i < conv->in; i++)
        for (gint64 tap = 0; tap < taps; tap++)
          {
            gint64 from = c / conv->out * group + c % conv->out * strides[0] + i * strides[1] + tap;
            gint64 value = cleave_integer_load (element, w + from * (gint64) size) - zero;

            if (value < G_MININT16 || value > G_MAXINT16)
              return cleave_bundle_fail (node, error, "a bundle needs weights of 16 bits");
            conv->weights[n++] = (gint16) value;
          }
    }
  return TRUE;
}

gboolean
cleave_bundle_conv_fits_bytes (const CleaveBundleConv *conv)
{
  for (gint64 i = 0; i < count_weights (conv); i++)
    if (conv->weights[i] < G_MININT8 || conv->weights[i] > G_MAXINT8)
      return FALSE;
  return TRUE;
}

/* Adds the arrays for kernels/conv-integer.c to the bundle, and appends the fields that refer to
 * these arrays. */
static void
add_arrays (const CleaveBundleConv *conv, CleaveBundleLayer *layer, GString *fields)
{
  gint64 channels = count_channels (conv), taps = conv->kernel[0] * conv->kernel[1];
  gboolean is_of_bytes = cleave_bundle_conv_fits_bytes (conv);
  g_autoptr (GByteArray) weights = g_byte_array_new ();

  for (gint64 c = 0; c < channels; c++)
    for (gint64 tap = 0; tap < taps; tap++)
      for (gint64 i = 0; i < conv->in; i++)
        {
          gint16 value = conv->weights[(c * conv->in + i) * taps + tap];
          gint8 byte = (gint8) value;

          g_byte_array_append (weights, is_of_bytes ? (guint8 *) &byte : (guint8 *) &value,
                               is_of_bytes ? 1 : 2);
        }
  g_string_append_printf (
      fields, ".weights = %s, .bias = %s, .multipliers = %s, .shifts = %s, .weight_bytes = %d, ",
      cleave_bundle_layer_add_array (layer, is_of_bytes ? "int8_t" : "int16_t", weights->data,
                                     (gsize) count_weights (conv)),
      cleave_bundle_layer_add_array (layer, "int64_t", conv->bias, (gsize) channels),
      cleave_bundle_layer_add_array (layer, "int32_t", conv->multipliers, (gsize) channels),
      cleave_bundle_layer_add_array (layer, "int8_t", conv->shifts, (gsize) channels),
      is_of_bytes ? 1 : 2);
}

/* Describes a layer with kernels/conv-integer.c, which supports all element types. */
static gboolean
set_integer (const CleaveNode *node,
             const CleaveBundleConv *conv,
             CleaveBundleLayer *layer,
             GError **error)
{
  static const char *const types[] = {
    [CLEAVE_INT8] = "CLEAVE_S8", [CLEAVE_UINT8] = "CLEAVE_U8", [CLEAVE_INT16] = "CLEAVE_S16"
  };
  g_autoptr (GString) fields = g_string_new (NULL);

  add_arrays (conv, layer, fields);
  if (!cleave_bundle_print_conv_slide (node, conv, layer, fields, error))
    return FALSE;
  g_string_append_printf (
      fields,
      ", .in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT ", .groups = %" G_GINT64_FORMAT
      ", .x_zero = %" G_GINT64_FORMAT ", .y_zero = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
      ", .high = %" G_GINT64_FORMAT ", .x_type = %s, .y_bytes = %u, .is_wide = %d"
      ", .is_transposed = %d",
      conv->in, conv->out, conv->groups, conv->x_zero, conv->y_zero, conv->min - conv->y_zero,
      conv->max - conv->y_zero, types[conv->x], (guint) cleave_element_size (conv->y),
      conv->scale == CLEAVE_BUNDLE_SCALE_WIDE, conv->is_transposed);
  cleave_bundle_layer_set_kernel (layer, "conv-integer", "cleave_conv_integer");
  cleave_bundle_layer_set_params (layer, "CleaveConvInteger", fields->str);
  return TRUE;
}

static gboolean
set_conv (const CleaveNode *node,
          const CleaveBundleConv *conv,
          CleaveBundleLayer *layer,
          GError **error)
{
  if (conv->scale == CLEAVE_BUNDLE_SCALE_FLOAT)
    cleave_bundle_layer_set_float_scales (layer);
  if (conv->x == CLEAVE_INT8 && conv->y == CLEAVE_INT8 && !conv->is_transposed &&
      conv->scale != CLEAVE_BUNDLE_SCALE_WIDE && cleave_bundle_conv_fits_bytes (conv))
    return cleave_bundle_set_conv_s8 (node, conv, layer, error);
  return set_integer (node, conv, layer, error);
}

/* Operand indices of TfliteConv and TfliteConvTranspose, whose scales are in fixed point. */

enum { X, X_ZERO, W, MULTIPLIER, SHIFT, Y_ZERO, B, W_ZERO };

/* Reads the multiplier and the shift of each channel of the result. */
static gboolean
read_fixed (const CleaveNode *node, gboolean is_wide, CleaveBundleConv *conv, GError **error)
{
  gint64 channels = count_channels (conv);

  conv->scale = is_wide ? CLEAVE_BUNDLE_SCALE_WIDE : CLEAVE_BUNDLE_SCALE_FIXED;
  conv->multipliers = g_new (gint32, (gsize) channels);
  conv->shifts = g_new (gint8, (gsize) channels);
  for (gint64 c = 0; c < channels; c++)
    {
      gint64 multiplier = cleave_bundle_integer (node, MULTIPLIER, c);
      gint64 shift = cleave_bundle_integer (node, SHIFT, c);

      if (!cleave_bundle_check_multiplier (node, multiplier, error))
        return FALSE;
      conv->shifts[c] = (gint8) (is_wide ? 15 - CLAMP (shift, -31, 14)
                                         : cleave_bundle_shift (CLAMP (shift, -31, 31)));
      if (is_wide)
        multiplier = multiplier < 0x7FFF0000 ? (multiplier + (1 << 15)) >> 16 : 0x7FFF;
      conv->multipliers[c] = (gint32) multiplier;
    }
  return TRUE;
}

static void
read_ends (const CleaveNode *node,
           gint64 min,
           gint64 max,
           CleaveBundleLayer *layer,
           CleaveBundleConv *conv)
{
  conv->x = node->operands[X].result->type.element;
  conv->y = node->results[0].type.element;
  conv->x_zero = cleave_bundle_integer (node, X_ZERO, 0);
  conv->y_zero = cleave_bundle_integer (node, Y_ZERO, 0);
  cleave_bundle_layer_set_zero (layer, X, conv->x_zero);
  conv->min = min;
  conv->max = max;
}

static void
set_kernel (const CleaveShape *w, CleaveBundleConv *conv)
{
  conv->n_spatial = w->rank - 2;
  conv->kernel[0] = w->dim[2];
  conv->kernel[1] = w->rank > 3 ? w->dim[3] : 1;
}

gboolean
cleave_bundle_read_tflite_conv (const CleaveNode *node,
                                CleaveBundleLayer *layer,
                                CleaveBundleConv *conv,
                                GError **error)
{
  const CleaveTfliteConvAttrs *a = node->attrs;
  const CleaveShape *w = &node->operands[W].result->type.shape;
  const Operands at = { W, W_ZERO, B };
  gint64 strides[2];

  *conv = (CleaveBundleConv){ .groups = a->conv.group,
                              .in = w->dim[1],
                              .out = w->dim[0] / a->conv.group,
                              .strides = a->conv.strides,
                              .dilations = a->conv.dilations,
                              .pads = a->conv.pads };
  set_kernel (w, conv);
  strides[1] = conv->kernel[0] * conv->kernel[1];
  strides[0] = conv->in * strides[1];
  read_ends (node, a->min, a->max, layer, conv);
  return cleave_bundle_need_constants (node, X_ZERO, node->n_operands, "weights and scales",
                                       error) &&
         read_weights (node, &at, strides, conv->out * strides[0], conv, error) &&
         read_fixed (node, a->wide, conv, error);
}

static gboolean
describe_tflite_conv (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  g_auto (CleaveBundleConv) conv = { 0 };

  return cleave_bundle_read_tflite_conv (node, layer, &conv, error) &&
         set_conv (node, &conv, layer, error);
}

static gboolean
describe_tflite_transpose (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteConvTransposeAttrs *a = node->attrs;
  const CleaveShape *w = &node->operands[W].result->type.shape;
  const Operands at = { W, W_ZERO, B };
  g_auto (CleaveBundleConv) conv = { .groups = a->conv.group,
                                     .in = w->dim[0] / a->conv.group,
                                     .out = w->dim[1],
                                     .strides = a->conv.strides,
                                     .dilations = a->conv.dilations,
                                     .pads = a->conv.pads,
                                     .is_transposed = TRUE };
  gint64 strides[2];

  set_kernel (w, &conv);
  strides[0] = conv.kernel[0] * conv.kernel[1];
  strides[1] = conv.out * strides[0];
  read_ends (node, a->min, a->max, layer, &conv);
  return cleave_bundle_need_constants (node, X_ZERO, node->n_operands, "weights and scales",
                                       error) &&
         read_weights (node, &at, strides, conv.in * strides[1], &conv, error) &&
         read_fixed (node, a->wide, &conv, error) && set_conv (node, &conv, layer, error);
}

/* Operand indices of QLinearConv. */

enum { Q_X, Q_X_SCALE, Q_X_ZERO, Q_W, Q_W_SCALE, Q_W_ZERO, Q_Y_SCALE, Q_Y_ZERO, Q_B };

static float
load_scale (const CleaveNode *node, guint operand, gint64 i)
{
  const float *scales = cleave_bundle_constant (node, operand);

  return scales[cleave_shape_n_elements (&node->operands[operand].result->type.shape) == 1 ? 0 : i];
}

/* Reads the scale of each channel, which is a float, and the bounds of the result. */
static gboolean
read_floats (const CleaveNode *node, CleaveBundleConv *conv, GError **error)
{
  gint64 channels = count_channels (conv);

  conv->scale = CLEAVE_BUNDLE_SCALE_FLOAT;
  conv->x = node->operands[Q_X].result->type.element;
  conv->y = node->results[0].type.element;
  conv->x_zero = cleave_bundle_integer (node, Q_X_ZERO, 0);
  conv->y_zero = cleave_bundle_integer (node, Q_Y_ZERO, 0);
  conv->min = conv->y == CLEAVE_INT8 ? G_MININT8 : 0;
  conv->max = conv->y == CLEAVE_INT8 ? G_MAXINT8 : G_MAXUINT8;
  conv->multipliers = g_new (gint32, (gsize) channels);
  conv->shifts = g_new (gint8, (gsize) channels);
  for (gint64 c = 0; c < channels; c++)
    {
      float scale = load_scale (node, Q_X_SCALE, 0) * load_scale (node, Q_W_SCALE, c) /
                    load_scale (node, Q_Y_SCALE, 0);

      if (!isfinite (scale))
        return cleave_bundle_fail (node, error,
                                   "the scales must be finite; the scale of channel "
                                   "%" G_GINT64_FORMAT " is %g",
                                   c, (double) scale);
      memcpy (&conv->multipliers[c], &scale, sizeof scale);
      conv->shifts[c] = G_MAXINT8;
    }
  return TRUE;
}

static gboolean
describe_qlinear_conv (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveConvAttrs *a = node->attrs;
  const CleaveShape *w = &node->operands[Q_W].result->type.shape;
  const Operands at = { Q_W, Q_W_ZERO, Q_B };
  g_auto (CleaveBundleConv) conv = { .groups = a->group,
                                     .in = w->dim[1],
                                     .out = w->dim[0] / a->group,
                                     .strides = a->strides,
                                     .dilations = a->dilations,
                                     .pads = a->pads };
  gint64 strides[2];

  set_kernel (w, &conv);
  strides[1] = conv.kernel[0] * conv.kernel[1];
  strides[0] = conv.in * strides[1];
  return cleave_bundle_need_constants (node, Q_X_SCALE, node->n_operands, "weights and scales",
                                       error) &&
         read_weights (node, &at, strides, conv.out * strides[0], &conv, error) &&
         read_floats (node, &conv, error) && set_conv (node, &conv, layer, error);
}

/* Returns whether a scale or zero point has one element for all columns of B, or one element for
 * each column. */
static gboolean
is_of_columns (const CleaveNode *node, guint operand, gint64 columns)
{
  const CleaveShape *shape = &node->operands[operand].result->type.shape;
  gint64 n = cleave_shape_n_elements (shape);

  return n == 1 || (n == columns && shape->dim[shape->rank - 1] == columns);
}

static gboolean
describe_qlinear_matmul (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResult *x = node->operands[Q_X].result;
  const CleaveShape *w = &node->operands[Q_W].result->type.shape;
  const Operands at = { Q_W, Q_W_ZERO, G_MAXUINT };
  static const guint of_all[] = { Q_X_SCALE, Q_X_ZERO, Q_Y_SCALE, Q_Y_ZERO };
  g_auto (CleaveBundleConv) conv = { .groups = 1, .kernel = { 1, 1 } };
  gint64 strides[2];

  if (!cleave_node_is_fixed (x->node) && !cleave_node_is_fixed (node->operands[Q_W].result->node))
    return cleave_bundle_describe_product_of_bytes (node, layer, error);
  if (!cleave_bundle_need_constants (node, Q_X_SCALE, node->n_operands, "weights and scales",
                                     error))
    return FALSE;
  if (w->rank != 2 || cleave_bundle_image (x).channel_dim != (gint) x->type.shape.rank - 1)
    return cleave_bundle_fail (node, error,
                               "a bundle needs a constant matrix b, and the channels of a last");
  conv.in = w->dim[0];
  conv.out = w->dim[1];
  strides[0] = 1;
  strides[1] = conv.out;
  for (guint i = 0; i < G_N_ELEMENTS (of_all); i++)
    if (!is_of_columns (node, of_all[i], 1))
      return cleave_bundle_fail (node, error, "a bundle needs one scale for all rows of a and y");
  if (!is_of_columns (node, Q_W_SCALE, conv.out) || !is_of_columns (node, Q_W_ZERO, conv.out))
    return cleave_bundle_fail (node, error, "a bundle needs one scale for each column of b");
  return read_weights (node, &at, strides, 0, &conv, error) && read_floats (node, &conv, error) &&
         set_conv (node, &conv, layer, error);
}

const CleaveBundleOp cleave_bundle_op_tflite_conv = { "TfliteConv", describe_tflite_conv };
const CleaveBundleOp cleave_bundle_op_tflite_conv_transpose = { "TfliteConvTranspose",
                                                                describe_tflite_transpose };
const CleaveBundleOp cleave_bundle_op_qlinear_conv = { "QLinearConv", describe_qlinear_conv };
const CleaveBundleOp cleave_bundle_op_qlinear_matmul = { "QLinearMatMul", describe_qlinear_matmul };
