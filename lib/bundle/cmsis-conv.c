/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Checks and prints the convolutions that CMSIS-NN computes, and the products with constant
 * matrices (cmsis-parts.h). */

#include "../ir/align.h"
#include "cmsis-parts.h"

/* Number of channels that arm_depthwise_conv_wrapper_s8() copies at once on processors with
 * Helium. */
#define DEPTHWISE_CHANNELS 124

static CleaveBundleWindow
conv_window (const CleaveBundleCmsisCall *call)
{
  const CleaveBundleConv *conv = &call->conv;

  return cleave_bundle_cmsis_window (conv->kernel, conv->n_spatial, &conv->strides,
                                     &conv->dilations, &conv->pads);
}

/* Index of the operand with the shifts of the channels (op-conv-integer.c). */
#define SHIFT 4

/* Reads the shift of the scale of each channel into `call->shifts`. CMSIS-NN cannot shift to the
 * right by more than 30 bits. If a larger shift would round all sums of a channel to 0, sets the
 * multiplier and the shift of the channel to 0, which gives the same results. Returns FALSE if
 * another shift is too large, or if a sum of products, shifted left, may not fit into 32 bits. */
static gboolean
read_shifts (CleaveBundleCmsisCall *call)
{
  CleaveBundleConv *conv = &call->conv;
  gint64 n = conv->in * conv->kernel[0] * conv->kernel[1];
  gint64 largest = MAX (conv->x_zero - G_MININT8, G_MAXINT8 - conv->x_zero);

  call->shifts = g_new (gint32, (gsize) (conv->groups * conv->out));
  for (gint64 c = 0; c < conv->groups * conv->out; c++)
    {
      gint64 shift = cleave_bundle_integer (call->node, SHIFT, c), sum = ABS (conv->bias[c]);

      for (gint64 i = 0; i < n; i++)
        sum += ABS (conv->weights[c * n + i]) * largest;
      if (shift < -CLEAVE_BUNDLE_CMSIS_MAX_SHIFT && sum <= G_MAXINT32 &&
          (sum * conv->multipliers[c] + (1 << 30)) >> 31 < 1 << 30)
        shift = conv->multipliers[c] = 0;
      if (ABS (shift) > CLEAVE_BUNDLE_CMSIS_MAX_SHIFT || sum > G_MAXINT32 >> MAX (shift, 0))
        return FALSE;
      call->shifts[c] = (gint32) shift;
    }
  return TRUE;
}

static gboolean
read_conv (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  CleaveBundleConv *conv = &call->conv;

  return cleave_bundle_read_tflite_conv (call->node, layer, conv, NULL) &&
         conv->scale == CLEAVE_BUNDLE_SCALE_FIXED && cleave_bundle_conv_fits_bytes (conv) &&
         read_shifts (call);
}

static gboolean
is_1x1 (const CleaveBundleWindow *w)
{
  return w->kernel[0] * w->kernel[1] == 1;
}

/* Returns whether arm_fully_connected_s8() can compute the layer. This function has one scale for
 * all channels. Sets call->context_bytes. */
gboolean
cleave_bundle_cmsis_check_product (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  const CleaveBundleConv *conv = &call->conv;
  CleaveBundleWindow w;

  if (!read_conv (call, layer) || conv->groups != 1 || call->x.rows * call->x.columns != 1 ||
      call->y.rows * call->y.columns != 1)
    return FALSE;
  for (gint64 c = 1; c < conv->out; c++)
    if (conv->multipliers[c] != conv->multipliers[0] || call->shifts[c] != call->shifts[0])
      return FALSE;
  w = conv_window (call);
  call->context_bytes = 4 * conv->out;
  return is_1x1 (&w) && w.pad[0] == 0 && w.pad[1] == 0;
}

/* Returns whether arm_convolve_wrapper_s8() can compute the layer. Sets call->context_bytes. If the
 * image and the kernel have one row, the code for Helium needs the same padding before and after
 * the row, or one more column after the row. */
gboolean
cleave_bundle_cmsis_check_conv (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  CleaveBundleWindow w;

  if (!read_conv (call, layer) || call->conv.groups != 1)
    return FALSE;
  w = conv_window (call);
  call->context_bytes = is_1x1 (&w)
                            ? 4 * call->x.channels
                            : 4 * cleave_align_up (call->conv.in * w.kernel[0] * w.kernel[1], 16);
  if (is_1x1 (&w))
    return w.pad[0] == 0 && w.pad[1] == 0 && cleave_bundle_cmsis_end_pad (call, &w, 0) <= 0 &&
           cleave_bundle_cmsis_end_pad (call, &w, 1) <= 0;
  if (call->x.rows == 1 && w.kernel[0] == 1 &&
      (cleave_bundle_cmsis_end_pad (call, &w, 1) < w.pad[1] ||
       cleave_bundle_cmsis_end_pad (call, &w, 1) > w.pad[1] + 1))
    return FALSE;
  return cleave_bundle_cmsis_has_few_pads (call, &w);
}

/* Returns whether arm_depthwise_conv_wrapper_s8() should compute the layer. Refuses dilations and
 * depth multipliers (several result channels for each channel of x), since CMSIS-NN is slower than
 * Cleave's kernel in these cases. */
gboolean
cleave_bundle_cmsis_check_depthwise (CleaveBundleCmsisCall *call, CleaveBundleLayer *layer)
{
  gint64 taps;
  CleaveBundleWindow w;

  if (!read_conv (call, layer) || call->conv.groups == 1 || call->conv.in != 1 ||
      call->conv.out != 1)
    return FALSE;
  w = conv_window (call);
  taps = w.kernel[0] * w.kernel[1];
  call->context_bytes = MAX (4 * DEPTHWISE_CHANNELS * taps, 2 * call->x.channels * taps);
  return w.dilation[0] == 1 && w.dilation[1] == 1 && cleave_bundle_cmsis_has_few_pads (call, &w);
}

/* Appends the weights, indexed by [channel of the result][tap][channel of the operand] or, for a
 * depthwise convolution, by [tap][channel]. */
static void
print_weights (const CleaveBundleCmsisCall *call, CleaveBundleLayer *layer, GString *fields)
{
  const CleaveBundleConv *conv = &call->conv;
  gint64 channels = conv->groups * conv->out, taps = conv->kernel[0] * conv->kernel[1];
  g_autofree gint8 *weights = g_new (gint8, (gsize) (channels * conv->in * taps));

  for (gint64 c = 0; c < channels; c++)
    for (gint64 tap = 0; tap < taps; tap++)
      for (gint64 i = 0; i < conv->in; i++)
        weights[conv->groups == 1 ? (c * taps + tap) * conv->in + i : tap * channels + c] =
            (gint8) conv->weights[(c * conv->in + i) * taps + tap];
  g_string_append_printf (fields, ".weights = %s, ",
                          cleave_bundle_layer_add_array (layer, "int8_t", weights,
                                                         (gsize) (channels * conv->in * taps)));
}

/* Appends the field `filter`: the constants that every kind of convolution has. Appends the scales
 * of the first `n_scales` channels; `n_scales` is 1 if all channels have the same scale. */
static void
print_filter (const CleaveBundleCmsisCall *call,
              gsize n_scales,
              CleaveBundleLayer *layer,
              GString *fields)
{
  const CleaveBundleConv *conv = &call->conv;
  gsize channels = (gsize) (conv->groups * conv->out);
  g_autofree gint32 *biases = g_new (gint32, channels);

  for (gsize c = 0; c < channels; c++)
    biases[c] = (gint32) conv->bias[c];
  g_string_append (fields, ".filter = { ");
  print_weights (call, layer, fields);
  g_string_append_printf (
      fields,
      ".biases = %s, .multipliers = %s, .shifts = %s, .context_bytes = %" G_GINT64_FORMAT ", ",
      cleave_bundle_layer_add_array (layer, "int32_t", biases, channels),
      cleave_bundle_layer_add_array (layer, "int32_t", conv->multipliers, n_scales),
      cleave_bundle_layer_add_array (layer, "int32_t", call->shifts, n_scales),
      call->context_bytes);
  cleave_bundle_cmsis_print_dims ("w", conv->groups == 1 ? conv->out : 1, conv->kernel[0],
                                  conv->kernel[1], conv->groups == 1 ? conv->in : conv->groups,
                                  fields);
  cleave_bundle_cmsis_print_images (call, fields);
  g_string_append (fields, "}, ");
}

static void
print_offsets (const CleaveBundleConv *conv, GString *fields)
{
  g_string_append_printf (
      fields, ".input_offset = %" G_GINT64_FORMAT ", .output_offset = %" G_GINT64_FORMAT ", ",
      -conv->x_zero, conv->y_zero);
}

static void
print_activation (const CleaveBundleConv *conv, GString *fields)
{
  g_string_append_printf (fields, ".activation = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " } }",
                          conv->min, conv->max);
}

void
cleave_bundle_cmsis_print_product (const CleaveBundleCmsisCall *call,
                                   CleaveBundleLayer *layer,
                                   GString *fields)
{
  print_filter (call, 1, layer, fields);
  g_string_append (fields, ".params = { ");
  print_offsets (&call->conv, fields);
  print_activation (&call->conv, fields);
}

static void
print_params (const CleaveBundleCmsisCall *call, GString *fields)
{
  const CleaveBundleConv *conv = &call->conv;
  CleaveBundleWindow w = conv_window (call);

  print_offsets (conv, fields);
  cleave_bundle_cmsis_print_tile ("stride", w.stride, fields);
  cleave_bundle_cmsis_print_tile ("padding", w.pad, fields);
  cleave_bundle_cmsis_print_tile ("dilation", w.dilation, fields);
  print_activation (conv, fields);
}

void
cleave_bundle_cmsis_print_conv (const CleaveBundleCmsisCall *call,
                                CleaveBundleLayer *layer,
                                GString *fields)
{
  print_filter (call, (gsize) (call->conv.groups * call->conv.out), layer, fields);
  g_string_append (fields, ".params = { ");
  print_params (call, fields);
}

void
cleave_bundle_cmsis_print_depthwise (const CleaveBundleCmsisCall *call,
                                     CleaveBundleLayer *layer,
                                     GString *fields)
{
  print_filter (call, (gsize) (call->conv.groups * call->conv.out), layer, fields);
  g_string_append (fields, ".params = { .ch_mult = 1, ");
  print_params (call, fields);
}
