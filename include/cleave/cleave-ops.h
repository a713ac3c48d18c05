/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes of the ops, and typed constructors of those that are often written by hand; every op
 * is added by cleave_graph_add (graph, cleave_op_lookup ("LRN"), …).  Attributes have their ONNX
 * names and, where zero is not legal, zero or an empty list stands for the default.  NULL
 * attributes are all defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveLayout:
 * @CLEAVE_LAYOUT_NCHW: N, C, then spatial dimensions
 * @CLEAVE_LAYOUT_NHWC: N, spatial dimensions, then C
 *
 * Which dimensions of image-like values are N, C and spatial.
 */
typedef enum {
  CLEAVE_LAYOUT_NCHW,
  CLEAVE_LAYOUT_NHWC,
} CleaveLayout;

/**
 * CleaveInputAttrs:
 * @type: element type and shape
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
 * @ranges: (element-type CleaveRange): the range of the result that each operand is; together they
 * cover it
 *
 * Attributes of Assemble.
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
 * @winograd: empty, or the phase, 0 or 1, in each spatial dimension
 *
 * Attributes of Conv.
 *
 * With @winograd the sums are those of Winograd's F(2x2, 3x3), for float32, float16 and
 * bfloat16, computed in float32, and 3x3 kernels whose strides and dilations are 1: tiles of 2x2
 * elements of the result begin at the first element of a dimension, or, in the phase 1, one before
 * it.  Pieces of a node get the phases that make their tiles the node's own.
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
 * @output_padding: added to the end of each spatial dimension
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
 * @offset_group: number of groups of channels of X that share offsets and mask
 * @strides: one for each spatial dimension
 * @dilations: one for each spatial dimension
 * @pads: all begins, then all ends; below 0 where the result begins or ends inside X
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
 * @count_include_pad: AveragePool: count the padding
 * @storage_order: MaxPool: the order of its indices; 1 for column-major
 * @p: LpPool: the exponent, 2 by default
 * @whole: MaxPool: extents of the value that X is a part of, in which the indices count; empty if X
 * is the whole
 * @begin: MaxPool: where X begins in it
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
 * @axis: the first of the dimensions to normalise, -1 by default
 * @epsilon: added to the variance, 1e-5 by default
 * @stash_type: element type of Mean and InvStdDev, as ONNX numbers it: 1, float32
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
 * @CLEAVE_DIRECTION_BIDIRECTIONAL: both
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
 * @activation_alpha: alpha of those that have one
 * @activation_beta: beta of those that have one
 * @clip: bound of the sums of the gates; 0 for none
 * @hidden_size: size of the state; 0 for that of R
 * @layout: 1 if the batch is the first dimension
 * @linear_before_reset: GRU: apply the linear transformation before the reset gate
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
 * @size: number of channels in a sum
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
 * @alpha: alpha of the op
 * @beta: beta of the op
 * @gamma: gamma of the op
 *
 * Attributes of LeakyRelu, Elu, Selu, HardSigmoid and other element-wise ops.
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
 * @bias: subtracted from what is larger
 *
 * Attributes of Shrink.
 */
typedef struct
{
  double lambd, bias;
} CleaveShrinkAttrs;

/**
 * CleaveModAttrs:
 * @fmod: the remainder has the sign of A, not of B; needed for floats
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

/* Relu, Sqrt … (`op` is the ONNX name); Add, Mul, Less … with broadcasting */
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
 * @axis: the dimension, negative from the end
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
 * @axis: the dimension, negative from the end
 * @sizes: (element-type gint64): the size of each result
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
 * @starts: first indices
 * @ends: indices to stop before
 * @axes: dimensions; empty for all
 * @steps: steps; empty for 1
 *
 * Attributes of Slice.  A node stores one start, end and step for each dimension; for steps above
 * 0, ends are exact.
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
 * @CLEAVE_PAD_REFLECT: the mirrored value, without its edge
 * @CLEAVE_PAD_EDGE: the edge of the value
 *
 * What Pad fills the border with.
 */
typedef enum {
  CLEAVE_PAD_CONSTANT,
  CLEAVE_PAD_REFLECT,
  CLEAVE_PAD_EDGE,
} CleavePadMode;

/**
 * CleavePadAttrs:
 * @mode: what fills the border
 * @pads: all begins, then all ends; negative ones crop
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
 * @perm: result dimension i is operand dimension perm[i]; empty to reverse the dimensions
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
 * @shape: the shape
 * @allowzero: Reshape: 0 is an extent, not that of the operand
 *
 * Attributes of Reshape and Expand.  A node stores the inferred shape.
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
 * @axes: dimensions, negative from the end
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
 * @ratio: the part to drop in training, 0.5 by default
 * @training_mode: must be %FALSE
 * @seed: seed of the random numbers of training
 *
 * Attributes of Dropout, which in inference passes its operand.
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
 * @CLEAVE_SCATTER_NONE: replace it
 * @CLEAVE_SCATTER_ADD: add to it
 * @CLEAVE_SCATTER_MUL: multiply it
 * @CLEAVE_SCATTER_MAX: keep the greater of both
 * @CLEAVE_SCATTER_MIN: keep the smaller of both
 *
 * What a scatter op does with the element that it writes to.
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
 * @reduction: what becomes of the element that was there
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
 * @axis: the dimension of the result, -1 by default
 * @part: first class and the one after the last; empty for all
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
 * @dtype: element type, that of the operand by default
 * @k: which diagonal; 0 is the main one
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
 * @k: the diagonal up to which elements are retained
 * @upper: retain the upper triangle, %TRUE by default
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
 * @limit: the bound
 * @delta: the step
 *
 * Attributes of Range, which has no operand.  The scalars have one element type.
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
 * @sample_rate: samples in a second
 * @lower_edge_hertz: lower edge
 * @upper_edge_hertz: upper edge
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
 * @frame_step: samples between two frames
 * @frame_length: samples of a frame; 0 for those of the window
 * @onesided: return the first half of the spectrum, %TRUE by default; a complex signal always has
 * both
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
 * @CLEAVE_GRID_BILINEAR: linearly
 * @CLEAVE_GRID_NEAREST: by the nearest element
 * @CLEAVE_GRID_BICUBIC: by cubic convolution
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
 * @CLEAVE_GRID_BORDER: the border
 * @CLEAVE_GRID_REFLECTION: the mirrored value
 *
 * What GridSample reads outside of X.
 */
typedef enum {
  CLEAVE_GRID_ZEROS,
  CLEAVE_GRID_BORDER,
  CLEAVE_GRID_REFLECTION,
} CleaveGridPadding;

/**
 * CleaveGridSampleAttrs:
 * @mode: how to interpolate
 * @padding_mode: what lies outside
 * @align_corners: -1 and 1 are the centres of the corner elements, not their edges
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
 * @CLEAVE_ROI_AVG: by the mean
 * @CLEAVE_ROI_MAX: by the maximum
 *
 * How RoiAlign pools.
 */
typedef enum {
  CLEAVE_ROI_AVG,
  CLEAVE_ROI_MAX,
} CleaveRoiMode;

/**
 * CleaveRoiCoordinates:
 * @CLEAVE_ROI_HALF_PIXEL: shifted by half an element
 * @CLEAVE_ROI_OUTPUT_HALF_PIXEL: not shifted
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
 * @sampling_ratio: samples in a bin in each dimension; 0 for one per element
 * @spatial_scale: factor of the coordinates, 1 by default
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
 * @spatial_scale: factor of the coordinates, 1 by default
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
 * @CLEAVE_TFIDF_TFIDF: their product
 *
 * What TfIdfVectorizer counts.
 */
typedef enum {
  CLEAVE_TFIDF_TF,
  CLEAVE_TFIDF_IDF,
  CLEAVE_TFIDF_TFIDF,
} CleaveTfidfMode;

/**
 * CleaveTfidfAttrs:
 * @mode: must be given, and be %CLEAVE_TFIDF_TF
 * @min_gram_length: shortest n-gram
 * @max_gram_length: longest n-gram
 * @max_skip_count: most elements to skip between two of an n-gram
 * @ngram_counts: (element-type gint64): where the n-grams of each length begin in @pool_int64s
 * @ngram_indexes: (element-type gint64): the element of the result of each n-gram
 * @pool_int64s: (element-type gint64): the n-grams
 *
 * Attributes of TfIdfVectorizer, for n-grams of integers; weights are a Mul.
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
 * @end: the dimension after the last; the default, %CLEAVE_SHAPE_END, stands for the rank
 *
 * Attributes of Shape.
 */
typedef struct
{
  gint64 start, end;
} CleaveShapeAttrs;

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
 * @CLEAVE_RESIZE_NEAREST: by the nearest element
 * @CLEAVE_RESIZE_LINEAR: linearly
 * @CLEAVE_RESIZE_CUBIC: by cubic convolution
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
 * How Resize maps coordinates of the result to X, as ONNX names it.
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
 * How Resize rounds coordinates.
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
 * @exclude_outside: give no weight to elements outside of X
 * @extrapolation_value: the value outside of the region
 * @roi: starts, then ends of the region, for %CLEAVE_RESIZE_TF_CROP_AND_RESIZE
 * @scales: factor of each dimension; empty if @sizes are given
 * @sizes: extents of the result; empty if @scales are given
 * @phase: for each dimension, the index in the whole result of the first element of this one
 * @begin: for each dimension, the index in the whole operand of the first element of this one
 * @extents: for each dimension, the extent of the whole operand; 0: of a whole factor, none is
 * needed
 * @lengths: for each dimension, the extent of the whole result; likewise
 *
 * Attributes of Resize.  Pieces alone have the last four: each computes the very fractions of the
 * whole.
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
 * @axes: dimensions to reduce
 * @keepdims: retain them with extent 1, %TRUE by default
 * @noop_with_empty_axes: without axes, reduce nothing instead of all
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
 * @keepdims: retain it with extent 1, %TRUE by default
 * @select_last_index: of equal elements, select the last
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
 * @largest: select the largest, not the smallest
 * @sorted: return them in order
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
 * @exclusive: leave each element out of its own sum
 * @reverse: sum from the end
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
 * The order of the elements of a depth column in a block.
 */
typedef enum {
  CLEAVE_DEPTH_DCR,
  CLEAVE_DEPTH_CRD,
} CleaveDepthMode;

/**
 * CleaveDepthAttrs:
 * @blocksize: extent of a block
 * @mode: DepthToSpace: the order of elements
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
