/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The attribute struct of each op, and typed constructors for common ops. Any op can be added by
 * cleave_graph_add (graph, cleave_op_lookup ("LRN"), …).
 *
 * Fields have the names of the ONNX attributes and mean the same; docs/operators.md lists the ops.
 * Where 0 is not a legal value, 0 stands for the default; an empty list stands for the default,
 * too. NULL in place of a struct stands for all defaults. Lists for spatial dimensions are in the
 * order of the dimensions: D, H, W. */

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
 * CleaveInputAttrs:
 * @type: element type and shape of the input
 *
 * Attributes of Input.
 */
typedef struct
{
  CleaveTensorType type;
} CleaveInputAttrs;

/**
 * CleaveConstantAttrs:
 * @value: the value
 *
 * Attributes of Constant.
 */
typedef struct
{
  CleaveTensor *value;
} CleaveConstantAttrs;

/**
 * CleaveAssembleAttrs:
 * @ranges: (element-type CleaveRange): for each operand, the range of the result that it fills;
 * together the ranges cover the result
 *
 * Attributes of Assemble, which joins pieces to one value.
 */
typedef struct
{
  GArray *ranges;
} CleaveAssembleAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_assemble (CleaveGraph *graph,
                                                    const char *name,
                                                    CleaveResult *const *parts,
                                                    const CleaveRange *ranges,
                                                    guint n_parts,
                                                    GError **error);

/**
 * CleaveConvAttrs:
 * @layout: which dimensions are N, C and spatial
 * @group: number of groups
 * @strides: one for each spatial dimension
 * @dilations: one for each spatial dimension
 * @pads: all begins, then all ends
 * @winograd: empty, or a phase, 0 or 1, for each spatial dimension
 *
 * Attributes of Conv.
 *
 * If @winograd is not empty, sums are computed by Winograd's algorithm F(2x2, 3x3) in float32. It
 * needs float32, float16 or bfloat16 and a 3x3 kernel with strides and dilations of 1. The result
 * is computed in tiles of 2x2 elements. With phase 0, the first tile begins at the first element of
 * the dimension; with phase 1, one element before it. A piece gets the phase with which its tiles
 * are also tiles of the whole node, so that its results are bit-identical.
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
 * @pads: all begins, then all ends
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
 * @pads: all begins, then all ends; a negative pad crops X
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
 * @pads: all begins, then all ends
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
 * @pads: all begins, then all ends
 * @ceil_mode: round the extents of the result up
 * @count_include_pad: AveragePool: divide by the number of elements including the padding
 * @storage_order: MaxPool: the order in which indices count elements: 0 for row-major, 1 for
 * column-major
 * @p: LpPool: the exponent, 2 by default
 * @whole: for a piece of a MaxPool with indices: extents of the whole value that X is a part of;
 * the indices count in the whole value. Empty if X is the whole value
 * @begin: MaxPool of a piece with indices: the first index of X in the whole value, for each
 * dimension
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
 * @axis: the dimension, -1 by default
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
 * @axis: the first of the dimensions to normalize, -1 by default; those after it are normalized,
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
 * @activation_alpha: alpha of each activation that has one, in their order
 * @activation_beta: beta of each activation that has one, in their order
 * @clip: bound of the absolute value of the sums of the gates; 0 for none
 * @hidden_size: size of the state; 0 to take it from R
 * @layout: 0 if steps are the first dimension, 1 if the batch is
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
 * CleaveElementwiseAttrs:
 * @alpha: the ONNX attribute alpha
 * @beta: the ONNX attribute beta
 * @gamma: the ONNX attribute gamma
 *
 * Attributes of LeakyRelu, Elu, Selu, HardSigmoid and other element-wise ops. Each op reads the
 * attributes that it has in ONNX.
 */
typedef struct
{
  double alpha, beta, gamma;
} CleaveElementwiseAttrs;

/**
 * CleaveIsInfAttrs:
 * @detect_negative: report minus infinity, %TRUE by default
 * @detect_positive: report plus infinity, %TRUE by default
 *
 * Attributes of IsInf.
 */
typedef struct
{
  gboolean detect_negative, detect_positive;
} CleaveIsInfAttrs;

/**
 * CleaveShrinkAttrs:
 * @lambd: threshold, 0.5 by default
 * @bias: subtracted from elements above the threshold, and added to those below its negative
 *
 * Attributes of Shrink.
 */
typedef struct
{
  double lambd, bias;
} CleaveShrinkAttrs;

/**
 * CleaveModAttrs:
 * @fmod: the remainder has the sign of A instead of B; must be %TRUE for floats
 *
 * Attributes of Mod.
 */
typedef struct
{
  gboolean fmod;
} CleaveModAttrs;

/**
 * CleaveShiftDirection:
 * @CLEAVE_SHIFT_LEFT: to the left
 * @CLEAVE_SHIFT_RIGHT: to the right
 *
 * The direction of BitShift.
 */
typedef enum {
  CLEAVE_SHIFT_LEFT,
  CLEAVE_SHIFT_RIGHT,
} CleaveShiftDirection;

/**
 * CleaveBitShiftAttrs:
 * @direction: the direction
 *
 * Attributes of BitShift.
 */
typedef struct
{
  CleaveShiftDirection direction;
} CleaveBitShiftAttrs;

/* Add an element-wise op by its ONNX name: unary ones such as Relu and Sqrt, and binary ones such
 * as Add, Mul and Less, which broadcast their operands. */
CLEAVE_API CleaveResult *cleave_graph_add_unary (CleaveGraph *graph,
                                                 const char *op,
                                                 const char *name,
                                                 CleaveResult *x,
                                                 const CleaveElementwiseAttrs *attrs,
                                                 GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_binary (CleaveGraph *graph,
                                                  const char *op,
                                                  const char *name,
                                                  CleaveResult *a,
                                                  CleaveResult *b,
                                                  GError **error);

/**
 * CleaveClipAttrs:
 * @min: lower bound, minus infinity by default
 * @max: upper bound, plus infinity by default
 *
 * Attributes of Clip.
 */
typedef struct
{
  double min, max;
} CleaveClipAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_clip (CleaveGraph *graph,
                                                const char *name,
                                                CleaveResult *x,
                                                const CleaveClipAttrs *attrs,
                                                GError **error);

/**
 * CleaveCastAttrs:
 * @to: element type of the result
 *
 * Attributes of Cast.
 */
typedef struct
{
  CleaveElement to;
} CleaveCastAttrs;

/**
 * CleaveAxisAttrs:
 * @axis: the dimension; negative values count from the end
 *
 * Attributes of Softmax, LogSoftmax, Hardmax, Concat, Gather, GatherElements and Flatten.
 */
typedef struct
{
  gint64 axis;
} CleaveAxisAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_softmax (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 axis, GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_concat (CleaveGraph *graph,
                                                  const char *name,
                                                  CleaveResult *const *operands,
                                                  guint n_operands,
                                                  gint64 axis,
                                                  GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_flatten (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 axis, GError **error);

/**
 * CleaveSplitAttrs:
 * @axis: the dimension; negative values count from the end
 * @sizes: (element-type gint64): the extent of each result in this dimension
 *
 * Attributes of Split.
 */
typedef struct
{
  gint64 axis;
  GArray *sizes;
} CleaveSplitAttrs;

CLEAVE_API CleaveNode *cleave_graph_add_split (CleaveGraph *graph,
                                               const char *name,
                                               CleaveResult *x,
                                               gint64 axis,
                                               const gint64 *sizes,
                                               guint n_sizes,
                                               GError **error);

CLEAVE_API GType cleave_axis_attrs_get_gtype (void);
CLEAVE_API GType cleave_slice_attrs_get_gtype (void);
CLEAVE_API GType cleave_split_attrs_get_gtype (void);
CLEAVE_API void cleave_split_attrs_free (CleaveSplitAttrs *attrs);
CLEAVE_API CleaveSplitAttrs *cleave_split_attrs_new (const CleaveTensorType *operand,
                                                     gint64 axis,
                                                     const gint64 *sizes,
                                                     guint n_sizes,
                                                     GError **error);

/**
 * CleaveSliceAttrs:
 * @starts: the first index in each of the dimensions of @axes
 * @ends: the index to stop before in each of these dimensions
 * @axes: the dimensions; empty for all
 * @steps: the step in each of these dimensions; empty for 1
 *
 * Attributes of Slice. A node stores one start, end and step for each dimension of the operand. If
 * a step is positive, the stored end is one more than the last index that is read.
 */
typedef struct
{
  CleaveInts starts, ends, axes, steps;
} CleaveSliceAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_slice (CleaveGraph *graph,
                                                 const char *name,
                                                 CleaveResult *x,
                                                 const CleaveSliceAttrs *attrs,
                                                 GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_slice_range (CleaveGraph *graph,
                                                       const char *name,
                                                       CleaveResult *x,
                                                       const CleaveRange *range,
                                                       GError **error);

/**
 * CleavePadMode:
 * @CLEAVE_PAD_CONSTANT: a constant
 * @CLEAVE_PAD_REFLECT: the operand mirrored at its first and last element, which are not repeated
 * @CLEAVE_PAD_EDGE: the nearest element of the operand
 *
 * The elements with which Pad fills the border.
 */
typedef enum {
  CLEAVE_PAD_CONSTANT,
  CLEAVE_PAD_REFLECT,
  CLEAVE_PAD_EDGE,
} CleavePadMode;

/**
 * CleavePadAttrs:
 * @mode: the elements that fill the border
 * @pads: all begins, then all ends; a negative pad crops the operand
 * @constant_value: the constant
 *
 * Attributes of Pad.
 */
typedef struct
{
  CleavePadMode mode;
  CleaveInts pads;
  double constant_value;
} CleavePadAttrs;

/**
 * CleaveTransposeAttrs:
 * @perm: dimension i of the result is dimension perm[i] of the operand; empty to reverse the
 * dimensions
 *
 * Attributes of Transpose.
 */
typedef struct
{
  CleaveInts perm;
} CleaveTransposeAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_transpose (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *perm, GError **error);

/**
 * CleaveReshapeAttrs:
 * @shape: the shape of the result. Reshape: -1 stands for the extent that makes the number of
 * elements the same, and 0 for the extent of the operand
 * @allowzero: Reshape: 0 stands for an extent of 0
 *
 * Attributes of Reshape and Expand. A node stores the inferred shape.
 */
typedef struct
{
  CleaveInts shape;
  gboolean allowzero;
} CleaveReshapeAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_reshape (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *shape, GError **error);
/**
 * CleaveAxesAttrs:
 * @axes: the dimensions; negative values count from the end
 *
 * Attributes of Squeeze, Unsqueeze and MeanVarianceNormalization.
 */
typedef struct
{
  CleaveInts axes;
} CleaveAxesAttrs;

/**
 * CleaveTileAttrs:
 * @repeats: number of copies in each dimension
 *
 * Attributes of Tile.
 */
typedef struct
{
  CleaveInts repeats;
} CleaveTileAttrs;

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
 * CleaveGatherNdAttrs:
 * @batch_dims: number of batch dimensions
 *
 * Attributes of GatherND.
 */
typedef struct
{
  gint64 batch_dims;
} CleaveGatherNdAttrs;

/**
 * CleaveScatterReduction:
 * @CLEAVE_SCATTER_NONE: replaces the element of the operand by the update
 * @CLEAVE_SCATTER_ADD: adds the update to the element
 * @CLEAVE_SCATTER_MUL: multiplies the element by the update
 * @CLEAVE_SCATTER_MAX: takes the maximum of the element and the update
 * @CLEAVE_SCATTER_MIN: takes the minimum of the element and the update
 *
 * How a scatter op combines an element of the operand with an update.
 */
typedef enum {
  CLEAVE_SCATTER_NONE,
  CLEAVE_SCATTER_ADD,
  CLEAVE_SCATTER_MUL,
  CLEAVE_SCATTER_MAX,
  CLEAVE_SCATTER_MIN,
} CleaveScatterReduction;

/**
 * CleaveScatterAttrs:
 * @axis: ScatterElements: the dimension
 * @reduction: how elements are combined with updates
 *
 * Attributes of ScatterElements and ScatterND.
 */
typedef struct
{
  gint64 axis;
  CleaveScatterReduction reduction;
} CleaveScatterAttrs;

/**
 * CleaveOneHotAttrs:
 * @depth: number of classes
 * @axis: the dimension of the result that holds the classes, -1 by default
 * @part: the first class of the result and the class after the last; empty for all classes
 *
 * Attributes of OneHot.
 */
typedef struct
{
  gint64 depth, axis;
  CleaveInts part;
} CleaveOneHotAttrs;

/**
 * CleaveReverseSequenceAttrs:
 * @batch_axis: the batch dimension, 1 by default
 * @time_axis: the dimension to reverse
 *
 * Attributes of ReverseSequence.
 */
typedef struct
{
  gint64 batch_axis, time_axis;
} CleaveReverseSequenceAttrs;

/**
 * CleaveEyeAttrs:
 * @dtype: element type of the result, by default that of the operand
 * @k: the diagonal that holds ones; 0 is the main diagonal, positive values are above it
 *
 * Attributes of EyeLike.
 */
typedef struct
{
  CleaveElement dtype;
  gint64 k;
} CleaveEyeAttrs;

/**
 * CleaveTriluAttrs:
 * @k: the diagonal that bounds the triangle; 0 is the main diagonal, positive values are above it
 * @upper: retain the elements on and above the diagonal, otherwise those on and below it; %TRUE by
 * default
 *
 * Attributes of Trilu.
 */
typedef struct
{
  gint64 k;
  gboolean upper;
} CleaveTriluAttrs;

/**
 * CleaveRangeAttrs:
 * @start: the first element
 * @limit: the bound, which is not included
 * @delta: the step
 *
 * Attributes of Range, which has no operand. The three are scalars with the same element type.
 */
typedef struct
{
  CleaveTensor *start, *limit, *delta;
} CleaveRangeAttrs;

/**
 * CleaveWindowFunctionAttrs:
 * @size: number of elements
 * @periodic: periodic, not symmetric; %TRUE by default
 * @output_datatype: element type, float32 by default
 *
 * Attributes of HannWindow, HammingWindow and BlackmanWindow, which have no operand.
 */
typedef struct
{
  gint64 size;
  gboolean periodic;
  CleaveElement output_datatype;
} CleaveWindowFunctionAttrs;

/**
 * CleaveMelAttrs:
 * @num_mel_bins: number of mel bins
 * @dft_length: length of the DFT
 * @sample_rate: samples per second
 * @lower_edge_hertz: lowest frequency, in Hz
 * @upper_edge_hertz: highest frequency, in Hz
 * @output_datatype: element type, float32 by default
 *
 * Attributes of MelWeightMatrix, which has no operand.
 */
typedef struct
{
  gint64 num_mel_bins, dft_length, sample_rate;
  double lower_edge_hertz, upper_edge_hertz;
  CleaveElement output_datatype;
} CleaveMelAttrs;

/**
 * CleaveDftAttrs:
 * @dft_length: number of points; 0 for the extent of the operand
 * @axis: the dimension, 1 by default
 * @inverse: compute the inverse transform
 * @onesided: return the first half of the spectrum
 *
 * Attributes of DFT.
 */
typedef struct
{
  gint64 dft_length;
  gint64 axis;
  gboolean inverse, onesided;
} CleaveDftAttrs;

/**
 * CleaveStftAttrs:
 * @frame_step: samples from the begin of a frame to the begin of the next
 * @frame_length: samples of a frame; 0 for the length of the window
 * @onesided: return the first half of the spectrum, %TRUE by default; for a complex signal, both
 * halves are returned always
 *
 * Attributes of STFT.
 */
typedef struct
{
  gint64 frame_step;
  gint64 frame_length;
  gboolean onesided;
} CleaveStftAttrs;

/**
 * CleaveGridMode:
 * @CLEAVE_GRID_BILINEAR: linear in each dimension
 * @CLEAVE_GRID_NEAREST: the nearest element
 * @CLEAVE_GRID_BICUBIC: cubic convolution
 *
 * How GridSample interpolates.
 */
typedef enum {
  CLEAVE_GRID_BILINEAR,
  CLEAVE_GRID_NEAREST,
  CLEAVE_GRID_BICUBIC,
} CleaveGridMode;

/**
 * CleaveGridPadding:
 * @CLEAVE_GRID_ZEROS: zeros
 * @CLEAVE_GRID_BORDER: the nearest element of X
 * @CLEAVE_GRID_REFLECTION: X mirrored at its borders
 *
 * The elements that GridSample reads outside of X.
 */
typedef enum {
  CLEAVE_GRID_ZEROS,
  CLEAVE_GRID_BORDER,
  CLEAVE_GRID_REFLECTION,
} CleaveGridPadding;

/**
 * CleaveGridSampleAttrs:
 * @mode: how to interpolate
 * @padding_mode: the elements outside of X
 * @align_corners: the coordinates -1 and 1 are the centers of the corner elements instead of their
 * outer edges
 *
 * Attributes of GridSample.
 */
typedef struct
{
  CleaveGridMode mode;
  CleaveGridPadding padding_mode;
  gboolean align_corners;
} CleaveGridSampleAttrs;

/**
 * CleaveRoiMode:
 * @CLEAVE_ROI_AVG: the mean of the samples
 * @CLEAVE_ROI_MAX: the maximum of the samples
 *
 * How RoiAlign pools.
 */
typedef enum {
  CLEAVE_ROI_AVG,
  CLEAVE_ROI_MAX,
} CleaveRoiMode;

/**
 * CleaveRoiCoordinates:
 * @CLEAVE_ROI_HALF_PIXEL: coordinates of regions are shifted by -0.5
 * @CLEAVE_ROI_OUTPUT_HALF_PIXEL: coordinates of regions are not shifted
 *
 * How RoiAlign maps coordinates.
 */
typedef enum {
  CLEAVE_ROI_HALF_PIXEL,
  CLEAVE_ROI_OUTPUT_HALF_PIXEL,
} CleaveRoiCoordinates;

/**
 * CleaveRoiAlignAttrs:
 * @mode: how to pool
 * @coordinate_transformation_mode: how to map coordinates
 * @output_height: rows of the result
 * @output_width: columns of the result
 * @sampling_ratio: number of samples of a bin in each dimension; 0 for one per element of X
 * @spatial_scale: factor from coordinates of regions to those of X, 1 by default
 *
 * Attributes of RoiAlign.
 */
typedef struct
{
  CleaveRoiMode mode;
  CleaveRoiCoordinates coordinate_transformation_mode;
  gint64 output_height, output_width;
  gint64 sampling_ratio;
  double spatial_scale;
} CleaveRoiAlignAttrs;

/**
 * CleaveMaxRoiPoolAttrs:
 * @pooled_shape: rows and columns of the result
 * @spatial_scale: factor from coordinates of regions to those of X, 1 by default
 *
 * Attributes of MaxRoiPool.
 */
typedef struct
{
  CleaveInts pooled_shape;
  double spatial_scale;
} CleaveMaxRoiPoolAttrs;

/**
 * CleaveMaxUnpoolAttrs:
 * @kernel_shape: extents of the window
 * @strides: one for each spatial dimension
 * @pads: all begins, then all ends
 * @output_shape: shape of the result; empty to infer it
 *
 * Attributes of MaxUnpool.
 */
typedef struct
{
  CleaveInts kernel_shape, strides, pads;
  CleaveInts output_shape;
} CleaveMaxUnpoolAttrs;

/**
 * CleaveTfidfMode:
 * @CLEAVE_TFIDF_TF: term frequency
 * @CLEAVE_TFIDF_IDF: inverse document frequency
 * @CLEAVE_TFIDF_TFIDF: product of term frequency and inverse document frequency
 *
 * The weights that TfIdfVectorizer returns.
 */
typedef enum {
  CLEAVE_TFIDF_TF,
  CLEAVE_TFIDF_IDF,
  CLEAVE_TFIDF_TFIDF,
} CleaveTfidfMode;

/**
 * CleaveTfidfAttrs:
 * @mode: must be %CLEAVE_TFIDF_TF
 * @min_gram_length: length of the shortest n-grams
 * @max_gram_length: length of the longest n-grams
 * @max_skip_count: largest number of elements that may be skipped between two elements of an n-gram
 * @ngram_counts: (element-type gint64): for each length from 1, the index in @pool_int64s at which
 * the n-grams of this length begin
 * @ngram_indexes: (element-type gint64): for each n-gram, the element of the result that counts it
 * @pool_int64s: (element-type gint64): the elements of all n-grams, one n-gram after the other
 *
 * Attributes of TfIdfVectorizer, for n-grams of integers. The importer adds a Mul for weights.
 */
typedef struct
{
  CleaveTfidfMode mode;
  gint64 min_gram_length, max_gram_length, max_skip_count;
  GArray *ngram_counts, *ngram_indexes, *pool_int64s;
} CleaveTfidfAttrs;

/**
 * CleaveShapeAttrs:
 * @start: the first dimension
 * @end: the dimension after the last; %CLEAVE_SHAPE_END, the default, stands for the rank
 *
 * Attributes of Shape.
 */
typedef struct
{
  gint64 start, end;
} CleaveShapeAttrs;

/* The `end` of a Shape that returns all dimensions from `start` on. */
#define CLEAVE_SHAPE_END G_MAXINT32

/**
 * CleaveFillAttrs:
 * @shape: shape of the result
 * @value: a tensor of one element, which fills the result
 *
 * Attributes of ConstantOfShape, which has no operand.
 */
typedef struct
{
  CleaveInts shape;
  CleaveTensor *value;
} CleaveFillAttrs;

/**
 * CleaveResizeMode:
 * @CLEAVE_RESIZE_NEAREST: the nearest element
 * @CLEAVE_RESIZE_LINEAR: linear in each dimension
 * @CLEAVE_RESIZE_CUBIC: cubic convolution
 *
 * How Resize interpolates.
 */
typedef enum {
  CLEAVE_RESIZE_NEAREST,
  CLEAVE_RESIZE_LINEAR,
  CLEAVE_RESIZE_CUBIC,
} CleaveResizeMode;

/**
 * CleaveResizeCoordinates:
 * @CLEAVE_RESIZE_HALF_PIXEL: half_pixel
 * @CLEAVE_RESIZE_PYTORCH_HALF_PIXEL: pytorch_half_pixel
 * @CLEAVE_RESIZE_ALIGN_CORNERS: align_corners
 * @CLEAVE_RESIZE_ASYMMETRIC: asymmetric
 * @CLEAVE_RESIZE_TF_CROP_AND_RESIZE: tf_crop_and_resize
 *
 * How Resize maps coordinates of the result to coordinates of X. ONNX defines these names.
 */
typedef enum {
  CLEAVE_RESIZE_HALF_PIXEL,
  CLEAVE_RESIZE_PYTORCH_HALF_PIXEL,
  CLEAVE_RESIZE_ALIGN_CORNERS,
  CLEAVE_RESIZE_ASYMMETRIC,
  CLEAVE_RESIZE_TF_CROP_AND_RESIZE,
} CleaveResizeCoordinates;

/**
 * CleaveResizeNearest:
 * @CLEAVE_RESIZE_ROUND_PREFER_FLOOR: to the nearest, halves down
 * @CLEAVE_RESIZE_ROUND_PREFER_CEIL: to the nearest, halves up
 * @CLEAVE_RESIZE_FLOOR: down
 * @CLEAVE_RESIZE_CEIL: up
 *
 * How Resize rounds coordinates to the nearest element.
 */
typedef enum {
  CLEAVE_RESIZE_ROUND_PREFER_FLOOR,
  CLEAVE_RESIZE_ROUND_PREFER_CEIL,
  CLEAVE_RESIZE_FLOOR,
  CLEAVE_RESIZE_CEIL,
} CleaveResizeNearest;

/**
 * CleaveResizeAttrs:
 * @mode: how to interpolate
 * @coordinate_transformation_mode: how to map coordinates
 * @nearest_mode: how to round coordinates
 * @cubic_coeff_a: coefficient of the cubic convolution, -0.75 by default
 * @exclude_outside: give elements outside of X the weight 0, and scale the other weights to a sum
 * of 1
 * @extrapolation_value: the value of elements outside of the region
 * @roi: starts, then ends of the region, for %CLEAVE_RESIZE_TF_CROP_AND_RESIZE
 * @scales: factor of each dimension; empty if @sizes has entries
 * @sizes: extents of the result; empty if @scales has entries
 * @phase: for each dimension, the index in the whole result of the piece's first element
 * @begin: for each dimension, the index in the whole operand of the piece's first operand element
 * @extents: for each dimension, the extent of the whole operand; 0 if the factor is an integer,
 * since the extent is not needed then
 * @lengths: for each dimension, the extent of the whole result; 0 if the factor is an integer
 *
 * Attributes of Resize. Only pieces have the last four fields: with them, each piece computes
 * exactly the coordinates of the whole node.
 */
typedef struct
{
  CleaveResizeMode mode;
  CleaveResizeCoordinates coordinate_transformation_mode;
  CleaveResizeNearest nearest_mode;
  double cubic_coeff_a;
  gboolean exclude_outside;
  double extrapolation_value;
  CleaveDoubles roi, scales;
  CleaveInts sizes;
  CleaveInts phase, begin, extents, lengths;
} CleaveResizeAttrs;

/**
 * CleaveReduceAttrs:
 * @axes: the dimensions to reduce; empty for all
 * @keepdims: retain reduced dimensions with extent 1, %TRUE by default
 * @noop_with_empty_axes: if @axes is empty, reduce no dimension instead of all
 *
 * Attributes of ReduceMean, ReduceSum, ReduceMax and the other reductions.
 */
typedef struct
{
  CleaveInts axes;
  gboolean keepdims;
  gboolean noop_with_empty_axes;
} CleaveReduceAttrs;

/**
 * CleaveArgAttrs:
 * @axis: the dimension to reduce
 * @keepdims: retain the reduced dimension with extent 1, %TRUE by default
 * @select_last_index: select the last of several equal elements instead of the first
 *
 * Attributes of ArgMax and ArgMin.
 */
typedef struct
{
  gint64 axis;
  gboolean keepdims;
  gboolean select_last_index;
} CleaveArgAttrs;

/**
 * CleaveTopkAttrs:
 * @k: number of elements
 * @axis: the dimension, -1 by default
 * @largest: select the largest elements instead of the smallest
 * @sorted: return the elements in order
 *
 * Attributes of TopK.
 */
typedef struct
{
  gint64 k, axis;
  gboolean largest, sorted;
} CleaveTopkAttrs;

/**
 * CleaveCumsumAttrs:
 * @axis: the dimension
 * @exclusive: do not include an element in its own sum
 * @reverse: sum from the end of the dimension
 *
 * Attributes of CumSum.
 */
typedef struct
{
  gint64 axis;
  gboolean exclusive, reverse;
} CleaveCumsumAttrs;

/**
 * CleaveDepthMode:
 * @CLEAVE_DEPTH_DCR: depth, column, row
 * @CLEAVE_DEPTH_CRD: column, row, depth
 *
 * The order in which the channels of an element are distributed over its block.
 */
typedef enum {
  CLEAVE_DEPTH_DCR,
  CLEAVE_DEPTH_CRD,
} CleaveDepthMode;

/**
 * CleaveDepthAttrs:
 * @blocksize: extent of a block
 * @mode: DepthToSpace: the order of channels
 *
 * Attributes of DepthToSpace and SpaceToDepth.
 */
typedef struct
{
  gint64 blocksize;
  CleaveDepthMode mode;
} CleaveDepthAttrs;

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSplitAttrs, cleave_split_attrs_free)

G_END_DECLS
