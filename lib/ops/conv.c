/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Conv, in 1 to 6 spatial dimensions.
 *
 * Order of the sum of one result element, in every kernel: the bias, or +0; then the taps of the
 * kernel in row-major order, without taps in the padding. For each tap, the input channels of the
 * group follow in order, with one fused multiply-add each (products.h). If the attribute `winograd`
 * is set, conv-winograd.c states the order. */

#include "build.h"
#include "conv-parts.h"

enum { X, W, B };

static gboolean
infer (const CleaveCall *call, CleaveTensorType *results, GError **error)
{
  return cleave_call_check_element (call, X, CLEAVE_ELEMENTS_FLOAT, error) &&
         cleave_call_check_same_element (call, X, W, error) &&
         cleave_conv_infer (call, &results[0], error) &&
         (!cleave_call_has (call, B) || cleave_call_check_same_element (call, X, B, error)) &&
         cleave_conv_check_bias (call, B, call->operands[X].element, call->operands[W].shape.dim[0],
                                 error) &&
         cleave_conv_check_winograd (call, error);
}

static gboolean
narrow (const CleaveCall *call, const CleaveChunk *chunk, gpointer attrs, GString *why)
{
  cleave_conv_narrow_winograd (call, &chunk->range, attrs);
  return cleave_conv_narrow (call, chunk, attrs, why);
}

/* Returns whether each group has one input channel and there are three spatial dimensions. */
static gboolean
is_depthwise_volume (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *weights = &call->operands[W].shape;

  return weights->dim[1] == 1 && a->group > 1 && weights->rank == 5;
}

/* Returns whether a depthwise convolution has so few channels that a kernel with vectors of
 * channels would mostly compute empty lanes. If so, a kernel with vectors of pixels is used. */
static gboolean
has_few_channels (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  /* `multiplier` is the number of result channels for each channel of X. Returns TRUE in two cases:
   *
   * - `multiplier` is 1, the result has fewer than `many` channels, and the convolution has at most
   *   two spatial dimensions;
   * - `multiplier` is larger than 1 and less than `many_for_each`.
   *
   * Time of the kernel with vectors of 16 pixels, divided by the time of the kernel with vectors of
   * channels (3x3 kernel):
   *
   * - 2 channels of 56x56 pixels: 0.8; 3 channels: 1.2;
   * - 16 channels of X with 28x28 pixels, 12 result channels for each channel of X: 0.08. */
  const gint64 many = 3, many_for_each = 16;
  const CleaveShape *weights = &call->operands[W].shape;
  gint64 n_out = weights->dim[0], multiplier = n_out / MAX (a->group, 1);

  return multiplier == 1 ? n_out < many && weights->rank < 5 : multiplier < many_for_each;
}

/* Returns whether a vector can hold several groups: X and the result have the same number of
 * channels, and each group has 2, 4 or 8 channels. The kernel for grouped convolutions then takes
 * 0.4 times as long as the kernel for other convolutions. (Measured with AVX-512, 32 groups of 4
 * channels, a 3x3 kernel and 24x24 pixels.) */
static gboolean
is_grouped (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape;
  const gint64 vector = 16;
  gint64 n_in = w->dim[1];

  return a->group > 1 && n_in * a->group == w->dim[0] && w->dim[0] >= vector && w->rank <= 5 &&
         (n_in == 2 || n_in == 4 || n_in == 8);
}

/* Returns whether a convolution of 16-bit floats has at most 4 result channels in a group, so that
 * vectors of channels would be mostly empty. The kernel for float32, which is fast in this case,
 * then runs on converted operands. This reduces the time of a convolution with a 9x9 kernel, 32
 * channels of X and 3 result channels from 11.8 ms to 4 ms. */
static gboolean
is_narrow (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *w = &call->operands[W].shape;
  const gint64 few = 4;

  return w->rank <= 4 && w->dim[0] / MAX (a->group, 1) <= few &&
         cleave_shape_n_elements (w) > w->dim[0] * w->dim[1] &&
         cleave_shape_n_elements (&call->operands[X].shape) > 0;
}

static CleaveKernel
kernel (const CleaveCall *call)
{
  gboolean is_depthwise = cleave_conv_is_depthwise (call);

  if (cleave_conv_is_winograd (call))
    return cleave_kernel_of_floats (call, CLEAVE_KERNEL_WINOGRAD);
  if (call->operands[X].element == CLEAVE_FLOAT64)
    return CLEAVE_KERNEL_REFERENCE;
  if (call->operands[X].element != CLEAVE_FLOAT32 && !is_depthwise &&
      (is_narrow (call) ||
       (is_depthwise_volume (call) && cleave_shape_n_elements (&call->operands[X].shape) > 0)))
    return CLEAVE_KERNEL_UPCAST_PIECES;
  if (call->operands[X].element != CLEAVE_FLOAT32)
    return is_depthwise ? CLEAVE_KERNEL_UPCAST_DEPTHWISE : CLEAVE_KERNEL_UPCAST_CONV;
  if (is_grouped (call))
    return CLEAVE_KERNEL_GROUPED_CONV;
  if (!is_depthwise && !is_depthwise_volume (call))
    return CLEAVE_KERNEL_CONV;
  return has_few_channels (call) ? CLEAVE_KERNEL_NARROW_CONV : CLEAVE_KERNEL_DEPTHWISE;
}

static void
compute (const CleaveCall *call, const CleaveView *operands, const CleaveView *results)
{
  CleaveConvWalk walk;

  if (cleave_conv_is_winograd (call))
    {
      cleave_conv_compute_winograd (call, operands, &results[0]);
      return;
    }
  walk = cleave_conv_init_walk (call);
  cleave_conv_compute (call, &walk, operands, &results[0]);
}

const CleaveOp cleave_op_conv = {
  .name = "Conv",
  .operands = (const char *const[]){ "X", "W", "B", NULL },
  .results = (const char *const[]){ "Y", NULL },
  .min_operands = 2,
  .attrs_size = sizeof (CleaveConvAttrs),
  .attrs = cleave_conv_attrs,
  .infer = infer,
  .maps = cleave_conv_maps,
  .narrow = narrow,
  .layout = cleave_call_letters,
  .macs = cleave_conv_macs,
  .kernel = kernel,
  .compute = compute,
};

/**
 * cleave_graph_add_conv:
 * @graph: the graph to add to
 * @name: (nullable): name of the node; a number is appended if it is taken. %NULL for `conv`
 * @x: (transfer none): activations, `[N, I, H, W]`, or `[N, H, W, I]` with layout NHWC; 1 to 6
 * spatial dimensions
 * @w: (transfer none): weights, `[O, I / group, KH, KW]` with both layouts; `O` is a multiple of
 * the group
 * @b: (transfer none) (nullable): bias, `[O]`; %NULL for none
 * @attrs: (nullable): strides, dilations and pads in elements, H before W; for pads, all begins
 * before all ends. %NULL for the defaults: strides and dilations of 1, no pads, one group
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a convolution: [ONNX Conv](https://onnx.ai/onnx/operators/onnx__Conv.html), with a layout.
 *
 * The result is `[N, O, OH, OW]`, or `[N, OH, OW, O]`, with
 * `OH = (H + pad_begin + pad_end - (dilation * (KH - 1) + 1)) / stride + 1`, rounded down.
 * The node can be split anywhere along N, H and W, and along O inside one group or between groups.
 * A chunk that would read only padding is refused.
 *
 * Operands are of one of the four float types. Sums of float16 and bfloat16 are float32. Sums have
 * a fixed order, tap by tap and channel by channel, so that a piece has the same bits as the whole.
 *
 * Fails, and leaves the graph unchanged, with
 *
 * - %CLEAVE_ERROR_SHAPE if the shapes of the operands do not match;
 * - %CLEAVE_ERROR_ELEMENT_TYPE if their element types do not match;
 * - %CLEAVE_ERROR_ATTRIBUTE if an attribute is out of range.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
 *
 * Since: 0.1
 */
CleaveResult *
cleave_graph_add_conv (CleaveGraph *graph,
                       const char *name,
                       CleaveResult *x,
                       CleaveResult *w,
                       CleaveResult *b,
                       const CleaveConvAttrs *attrs,
                       GError **error)
{
  return cleave_build (graph, &cleave_op_conv, name, (CleaveResult *[]){ x, w, b }, 3, attrs,
                       error);
}
