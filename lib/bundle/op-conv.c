/* SPDX-License-Identifier: GPL-2.0-or-later */

/* TfliteConv, in kernels/conv-s8.c and kernels/depthwise-s8.c, which describe the order of the
 * weights. */

#include <cleave/cleave-tflite.h>

#include "op-help.h"
#include "ops.h"

#define GATHERED 40 /* CONV_S8_GATHERED in kernels/conv-s8.c */

enum { X, X_ZERO, W, MULTIPLIER, SHIFT, Y_ZERO, B };

/* The geometry of a convolution. */
typedef struct
{
  gint64 groups, in, out; /* channels of a group */
  gint64 kernel[2];       /* rows and columns */
  gint64 line;            /* taps of a line of weights in kernels/conv-s8.c */
  gboolean is_depthwise;
} Geometry;

static Geometry
find_geometry (const CleaveNode *node, const CleaveConvAttrs *a)
{
  const CleaveShape *w = &node->operands[W].result->type.shape;
  Geometry g = { .groups = a->group,
                 .in = w->dim[1],
                 .out = w->dim[0] / a->group,
                 .kernel = { w->dim[2], w->rank > 3 ? w->dim[3] : 1 },
                 .line = 1 };
  gint64 taps = g.kernel[0] * g.kernel[1];

  if (taps > 1 && taps * g.in <= GATHERED)
    g.line = taps;
  else if (a->group == 1 && g.in % 4 == 0 &&
           (w->rank < 4 || cleave_ints_at (&a->dilations, 1, 1) == 1))
    g.line = g.kernel[1];
  g.is_depthwise = g.in == 1 && g.out == 1 && g.groups >= 4;
  return g;
}

/* Returns the begin of a sum, modulo 2^32: the bias of a channel, minus x_zero times all its
 * weights unless the kernel subtracts x_zero from x. */
static gint32
begin_sum (const CleaveNode *node, const Geometry *g, const gint8 *w, gint64 channel)
{
  gint64 n_weights = g->is_depthwise ? 0 : g->in * g->kernel[0] * g->kernel[1];
  guint32 sum = (guint32) cleave_bundle_integer (node, B, channel);
  guint32 zero = (guint32) cleave_bundle_integer (node, X_ZERO, 0);

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

/* Appends one line of weights of the `n` channels from `channel` on, which begins at a tap. */
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

/* Adds the weights, sums and shifts, and prints their fields. */
static gboolean
add_arrays (const CleaveNode *node,
            const Geometry *g,
            CleaveBundleLayer *layer,
            GString *fields,
            GError **error)
{
  const gint8 *w = cleave_bundle_constant (node, W);
  gint64 channels = g->groups * g->out;
  g_autoptr (GByteArray) weights = g_byte_array_new ();
  g_autofree gint32 *sums = g_new (gint32, (gsize) (2 * channels));
  g_autofree gint8 *shifts = g_new (gint8, (gsize) channels);

  for (gint64 c = 0; c < channels; c++)
    {
      gint64 multiplier = cleave_bundle_integer (node, MULTIPLIER, c);

      if (!cleave_bundle_check_multiplier (node, multiplier, error))
        return FALSE;
      sums[2 * c] = begin_sum (node, g, w, c);
      sums[2 * c + 1] = (gint32) multiplier;
      shifts[c] =
          (gint8) cleave_bundle_shift (CLAMP (cleave_bundle_integer (node, SHIFT, c), -31, 31));
    }
  if (g->is_depthwise)
    add_depthwise_weights (g, w, weights);
  else
    add_conv_weights (g, w, weights);
  g_string_append_printf (
      fields, ".weights = %s, .sums = %s, .shifts = %s, ",
      cleave_bundle_layer_add_array (layer, "int8_t", weights->data, weights->len),
      cleave_bundle_layer_add_array (layer, "int32_t", sums, (gsize) (2 * channels)),
      cleave_bundle_layer_add_array (layer, "int8_t", shifts, (gsize) channels));
  return TRUE;
}

static gboolean
describe (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteConvAttrs *a = node->attrs;
  const CleaveResult *x = node->operands[X].result;
  g_autoptr (GString) fields = g_string_new (NULL);
  Geometry g;
  gint64 y_zero;

  if (!cleave_bundle_need_constants (node, X_ZERO, node->n_operands, "weights and scales", error))
    return FALSE;
  if (x->type.element != CLEAVE_INT8 || node->operands[W].result->type.element != CLEAVE_INT8 ||
      node->results[0].type.element != CLEAVE_INT8 || a->wide)
    return cleave_bundle_fail (
        node, error,
        "a bundle has no kernel for activations of %s, weights of %s and a result of %s",
        cleave_element_get_name (x->type.element),
        cleave_element_get_name (node->operands[W].result->type.element),
        cleave_element_get_name (node->results[0].type.element));
  g = find_geometry (node, &a->conv);
  if (!add_arrays (node, &g, layer, fields, error) ||
      !cleave_bundle_print_slide (node, g.kernel, &a->conv.strides, &a->conv.dilations,
                                  &a->conv.pads, fields, error))
    return FALSE;
  y_zero = cleave_bundle_integer (node, Y_ZERO, 0);
  g_string_append_printf (fields,
                          ", .in = %" G_GINT64_FORMAT ", .out = %" G_GINT64_FORMAT
                          ", .groups = %" G_GINT64_FORMAT ", .x_zero = %" G_GINT64_FORMAT
                          ", .y_zero = %" G_GINT64_FORMAT ", .low = %" G_GINT64_FORMAT
                          ", .high = %" G_GINT64_FORMAT,
                          g.in, g.out, g.groups, cleave_bundle_integer (node, X_ZERO, 0), y_zero,
                          a->min - y_zero, a->max - y_zero);
  if (g.is_depthwise)
    cleave_bundle_layer_set_kernel (layer, "depthwise-s8", "cleave_depthwise_s8");
  else
    cleave_bundle_layer_set_kernel (layer, "conv-s8", "cleave_conv_s8");
  cleave_bundle_layer_set_params (layer, "CleaveConvS8", fields->str);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_tflite_conv = { "TfliteConv", describe };
