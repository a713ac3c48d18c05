/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Describes convolutions of int8 for kernels/conv-s8.c and kernels/depthwise-s8.c. These files
 * describe the order of the weights. */

#include "op-conv.h"

/* The kernel copies windows of at most this number of elements. The number must be equal to
 * CONV_S8_GATHERED in kernels/conv-s8.c. */
#define GATHERED 40

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
  gint64 groups, in, out; /* number of groups, and number of channels of one group in x and in the
                           * result */
  gint64 kernel[2];       /* numbers of rows and columns of the kernel */
  gint64 line;            /* number of taps in a line of weights (kernels/conv-s8.c) */
  gboolean is_depthwise;
  gboolean is_combined; /* the weights of four channels have the order of kernels/dot-s8.h */
} Geometry;

/* Returns the number of weights that one channel has in a line of weights (kernels/conv-s8.c). The
 * number includes the zeros that extend the line to a multiple of four weights. */
static gint64
count_line (const Geometry *g)
{
  gint64 n = g->line * g->in;

  return g->line > 1 && n <= GATHERED ? (n + 3) / 4 * 4 : n;
}

/* Returns whether each weight w0 of a channel and the weight w1 of the next channel can be stored
 * as one int16, w0 + 256 * w1. This sum overflows if w1 is -128 and w0 is negative. `first`: the
 * n_weights weights of the first channel; the n_weights weights of the second channel follow. */
static gboolean
can_combine_channels (const gint16 *first, gint64 n_weights)
{
  for (gint64 i = 0; i < n_weights; i++)
    if (first[i] < 0 && first[n_weights + i] == G_MININT8)
      return FALSE;
  return TRUE;
}

/* Returns whether the weights of a layer can have the order of kernels/dot-s8.h. A line must have a
 * multiple of four weights for each channel. If there are several groups, each must have a multiple
 * of four channels. Then channels 0 and 1, 2 and 3, … of the layer are the pairs of channels whose
 * weights are combined. */
static gboolean
can_combine (const CleaveBundleConv *conv, const Geometry *g)
{
  gint64 n_weights = g->in * g->kernel[0] * g->kernel[1];

  if (count_line (g) % 4 != 0 || (g->groups > 1 && g->out % 4 != 0))
    return FALSE;
  for (gint64 c = 0; c < g->groups * g->out / 4 * 4; c += 2)
    if (!can_combine_channels (conv->weights + c * n_weights, n_weights))
      return FALSE;
  return TRUE;
}

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
  g.is_combined = can_combine (conv, &g);
  return g;
}

/* Returns whether the kernel can double the sum of a channel before it scales the sum, which is
 * faster than scaling the plain sum. The doubled sum must fit into 32 bits, the shift must be a
 * right shift, and the bounds of the result must be -128 and 127. */
static gboolean
is_doubled (const CleaveBundleConv *conv, gint64 channel)
{
  gint64 n = conv->in * conv->kernel[0] * conv->kernel[1], most = ABS (conv->bias[channel]);

  for (gint64 i = 0; i < n; i++)
    most += G_MAXUINT8 * ABS ((gint64) conv->weights[channel * n + i]);
  return conv->scale == CLEAVE_BUNDLE_SCALE_FIXED && conv->shifts[channel] >= 0 &&
         most < G_MAXINT32 / 2 && conv->min <= G_MININT8 && conv->max >= G_MAXINT8;
}

static gboolean
are_all_doubled (const CleaveBundleConv *conv)
{
  for (gint64 c = 0; c < conv->groups * conv->out; c++)
    if (!is_doubled (conv, c))
      return FALSE;
  return TRUE;
}

/* Returns the initial value of a channel's sum, modulo 2^32: the bias, minus x_zero times the sum
 * of the channel's weights. For a depthwise convolution, returns only the bias: its kernel
 * subtracts x_zero from x. */
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

/* The weights of taps that a kernel multiplies together: all taps, a row of taps, or one tap (see
 * kernels/conv-s8.c). */
typedef struct
{
  const Geometry *g;
  const gint8 *w;
  gint64 tap; /* first tap of the line */
} Line;

/* Returns the weight of element `i` of a line for a channel; 0 after the end of the line. */
static gint8
find_weight (const Line *line, gint64 channel, gint64 i)
{
  const Geometry *g = line->g;
  gint64 taps = g->kernel[0] * g->kernel[1];

  if (i >= g->line * g->in)
    return 0;
  return line->w[(channel * g->in + i % g->in) * taps + line->tap + i / g->in];
}

/* Appends the weights of elements i to i + 3 of the line for the four channels from `channel` on,
 * in the order of kernels/dot-s8.h. */
static void
add_combined (const Line *line, gint64 channel, gint64 i, GByteArray *to)
{
  for (gint64 j = 0; j < 8; j++)
    {
      gint64 element = i + j / 4 + j % 2 * 2, c = channel + j / 2 % 2 * 2;
      guint both =
          (guint) (find_weight (line, c, element) + 256 * find_weight (line, c + 1, element));
      guint8 bytes[2] = { both & 0xff, both >> 8 & 0xff };

      g_byte_array_append (to, bytes, 2);
    }
}

/* Appends weights of `n_channels` channels from `channel` on, one channel after the other: for each
 * channel, its weights for elements i to i + n - 1 of the line. */
static void
add_separate (
    const Line *line, gint64 channel, gint64 n_channels, gint64 i, gint64 n, GByteArray *to)
{
  for (gint64 c = channel; c < channel + n_channels; c++)
    for (gint64 j = i; j < i + n; j++)
      {
        gint8 weight = find_weight (line, c, j);

        g_byte_array_append (to, (const guint8 *) &weight, 1);
      }
}

/* Appends a line of weights for the four channels, or the single channel, from `channel` on. */
static void
add_line (const Line *line, gint64 channel, gint64 n_channels, GByteArray *to)
{
  gint64 length = count_line (line->g), i = 0;

  for (; n_channels == 4 && i + 4 <= length; i += 4)
    if (line->g->is_combined)
      add_combined (line, channel, i, to);
    else
      add_separate (line, channel, 4, i, 4, to);
  for (; i < length; i++)
    add_separate (line, channel, n_channels, i, 1, to);
}

static void
add_conv_weights (const Geometry *g, const gint8 *w, GByteArray *to)
{
  for (gint64 group = 0; group < g->groups; group++)
    for (gint64 c = 0; c < g->out;)
      {
        gint64 n = g->out - c >= 4 ? 4 : 1;

        for (gint64 tap = 0; tap < g->kernel[0] * g->kernel[1]; tap += g->line)
          add_line (&(Line){ g, w, tap }, group * g->out + c, n, to);
        c += n;
      }
}

/* Sets the constants of each channel: two integers in `sums`, and a byte, the shift. The shifts
 * follow in memory after the integers of all channels. */
static void
set_scales (const CleaveBundleConv *conv, const Geometry *g, const gint8 *w, gint32 *sums)
{
  gint8 *shifts = (gint8 *) (sums + 2 * g->groups * g->out);

  for (gint64 c = 0; c < g->groups * g->out; c++)
    {
      gint64 sum = begin_sum (conv, g, w, c);

      sums[2 * c] = (gint32) (is_doubled (conv, c) ? 2 * sum : sum);
      sums[2 * c + 1] = conv->multipliers[c];
      shifts[c] = conv->shifts[c];
      if (!is_doubled (conv, c) && conv->scale == CLEAVE_BUNDLE_SCALE_FIXED)
        shifts[c] = (gint8) (shifts[c] - 64);
    }
}

/* Adds the array of a layer: initial sums and multipliers, shifts, and weights. Appends the
 * initializer of the field `sums` of CleaveConvS8 to `fields`. */
static void
add_array (const CleaveBundleConv *conv,
           const Geometry *g,
           CleaveBundleLayer *layer,
           GString *fields)
{
  gint64 channels = g->groups * g->out, n_weights = g->in * g->kernel[0] * g->kernel[1];
  gint64 n_words = 2 * channels + (channels + 3) / 4;
  g_autoptr (GByteArray) weights = g_byte_array_new ();
  g_autofree gint8 *w = g_new (gint8, (gsize) (channels * n_weights));
  g_autofree gint32 *words = NULL;
  gsize n_all;

  for (gint64 i = 0; i < channels * n_weights; i++)
    w[i] = (gint8) conv->weights[i];
  if (g->is_depthwise)
    add_depthwise_weights (g, w, weights);
  else
    add_conv_weights (g, w, weights);
  n_all = (gsize) n_words + (weights->len + 3) / 4;
  words = g_new0 (gint32, n_all);
  set_scales (conv, g, w, words);
  if (weights->len > 0)
    memcpy (words + n_words, weights->data, weights->len);
  g_string_append_printf (fields, ".sums = %s, ",
                          cleave_bundle_layer_add_array (layer, "int32_t", words, n_all));
}

gboolean
cleave_bundle_set_conv_s8 (const CleaveNode *node,
                           const CleaveBundleConv *conv,
                           CleaveBundleLayer *layer,
                           GError **error)
{
  g_autoptr (GString) fields = g_string_new (NULL);
  Geometry g = find_geometry (conv);

  add_array (conv, &g, layer, fields);
  if (!cleave_bundle_print_conv_slide (node, conv, layer, fields, error))
    return FALSE;
  g_string_append_printf (fields,
                          ", .in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT
                          ", .groups = %" G_GINT64_FORMAT ", .x_zero = %" G_GINT64_FORMAT
                          ", .y_zero = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
                          ", .high = %" G_GINT64_FORMAT ", .is_combined = %d, .is_doubled = %d",
                          g.in, g.out, g.groups, conv->x_zero, conv->y_zero, conv->min, conv->max,
                          g.is_combined, are_all_doubled (conv));
  if (MAX (MAX (g.in, g.out), g.groups) > G_MAXUINT16)
    cleave_bundle_layer_set_wide (layer);
  if (g.is_depthwise)
    cleave_bundle_layer_set_kernel (layer, "depthwise-s8", "cleave_depthwise_s8");
  else
    cleave_bundle_layer_set_kernel (layer, "conv-s8", "cleave_conv_s8");
  if (conv->scale == CLEAVE_BUNDLE_SCALE_FIXED)
    cleave_bundle_layer_set_fixed_scales (layer);
  if (!g.is_depthwise && g.out >= 4 && !g.is_combined)
    cleave_bundle_layer_set_separate_weights (layer);
  cleave_bundle_layer_set_params (layer, "CleaveConvS8", fields->str);
  return TRUE;
}
