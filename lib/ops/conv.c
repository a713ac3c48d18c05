/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Conv, in 1 to 6 spatial dimensions.
 *
 * The order of one result element, which every kernel keeps: the bias, or +0; then the taps of the
 * kernel in row-major order, those in the padding skipped; in each tap the input channels of the
 * group in order; one fused multiply-add each (products.h).  Or that of conv-winograd.c, if the
 * attribute asks for it. */

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

/* Each group has one input channel, in three spatial dimensions. */
static gboolean
is_depthwise_volume (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  const CleaveShape *weights = &call->operands[W].shape;

  return weights->dim[1] == 1 && a->group > 1 && weights->rank == 5;
}

/* So few channels of the result, or so few for each one of the operand, leave most of a vector
 * empty: pixels fill it. */
static gboolean
has_few_channels (const CleaveCall *call)
{
  const CleaveConvAttrs *a = call->attrs;
  /* With vectors of 16: 2 channels of 3x3 at 56x56 take 0.8 of the time, 3 would take 1.2 times as
   * long; 12 for each of 16 at 28x28 take a twelfth. */
  const gint64 many = 3, many_for_each = 16;
  const CleaveShape *weights = &call->operands[W].shape;
  gint64 n_out = weights->dim[0], multiplier = n_out / MAX (a->group, 1);

  return multiplier == 1 ? n_out < many && weights->rank < 5 : multiplier < many_for_each;
}

/* Several groups, which make as many channels as they read, are in a vector.  With AVX-512, 32
 * groups of 4 channels of 3x3 at 24x24 take 0.4 of the time. */
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

/* Of 16-bit floats: a group makes so few channels that most of a vector would be empty, as the
 * kernel of floats knows.  32 to 3 channels of 9x9: 11.8 -> 4 ms. */
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
 * @name: (nullable): name of the node, made unique
 * @x: (transfer none): activations, `[N, I, H, W]`, or `[N, H, W, I]` with the layout NHWC; 1 to 6
 * spatial dimensions
 * @w: (transfer none): weights, `[O, I / group, KH, KW]` under both layouts; `O` is a multiple of
 * the group
 * @b: (transfer none) (nullable): bias, `[O]`
 * @attrs: (nullable): strides, dilations and pads in elements, H before W; all begins of pads
 * before all ends
 * @error: return location for a [struct@GLib.Error]
 *
 * Adds a convolution: [ONNX Conv](https://onnx.ai/onnx/operators/onnx__Conv.html), with a layout.
 *
 * The result is `[N, O, OH, OW]`, or `[N, OH, OW, O]`, with
 * `OH = (H + pad_begin + pad_end - (dilation * (KH - 1) + 1)) / stride + 1`, rounded down.
 * It can be split along N, H and W at will, and along O inside one group or between groups; a chunk
 * that would read nothing but padding is refused.
 *
 * Serves the float types; float16 and bfloat16 add up in float32.  Elements add up in one order,
 * tap by tap, channel by channel, so that a piece has the same bits as that part of the whole.
 *
 * Fails with %CLEAVE_ERROR_SHAPE if the operands do not fit, with %CLEAVE_ERROR_ELEMENT_TYPE if
 * their element types do not, and with %CLEAVE_ERROR_ATTRIBUTE if an attribute is out of range; the
 * graph is then unchanged.
 *
 * Returns: (transfer none) (nullable): the result, or %NULL on error
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
