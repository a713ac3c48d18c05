/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes and constructors of layers: convolutions, poolings, products, normalizations and
 * recurrent networks. cleave_graph_add() takes an attribute struct, and each node stores one.
 * cleave-ops.h says which values stand for defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveLayout:
 * @CLEAVE_LAYOUT_NCHW: N, C, then spatial dimensions
 * @CLEAVE_LAYOUT_NHWC: N, spatial dimensions, then C
 *
 * The order of the dimensions of image-like values: batch N, channels C, and spatial dimensions.
 */
typedef enum {
  CLEAVE_LAYOUT_NCHW,
  CLEAVE_LAYOUT_NHWC,
} CleaveLayout;

/**
 * CleaveConvAttrs:
 * @layout: which dimensions are N, C and spatial
 * @group: number of groups
 * @strides: one for each spatial dimension
 * @dilations: one for each spatial dimension
 * @pads: the begin pads of all spatial dimensions, then the end pads
 * @winograd: empty, or a phase, 0 or 1, for each spatial dimension
 *
 * Attributes of Conv.
 *
 * If @winograd is not empty, sums are computed by Winograd's algorithm F(2x2, 3x3) in float32. This
 * algorithm needs float32, float16 or bfloat16, and a 3x3 kernel with strides and dilations of 1.
 * The result is computed in tiles of 2x2 elements. With phase 0, the first tile begins at the first
 * element of the dimension. With phase 1, the first tile begins one element earlier. A piece gets
 * the phase with which its tiles are also tiles of the whole node, so that its results are
 * bit-identical.
 */
typedef struct
{
  CleaveLayout layout;
  gint64 group;
  CleaveInts strides, dilations;
  CleaveInts pads;
  CleaveInts winograd;
} CleaveConvAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_conv (CleaveGraph *graph,
                                                const char *name,
                                                CleaveResult *x,
                                                CleaveResult *w,
                                                CleaveResult *b,
                                                const CleaveConvAttrs *attrs,
                                                GError **error);

/**
 * CleaveConvTransposeAttrs:
 * @layout: which dimensions are N, C and spatial
 * @group: number of groups
 * @strides: one for each spatial dimension
 * @dilations: one for each spatial dimension
 * @pads: the begin pads of all spatial dimensions, then the end pads
 * @output_padding: number of elements added to the end of each spatial dimension of the result
 *
 * Attributes of ConvTranspose.
 */
typedef struct
{
  CleaveLayout layout;
  gint64 group;
  CleaveInts strides, dilations, pads, output_padding;
} CleaveConvTransposeAttrs;

/**
 * CleaveDeformConvAttrs:
 * @group: number of groups
 * @offset_group: number of groups of channels of X; the channels of a group share offsets and mask
 * @strides: one for each spatial dimension
 * @dilations: one for each spatial dimension
 * @pads: the begin pads of all spatial dimensions, then the end pads; a negative pad crops X
 *
 * Attributes of DeformConv.
 */
typedef struct
{
  gint64 group, offset_group;
  CleaveInts strides, dilations, pads;
} CleaveDeformConvAttrs;

/**
 * CleaveCol2ImAttrs:
 * @image_shape: spatial extents of the result
 * @block_shape: extents of a block
 * @dilations: one for each spatial dimension
 * @pads: the begin pads of all spatial dimensions, then the end pads
 * @strides: one for each spatial dimension
 *
 * Attributes of Col2Im.
 */
typedef struct
{
  CleaveInts image_shape, block_shape, dilations, pads, strides;
} CleaveCol2ImAttrs;

/**
 * CleavePoolAttrs:
 * @layout: which dimensions are N, C and spatial
 * @kernel_shape: extents of the window
 * @strides: one for each spatial dimension
 * @dilations: one for each spatial dimension
 * @pads: the begin pads of all spatial dimensions, then the end pads
 * @ceil_mode: round the extents of the result up
 * @count_include_pad: AveragePool: divide by the number of elements including the padding
 * @storage_order: MaxPool: the order in which indices count elements: 0 for row-major, 1 for
 * column-major
 * @p: LpPool: the exponent, 2 by default
 * @whole: for a piece of a MaxPool with indices: extents of the whole value of which X is a part.
 * The indices are positions in the whole value. Empty if X is the whole value
 * @begin: for a piece of a MaxPool with indices: for each dimension, the index of the first element
 * of X in the whole value
 *
 * Attributes of MaxPool, AveragePool and LpPool.
 */
typedef struct
{
  CleaveLayout layout;
  CleaveInts kernel_shape, strides, dilations, pads;
  gboolean ceil_mode;
  gboolean count_include_pad;
  gint64 storage_order;
  gint64 p;
  CleaveInts whole, begin;
} CleavePoolAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_pool (CleaveGraph *graph,
                                                const char *op,
                                                const char *name,
                                                CleaveResult *x,
                                                const CleavePoolAttrs *attrs,
                                                GError **error);

/**
 * CleaveGlobalPoolAttrs:
 * @layout: which dimensions are N, C and spatial
 * @p: GlobalLpPool: the exponent, 2 by default
 *
 * Attributes of GlobalAveragePool, GlobalMaxPool and GlobalLpPool.
 */
typedef struct
{
  CleaveLayout layout;
  gint64 p;
} CleaveGlobalPoolAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_global_pool (CleaveGraph *graph,
                                                       const char *op,
                                                       const char *name,
                                                       CleaveResult *x,
                                                       const CleaveGlobalPoolAttrs *attrs,
                                                       GError **error);

/**
 * CleaveGemmAttrs:
 * @alpha: factor of the product, 1 by default
 * @beta: factor of C, 1 by default
 * @transA: transpose A
 * @transB: transpose B
 *
 * Attributes of Gemm.
 */
typedef struct
{
  double alpha, beta;
  gboolean transA, transB;
} CleaveGemmAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_gemm (CleaveGraph *graph,
                                                const char *name,
                                                CleaveResult *a,
                                                CleaveResult *b,
                                                CleaveResult *c,
                                                const CleaveGemmAttrs *attrs,
                                                GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_matmul (
    CleaveGraph *graph, const char *name, CleaveResult *a, CleaveResult *b, GError **error);

/**
 * CleaveEinsumAttrs:
 * @equation: the equation, such as `ij,jk->ik`
 *
 * Attributes of Einsum.
 */
typedef struct
{
  char *equation;
} CleaveEinsumAttrs;

/**
 * CleaveNormAttrs:
 * @layout: which dimensions are N, C and spatial
 * @epsilon: added to the variance, 1e-5 by default
 *
 * Attributes of BatchNormalization, in inference, and InstanceNormalization.
 */
typedef struct
{
  CleaveLayout layout;
  double epsilon;
} CleaveNormAttrs;

/**
 * CleaveLpNormAttrs:
 * @axis: the dimension along which norms are computed, -1 by default
 * @p: the exponent: 1, or 2, the default
 *
 * Attributes of LpNormalization.
 */
typedef struct
{
  gint64 axis;
  gint64 p;
} CleaveLpNormAttrs;

/**
 * CleaveLayerNormAttrs:
 * @axis: the first dimension to normalize, -1 by default; all dimensions after it are normalized,
 * too
 * @epsilon: added to the variance, 1e-5 by default
 * @stash_type: element type of Mean and InvStdDev, as an ONNX number; must be 1, which is float32
 *
 * Attributes of LayerNormalization.
 */
typedef struct
{
  gint64 axis;
  double epsilon;
  gint64 stash_type;
} CleaveLayerNormAttrs;

/**
 * CleaveDirection:
 * @CLEAVE_DIRECTION_FORWARD: from the first step
 * @CLEAVE_DIRECTION_REVERSE: from the last step
 * @CLEAVE_DIRECTION_BIDIRECTIONAL: in both directions
 *
 * The direction of a recurrent op.
 */
typedef enum {
  CLEAVE_DIRECTION_FORWARD,
  CLEAVE_DIRECTION_REVERSE,
  CLEAVE_DIRECTION_BIDIRECTIONAL,
} CleaveDirection;

/**
 * CleaveActivation:
 * @CLEAVE_ACTIVATION_TANH: Tanh
 * @CLEAVE_ACTIVATION_SIGMOID: Sigmoid
 * @CLEAVE_ACTIVATION_RELU: Relu
 * @CLEAVE_ACTIVATION_AFFINE: Affine
 * @CLEAVE_ACTIVATION_LEAKY_RELU: LeakyRelu
 * @CLEAVE_ACTIVATION_THRESHOLDED_RELU: ThresholdedRelu
 * @CLEAVE_ACTIVATION_SCALED_TANH: ScaledTanh
 * @CLEAVE_ACTIVATION_HARD_SIGMOID: HardSigmoid
 * @CLEAVE_ACTIVATION_ELU: Elu
 * @CLEAVE_ACTIVATION_SOFTSIGN: Softsign
 * @CLEAVE_ACTIVATION_SOFTPLUS: Softplus
 *
 * An activation of a recurrent op, as ONNX names it.
 */
typedef enum {
  CLEAVE_ACTIVATION_TANH,
  CLEAVE_ACTIVATION_SIGMOID,
  CLEAVE_ACTIVATION_RELU,
  CLEAVE_ACTIVATION_AFFINE,
  CLEAVE_ACTIVATION_LEAKY_RELU,
  CLEAVE_ACTIVATION_THRESHOLDED_RELU,
  CLEAVE_ACTIVATION_SCALED_TANH,
  CLEAVE_ACTIVATION_HARD_SIGMOID,
  CLEAVE_ACTIVATION_ELU,
  CLEAVE_ACTIVATION_SOFTSIGN,
  CLEAVE_ACTIVATION_SOFTPLUS,
} CleaveActivation;

/**
 * CleaveRecurrentAttrs:
 * @direction: the direction
 * @activations: a [enum@Activation] for each gate of a step, for each direction
 * @activation_alpha: alpha of each activation that has an alpha, in the order of @activations
 * @activation_beta: beta of each activation that has a beta, in the order of @activations
 * @clip: bound of the absolute value of the sums of the gates; 0 for none
 * @hidden_size: size of the state; 0: the size that the shape of R gives
 * @layout: 0 if the steps are the first dimension of X and Y, 1 if the batch is the first dimension
 * @linear_before_reset: GRU: multiply by R before the reset gate is applied
 * @input_forget: LSTM: couple the input and forget gates
 *
 * Attributes of RNN, GRU and LSTM.
 */
typedef struct
{
  CleaveDirection direction;
  CleaveInts activations;
  CleaveDoubles activation_alpha, activation_beta;
  double clip;
  gint64 hidden_size;
  gint64 layout;
  gboolean linear_before_reset;
  gboolean input_forget;
} CleaveRecurrentAttrs;

/**
 * CleaveLrnAttrs:
 * @layout: which dimensions are N, C and spatial
 * @alpha: factor of the sum
 * @beta: exponent
 * @bias: added to the sum
 * @size: number of channels that are summed
 *
 * Attributes of LRN.
 */
typedef struct
{
  CleaveLayout layout;
  double alpha, beta, bias;
  gint64 size;
} CleaveLrnAttrs;

/**
 * CleaveDropoutAttrs:
 * @ratio: the fraction of elements to drop in training, 0.5 by default
 * @training_mode: must be %FALSE
 * @seed: seed of the random numbers in training
 *
 * Attributes of Dropout, which returns its operand in inference.
 */
typedef struct
{
  double ratio;
  gboolean training_mode;
  gint64 seed;
} CleaveDropoutAttrs;

/**
 * CleaveMaxUnpoolAttrs:
 * @kernel_shape: extents of the window
 * @strides: one for each spatial dimension
 * @pads: the begin pads of all spatial dimensions, then the end pads
 * @output_shape: shape of the result; empty to infer it
 *
 * Attributes of MaxUnpool.
 */
typedef struct
{
  CleaveInts kernel_shape, strides, pads;
  CleaveInts output_shape;
} CleaveMaxUnpoolAttrs;

G_END_DECLS
