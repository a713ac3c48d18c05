/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Converts transposed convolutions. The weights are [O, KH, KW, I] in the file, and [I, O, KH, KW]
 * in the graph. */

#include "convert.h"

enum { X, W, B };
enum { PADDING, STRIDE_W, STRIDE_H };
enum { TRANSPOSE_SHAPE, TRANSPOSE_W, TRANSPOSE_X, TRANSPOSE_B, TRANSPOSE_ACTIVATION = 3 };

/* Returns the extent of the result along one spatial dimension if there are no pads; -1 if the
 * extent overflows. */
static gint64
reach_of (gint64 extent, gint64 kernel, gint64 stride, gint64 dilation)
{
  gint64 steps, taps, reach;

  if (__builtin_mul_overflow (extent - 1, stride, &steps) ||
      __builtin_mul_overflow (kernel - 1, dilation, &taps) ||
      __builtin_add_overflow (steps, taps, &reach) || reach == G_MAXINT64)
    return -1;
  return reach + 1;
}

gboolean
cleave_tflite_transposed_pads (CleaveTfliteImport *import,
                               const CleaveShape *x,
                               const gint64 *kernel,
                               gint64 padding,
                               CleaveConvTransposeAttrs *a,
                               GError **error)
{
  const CleaveShape *y = &cleave_tflite_output (import, 0)->type.shape;
  guint n = a->strides.n;

  if (x->rank != n + 2 || y->rank != n + 2)
    return cleave_tflite_refuse (error, "x and the result must have %u dimensions", n + 2);
  a->pads.n = 2 * n;
  a->output_padding.n = n;
  for (guint i = 0; i < n; i++)
    {
      gint64 dilation = a->dilations.n > 0 ? a->dilations.v[i] : 1;
      gint64 reach = reach_of (x->dim[1 + i], kernel[i], a->strides.v[i], dilation);
      gint64 pads = reach - y->dim[1 + i];

      if (reach < 0)
        return cleave_tflite_refuse (error, "a stride or a dilation is too large");
      a->pads.v[i] = padding == 0 ? MAX (pads, 0) / 2 : 0;
      a->pads.v[n + i] = MAX (pads, 0) - a->pads.v[i];
      a->output_padding.v[i] = MAX (-pads, 0);
    }
  return TRUE;
}

/* The operands and the attributes of a transposed convolution. */
typedef struct
{
  CleaveResult *x, *w, *b;
  CleaveConvTransposeAttrs attrs;
} Transposed;

/* Reads the operands into `t`, whose strides the caller has set. `inputs`: indices of the inputs
 * that are w, x and bias. */
static gboolean
read_transposed (
    CleaveTfliteImport *import, const guint *inputs, gint64 padding, Transposed *t, GError **error)
{
  const CleaveShape *w = &cleave_tflite_input_type (import, inputs[W])->shape;
  CleaveInts perm = CLEAVE_INTS (3, 0, 1, 2);

  if (w->rank != 4)
    return cleave_tflite_refuse (error, "the weights have %u dimensions, they must have 4",
                                 w->rank);
  t->attrs.layout = CLEAVE_LAYOUT_NHWC;
  t->attrs.group = 1;
  t->attrs.strides.n = 2;
  if (!cleave_tflite_transposed_pads (import, &cleave_tflite_input_type (import, inputs[X])->shape,
                                      w->dim + 1, padding, &t->attrs, error) ||
      !cleave_tflite_find_result (import, inputs[X], &t->x, error) ||
      !cleave_tflite_find_result (import, inputs[W], &t->w, error) ||
      !cleave_tflite_find_result (import, inputs[B], &t->b, error))
    return FALSE;
  if (cleave_tflite_input_type (import, inputs[X])->element == CLEAVE_FLOAT32)
    t->w = cleave_tflite_float_weights (import, inputs[W], t->w, error);
  t->w =
      cleave_tflite_fold (import, cleave_tflite_add_transpose (import, t->w, &perm, error), error);
  return t->w != NULL;
}

/* Adds a ConvTranspose of floats. Returns the result; NULL on error. */
static CleaveResult *
add_floats (CleaveTfliteImport *import, const Transposed *t, GError **error)
{
  return cleave_tflite_add (import, "ConvTranspose", (CleaveResult *[]){ t->x, t->w, t->b },
                            t->b == NULL ? 2 : 3, &t->attrs, error);
}

static gboolean
read_options (CleaveTfliteImport *import, Transposed *t, gint64 *padding, GError **error)
{
  return cleave_tflite_option (import, PADDING, 1, 0, padding, error) &&
         cleave_tflite_option (import, STRIDE_H, 4, 0, &t->attrs.strides.v[0], error) &&
         cleave_tflite_option (import, STRIDE_W, 4, 0, &t->attrs.strides.v[1], error);
}

static const guint transpose_inputs[] = { TRANSPOSE_X, TRANSPOSE_W, TRANSPOSE_B };

gboolean
cleave_tflite_convert_transpose_conv (CleaveTfliteImport *import, GError **error)
{
  Transposed t = { 0 };
  CleaveResult *y;
  gint64 padding;

  if (!read_options (import, &t, &padding, error) ||
      !read_transposed (import, transpose_inputs, padding, &t, error))
    return FALSE;
  y = add_floats (import, &t, error);
  return cleave_tflite_set (
      import, 0, cleave_tflite_add_activation (import, TRANSPOSE_ACTIVATION, y, error), error);
}

gboolean
cleave_tflite_convert_integer_transpose_conv (CleaveTfliteImport *import, GError **error)
{
  CleaveTfliteConvInputs inputs = { TRANSPOSE_X, TRANSPOSE_W, 0, TRANSPOSE_ACTIVATION, FALSE };
  CleaveTfliteConvTransposeAttrs attrs = { 0 };
  CleaveTfliteConvParts parts = { 0 };
  Transposed t = { 0 };
  gint64 padding;

  if (!read_options (import, &t, &padding, error) ||
      !read_transposed (import, transpose_inputs, padding, &t, error))
    return FALSE;
  parts.operands[0] = t.x;
  parts.operands[2] = t.w;
  parts.operands[6] = t.b;
  if (!cleave_tflite_read_conv_parts (import, &inputs, &parts, error))
    return FALSE;
  attrs = (CleaveTfliteConvTransposeAttrs){ t.attrs, parts.min, parts.max, parts.wide };
  return cleave_tflite_set (import, 0,
                            cleave_tflite_add (import, "TfliteConvTranspose", parts.operands,
                                               parts.n_operands, &attrs, error),
                            error);
}

/* Converts the custom operator Convolution2DTransposeBias of MediaPipe. Its options are three
 * 32-bit integers: the padding (1: SAME, 2: VALID), the stride of W and the stride of H. */
gboolean
cleave_tflite_convert_transpose_conv_bias (CleaveTfliteImport *import, GError **error)
{
  static const guint inputs[] = { X, W, B };
  const CleaveFlatVector *options = &import->op->custom_options;
  Transposed t = { 0 };
  gint64 padding;

  if (options->n < 12)
    return cleave_tflite_refuse (error, "its options have %u bytes, they must have 12", options->n);
  padding = cleave_flat_integer (options, 4, 0);
  if (padding != 1 && padding != 2)
    return cleave_tflite_refuse (error, "padding %" G_GINT64_FORMAT " is unknown", padding);
  t.attrs.strides.v[1] = cleave_flat_integer (options, 4, 1);
  t.attrs.strides.v[0] = cleave_flat_integer (options, 4, 2);
  return read_transposed (import, inputs, padding - 1, &t, error) &&
         cleave_tflite_set (import, 0, add_floats (import, &t, error), error);
}
