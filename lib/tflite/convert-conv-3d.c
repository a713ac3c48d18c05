/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts CONV_3D and CONV_3D_TRANSPOSE on floats. In the file, x is [N, D, H, W, C], and the
 * weights are [D, H, W, I / group, O]; for CONV_3D_TRANSPOSE, the weights are [D, H, W, O, I]. */

#include "convert.h"

enum { X, W, B };
enum {
  TRANSPOSE_W = 1,
  TRANSPOSE_X,
  TRANSPOSE_B
}; /* input 0 is the shape of the result; then
    * come weights, x and bias */
enum { PADDING, STRIDE_D, STRIDE_W, STRIDE_H, ACTIVATION, DILATION_D, DILATION_W, DILATION_H };

/* Reads strides, dilations and the padding mode from the options. The options have W before H;
 * `stride` and `dilation` get the order D, H, W. */
static gboolean
read_options (CleaveTfliteImport *import,
              CleaveInts *stride,
              CleaveInts *dilation,
              gint64 *padding,
              GError **error)
{
  static const guint strides[3] = { STRIDE_D, STRIDE_H, STRIDE_W };
  static const guint dilations[3] = { DILATION_D, DILATION_H, DILATION_W };

  stride->n = dilation->n = 3;
  for (guint i = 0; i < 3; i++)
    if (!cleave_tflite_option (import, strides[i], 4, 0, &stride->v[i], error) ||
        !cleave_tflite_option (import, dilations[i], 4, 1, &dilation->v[i], error))
      return FALSE;
  return cleave_tflite_option (import, PADDING, 1, 0, padding, error);
}

static gboolean
read_geometry (CleaveTfliteImport *import, CleaveConvAttrs *a, GError **error)
{
  const CleaveShape *x = &cleave_tflite_input_type (import, X)->shape;
  const CleaveShape *w = &cleave_tflite_input_type (import, W)->shape;
  gint64 padding;

  if (!read_options (import, &a->strides, &a->dilations, &padding, error))
    return FALSE;
  if (x->rank != 5 || w->rank != 5)
    return cleave_tflite_refuse (
        error, "input 0 has %u dimensions and input 1 has %u, both must have 5", x->rank, w->rank);
  if (w->dim[3] < 1 || x->dim[4] % w->dim[3] != 0)
    return cleave_tflite_refuse (
        error, "the weights do not fit the %" G_GINT64_FORMAT " channels of input 0", x->dim[4]);
  a->layout = CLEAVE_LAYOUT_NHWC;
  a->group = x->dim[4] / w->dim[3];
  return cleave_tflite_pads (x, padding, w->dim, &a->strides, &a->dilations, &a->pads, error);
}

/* Returns the weights in the layout of ONNX: [O, I / group, D, H, W]; for CONV_3D_TRANSPOSE, [I, O,
 * D, H, W]. */
static CleaveResult *
permute_weights (CleaveTfliteImport *import, guint input, CleaveResult *w, GError **error)
{
  CleaveInts perm = CLEAVE_INTS (4, 3, 0, 1, 2);

  w = cleave_tflite_float_weights (import, input, w, error);
  if (w == NULL)
    return NULL;
  return cleave_tflite_fold (import, cleave_tflite_add_transpose (import, w, &perm, error), error);
}

gboolean
cleave_tflite_convert_conv_3d (CleaveTfliteImport *import, GError **error)
{
  CleaveConvAttrs attrs = { 0 };
  CleaveResult *operands[3];
  CleaveResult *y;

  if (!read_geometry (import, &attrs, error))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (!cleave_tflite_find_result (import, i, &operands[i], error))
      return FALSE;
  operands[W] = permute_weights (import, W, operands[W], error);
  if (operands[W] == NULL)
    return FALSE;
  y = cleave_tflite_add (import, "Conv", operands, operands[B] == NULL ? 2 : 3, &attrs, error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_activation (import, ACTIVATION, y, error),
                            error);
}

gboolean
cleave_tflite_convert_conv_3d_transpose (CleaveTfliteImport *import, GError **error)
{
  static const guint inputs[] = { TRANSPOSE_X, TRANSPOSE_W, TRANSPOSE_B };
  const CleaveShape *w = &cleave_tflite_input_type (import, TRANSPOSE_W)->shape;
  CleaveConvTransposeAttrs attrs = { .layout = CLEAVE_LAYOUT_NHWC, .group = 1 };
  CleaveResult *operands[3];
  CleaveResult *y;
  gint64 padding;

  if (w->rank != 5)
    return cleave_tflite_refuse (error, "the weights have %u dimensions, they must have 5",
                                 w->rank);
  if (!read_options (import, &attrs.strides, &attrs.dilations, &padding, error) ||
      !cleave_tflite_transposed_pads (import,
                                      &cleave_tflite_input_type (import, TRANSPOSE_X)->shape,
                                      w->dim, padding, &attrs, error))
    return FALSE;
  for (guint i = 0; i < 3; i++)
    if (!cleave_tflite_find_result (import, inputs[i], &operands[i], error))
      return FALSE;
  operands[W] = permute_weights (import, TRANSPOSE_W, operands[W], error);
  if (operands[W] == NULL)
    return FALSE;
  y = cleave_tflite_add (import, "ConvTranspose", operands, operands[B] == NULL ? 2 : 3, &attrs,
                         error);
  return cleave_tflite_set (import, 0, cleave_tflite_add_activation (import, ACTIVATION, y, error),
                            error);
}
