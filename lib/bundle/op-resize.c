/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Records of Resize and TfliteResizeBilinear that interpolate along rows and columns. */

#include <cleave/cleave-tflite.h>

#include "../ops/resize-taps.h"
#include "op-help.h"
#include "ops.h"

/* Adds two arrays to the layer, the indices and the weights of the taps of dimension `dim`, and
 * appends the C expressions of the arrays to `at_fields` and `weight_fields`. Returns the number of
 * entries that the arrays have for each index of the result. */
static gint64
add_taps (const CleaveResizeAttrs *a,
          gint dim,
          gint64 from,
          gint64 to,
          CleaveBundleLayer *layer,
          GString *at_fields,
          GString *weight_fields)
{
  CleaveResizeAxis axis = cleave_resize_axis (a, (guint) MAX (dim, 0), from, to);
  g_autofree CleaveResizeTaps *taps = NULL;
  g_autofree guint16 *at = NULL;
  g_autofree float *weights = NULL;
  CleaveResizeTaps only = { .n = 1, .weight = { 1 } };
  gint64 most;

  if (dim >= 0)
    taps = cleave_resize_new_taps (&axis);
  most = dim < 0 ? 1 : cleave_resize_most_taps (taps, to);
  at = g_new (guint16, (gsize) (to * most));
  weights = g_new0 (float, (gsize) (to * most));
  for (gint64 i = 0; i < to; i++)
    for (gint64 t = 0; t < most; t++)
      {
        const CleaveResizeTaps *tap = dim < 0 ? &only : &taps[i];

        at[i * most + t] = t < tap->n ? (guint16) tap->at[t] : G_MAXUINT16;
        if (t < tap->n)
          weights[i * most + t] = (float) tap->weight[t];
      }
  g_string_append_printf (
      at_fields, "%s, ",
      cleave_bundle_layer_add_array (layer, "uint16_t", at, (gsize) (to * most)));
  g_string_append_printf (
      weight_fields, "%s, ",
      cleave_bundle_layer_add_array (layer, "float", weights, (gsize) (to * most)));
  return most;
}

/* Returns whether interpolation leaves dimension `d` unchanged. Equal extents are not enough, since
 * the scale attribute can move the elements. */
static gboolean
is_unchanged (const CleaveResizeAttrs *a, guint d, gint64 from, gint64 to)
{
  CleaveResizeAxis axis = cleave_resize_axis (a, d, from, to);
  g_autofree CleaveResizeTaps *taps = cleave_resize_new_taps (&axis);

  for (gint64 i = 0; i < to; i++)
    if (taps[i].n != 1 || taps[i].at[0] != i || taps[i].weight[0] != 1)
      return FALSE;
  return from == to;
}

gboolean
cleave_bundle_describe_linear (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveResizeAttrs *a = node->attrs;
  const CleaveShape *x = &node->operands[0].result->type.shape, *y = &node->results[0].type.shape;
  CleaveBundleImage from = cleave_bundle_image (node->operands[0].result);
  CleaveBundleImage to = cleave_bundle_image (&node->results[0]);
  g_autoptr (GString) at = g_string_new (NULL), weights = g_string_new (NULL);
  g_autofree char *fields = NULL;
  gint64 taps[2];

  if (!cleave_bundle_need_element (node, 0, CLEAVE_FLOAT32, error))
    return FALSE;
  if (a->coordinate_transformation_mode == CLEAVE_RESIZE_TF_CROP_AND_RESIZE)
    return cleave_bundle_fail (node, error, "a bundle has no kernel for tf_crop_and_resize");
  for (gint d = 0; d < (gint) y->rank; d++)
    if (d != to.row_dim && d != to.column_dim && !is_unchanged (a, (guint) d, x->dim[d], y->dim[d]))
      return cleave_bundle_fail (node, error, "a bundle interpolates rows and columns only");
  if (from.rows >= G_MAXUINT16 || from.columns >= G_MAXUINT16)
    return cleave_bundle_fail (node, error, "a bundle needs fewer than %d rows and columns",
                               G_MAXUINT16);
  taps[0] = add_taps (a, to.row_dim, from.rows, to.rows, layer, at, weights);
  taps[1] = add_taps (a, to.column_dim, from.columns, to.columns, layer, at, weights);
  fields = g_strdup_printf (".at = { %s}, .weights = { %s}, .taps = { %" G_GINT64_FORMAT
                            ", %" G_GINT64_FORMAT " }, .channels = %" G_GINT64_FORMAT,
                            at->str, weights->str, taps[0], taps[1], to.channels);
  cleave_bundle_layer_set_kernel (layer, "resize-f32", "cleave_resize_f32");
  cleave_bundle_layer_set_params (layer, "CleaveResizeF32", fields);
  return TRUE;
}

static gboolean
describe_bilinear (const CleaveNode *node, CleaveBundleLayer *layer, GError **error)
{
  const CleaveTfliteResizeAttrs *a = node->attrs;
  CleaveBundleImage x = cleave_bundle_image (node->operands[0].result);
  gint64 shifts[2];
  g_autofree char *fields = NULL;

  if (!cleave_bundle_need_element (node, 0, CLEAVE_INT8, error))
    return FALSE;
  if (x.channel_dim != 3)
    return cleave_bundle_fail (node, error, "a bundle needs images with channels in dimension 3");
  for (guint i = 0; i < 2; i++)
    {
      gint64 step = cleave_ints_at (&a->steps, i, 0), size = cleave_ints_at (&a->sizes, i, 0);

      shifts[i] = cleave_ints_at (&a->phase, i, 0) * step + cleave_ints_at (&a->shifts, i, 0);
      if (((size - 1) * step + shifts[i]) / 1024 >= (i == 0 ? x.rows : x.columns))
        return cleave_bundle_fail (node, error,
                                   "a bundle needs positions inside the operand, but index "
                                   "%" G_GINT64_FORMAT " is beyond its end",
                                   size - 1);
    }
  fields = g_strdup_printf (".steps = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                            " }, .shifts = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                            " }, .extents = { %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
                            " }, .channels = %" G_GINT64_FORMAT,
                            cleave_ints_at (&a->steps, 0, 0), cleave_ints_at (&a->steps, 1, 0),
                            shifts[0], shifts[1], x.rows, x.columns, x.channels);
  cleave_bundle_layer_set_kernel (layer, "resize-s8", "cleave_resize_s8");
  cleave_bundle_layer_set_params (layer, "CleaveResizeS8", fields);
  return TRUE;
}

const CleaveBundleOp cleave_bundle_op_tflite_resize_bilinear = { "TfliteResizeBilinear",
                                                                 describe_bilinear };
