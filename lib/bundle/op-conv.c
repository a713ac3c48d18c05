/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Describes convolutions of int8 for kernels/conv-s8.c and kernels/depthwise-s8.c. These files
 * describe the order of the weights. */

#include "op-conv.h"

#define GATHERED 40 /* the value of CONV_S8_GATHERED in kernels/conv-s8.c */

gboolean
cleave_bundle_print_conv_slide (const CleaveNode *node,
                                const CleaveBundleConv *conv,
                                CleaveBundleLayer *layer,
                                GString *fields,
                                GError **error)
{
  CleaveBundleImage image = cleave_bundle_image (node->operands[0].result);

  if (conv->n_spatial > 0)
    return cleave_bundle_print_slide (node, conv->kernel, &conv->strides, &conv->dilations,
                                      &conv->pads, layer, fields, error);
  g_string_append_printf (fields,
                          ".slide = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                          ", { 1, 1 }, { 1, 1 }, { 1, 1 }, { 0, 0 } }",
                          image.rows, image.columns);
  return TRUE;
}

/* Numbers of channels, taps and weights of a convolution. */
typedef struct
{
  gint64 groups, in, out; /* number of groups, and channels of a group in x and in the result */
  gint64 kernel[2];       /* numbers of rows and columns of taps */
  gint64 line;            /* number of taps of a line of weights in kernels/conv-s8.c */
  gboolean is_depthwise;
} Geometry;

static Geometry
find_geometry (const CleaveBundleConv *conv)
{
  Geometry g = { .groups = conv->groups,
                 .in = conv->in,
                 .out = conv->out,
                 .kernel = { conv->kernel[0], conv->kernel[1] },
                 .line = 1 };
  gint64 taps = g.kernel[0] * g.kernel[1];

  if (taps > 1 && taps * g.in <= GATHERED)
    g.line = taps;
  else if (conv->groups == 1 && g.in % 4 == 0 &&
           (conv->n_spatial < 2 || cleave_ints_at (&conv->dilations, 1, 1) == 1))
    g.line = g.kernel[1];
  g.is_depthwise = g.in == 1 && g.out == 1 && g.groups >= 4;
  return g;
}

/* Returns the initial value of a channel's sum, modulo 2^32: the bias, minus x_zero times the sum
 * of the channel's weights. If the kernel subtracts x_zero from x, only the bias. */
static gint32
begin_sum (const CleaveBundleConv *conv, const Geometry *g, const gint8 *w, gint64 channel)
{
  gint64 n_weights = g->is_depthwise ? 0 : g->in * g->kernel[0] * g->kernel[1];
  guint32 sum = (guint32) conv->bias[channel], zero = (guint32) conv->x_zero;

  for (gint64 i = 0; i < n_weights; i++)
    {
      guint32 weight = (guint32) w[channel * n_weights + i];

      sum -= zero * weight;
    }
  return (gint32) sum;
}

static void
add_depthwise_weights (const Geometry *g, const gint8 *w, GByteArray *to)
{
  gint64 taps = g->kernel[0] * g->kernel[1];

  for (gint64 tap = 0; tap < taps; tap++)
    for (gint64 c = 0; c < g->groups; c++)
      g_byte_array_append (to, (const guint8 *) &w[c * taps + tap], 1);
}

/* Appends a line of weights for the `n` channels from `channel` on. `tap`: first tap of the line.
 */
static void
add_line (const Geometry *g, const gint8 *w, gint64 channel, gint64 n, gint64 tap, GByteArray *to)
{
  gint64 taps = g->kernel[0] * g->kernel[1], length = g->line * g->in;

  for (gint64 i = 0; i < length;)
    {
      gint64 block = n == 4 && i + 4 <= length ? 4 : 1;

      for (gint64 c = channel; c < channel + n; c++)
        for (gint64 j = i; j < i + block; j++)
          g_byte_array_append (
              to, (const guint8 *) &w[(c * g->in + j % g->in) * taps + tap + j / g->in], 1);
      i += block;
    }
}

static void
add_conv_weights (const Geometry *g, const gint8 *w, GByteArray *to)
{
  for (gint64 group = 0; group < g->groups; group++)
    for (gint64 c = 0; c < g->out;)
      {
        gint64 n = g->out - c >= 4 ? 4 : 1;

        for (gint64 tap = 0; tap < g->kernel[0] * g->kernel[1]; tap += g->line)
          add_line (g, w, group * g->out + c, n, tap, to);
        c += n;
      }
}

/* Adds the arrays of weights, sums and shifts, and appends the fields that refer to them. */
static void
add_arrays (const CleaveBundleConv *conv,
            const Geometry *g,
            CleaveBundleLayer *layer,
            GString *fields)
{
  gint64 channels = g->groups * g->out, n_weights = g->in * g->kernel[0] * g->kernel[1];
  g_autoptr (GByteArray) weights = g_byte_array_new ();
  g_autofree gint32 *sums = g_new (gint32, (gsize) (2 * channels));
  g_autofree gint8 *w = g_new (gint8, (gsize) (channels * n_weights));

  for (gint64 i = 0; i < channels * n_weights; i++)
    w[i] = (gint8) conv->weights[i];
  for (gint64 c = 0; c < channels; c++)
    {
      sums[2 * c] = begin_sum (conv, g, w, c);
      sums[2 * c + 1] = conv->multipliers[c];
    }
  if (g->is_depthwise)
    add_depthwise_weights (g, w, weights);
  else
    add_conv_weights (g, w, weights);
  g_string_append_printf (
      fields, ".weights = %s, .sums = %s, .shifts = %s, ",
      cleave_bundle_layer_add_array (layer, "int8_t", weights->data, weights->len),
      cleave_bundle_layer_add_array (layer, "int32_t", sums, (gsize) (2 * channels)),
      cleave_bundle_layer_add_array (layer, "int8_t", conv->shifts, (gsize) channels));
}

gboolean
cleave_bundle_set_conv_s8 (const CleaveNode *node,
                           const CleaveBundleConv *conv,
                           CleaveBundleLayer *layer,
                           GError **error)
{
  g_autoptr (GString) fields = g_string_new (NULL);
  Geometry g = find_geometry (conv);

  add_arrays (conv, &g, layer, fields);
  if (!cleave_bundle_print_conv_slide (node, conv, layer, fields, error))
    return FALSE;
  g_string_append_printf (fields,
                          ", .in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT
                          ", .groups = %" G_GINT64_FORMAT ", .x_zero = %" G_GINT64_FORMAT
                          ", .y_zero = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
                          ", .high = %" G_GINT64_FORMAT,
                          g.in, g.out, g.groups, conv->x_zero, conv->y_zero,
                          conv->min - conv->y_zero, conv->max - conv->y_zero);
  if (MAX (MAX (g.in, g.out), g.groups) > G_MAXUINT16)
    cleave_bundle_layer_set_wide (layer);
  if (g.is_depthwise)
    cleave_bundle_layer_set_kernel (layer, "depthwise-s8", "cleave_depthwise_s8");
  else
    cleave_bundle_layer_set_kernel (layer, "conv-s8", "cleave_conv_s8");
  cleave_bundle_layer_set_params (layer, "CleaveConvS8", fields->str);
  return TRUE;
}
