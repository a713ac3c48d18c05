/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes and typed constructors, one block per op.  Attributes have their ONNX names and, where
 * zero is not legal, zero or an empty list stands for the default.  NULL attributes are all
 * defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/* Which dimensions of image-like values are N, C and spatial. */
typedef enum { CLEAVE_LAYOUT_NCHW, CLEAVE_LAYOUT_NHWC } CleaveLayout;

/* Input, Constant */
typedef struct
{
  CleaveTensorType type;
} CleaveInputAttrs;

typedef struct
{
  CleaveTensor *value;
} CleaveConstantAttrs;

/* Assemble: one range of the result for each operand; together they cover it */
typedef struct
{
  GArray *ranges; /* CleaveRange */
} CleaveAssembleAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_assemble (CleaveGraph *graph,
                                                    const char *name,
                                                    CleaveResult *const *parts,
                                                    const CleaveRange *ranges,
                                                    guint n_parts,
                                                    GError **error);

/* Conv */
typedef struct
{
  CleaveLayout layout;
  gint64 group;
  CleaveInts strides, dilations; /* one for each spatial dimension */
  CleaveInts pads;               /* all begins, then all ends */
} CleaveConvAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_conv (CleaveGraph *graph,
                                                const char *name,
                                                CleaveResult *x,
                                                CleaveResult *w,
                                                CleaveResult *b,
                                                const CleaveConvAttrs *attrs,
                                                GError **error);

/* ConvTranspose */
typedef struct
{
  CleaveLayout layout;
  gint64 group;
  CleaveInts strides, dilations, pads, output_padding;
} CleaveConvTransposeAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_conv_transpose (CleaveGraph *graph,
                                                          const char *name,
                                                          CleaveResult *x,
                                                          CleaveResult *w,
                                                          CleaveResult *b,
                                                          const CleaveConvTransposeAttrs *attrs,
                                                          GError **error);

/* MaxPool, AveragePool, LpPool */
typedef struct
{
  CleaveLayout layout;
  CleaveInts kernel_shape, strides, dilations, pads;
  gboolean ceil_mode;
  gboolean count_include_pad; /* AveragePool */
  gint64 storage_order;       /* MaxPool: order of its indices */
  gint64 p;                   /* LpPool: 2 by default */
  CleaveInts whole, begin; /* MaxPool: extents of what X is a part of, and where it begins there, in
                            * which the indices count; empty: X is the whole */
} CleavePoolAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_pool (CleaveGraph *graph,
                                                const char *op,
                                                const char *name,
                                                CleaveResult *x,
                                                const CleavePoolAttrs *attrs,
                                                GError **error);

/* GlobalAveragePool, GlobalMaxPool, GlobalLpPool */
typedef struct
{
  CleaveLayout layout;
  gint64 p; /* GlobalLpPool: 2 by default */
} CleaveGlobalPoolAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_global_pool (CleaveGraph *graph,
                                                       const char *op,
                                                       const char *name,
                                                       CleaveResult *x,
                                                       const CleaveGlobalPoolAttrs *attrs,
                                                       GError **error);

/* Gemm; MatMul has no attributes */
typedef struct
{
  double alpha, beta; /* 1 by default */
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

/* Einsum */
typedef struct
{
  char *equation;
} CleaveEinsumAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_einsum (CleaveGraph *graph,
                                                  const char *name,
                                                  CleaveResult *const *operands,
                                                  guint n_operands,
                                                  const char *equation,
                                                  GError **error);

/* BatchNormalization (inference), InstanceNormalization */
typedef struct
{
  CleaveLayout layout;
  double epsilon; /* 1e-5 by default */
} CleaveNormAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_batch_norm (CleaveGraph *graph,
                                                      const char *name,
                                                      CleaveResult *x,
                                                      CleaveResult *scale,
                                                      CleaveResult *b,
                                                      CleaveResult *mean,
                                                      CleaveResult *var,
                                                      const CleaveNormAttrs *attrs,
                                                      GError **error);

/* LpNormalization */
typedef struct
{
  gint64 axis; /* -1 by default */
  gint64 p;    /* 1 or 2, the default */
} CleaveLpNormAttrs;

/* LayerNormalization */
typedef struct
{
  gint64 axis;       /* -1 by default */
  double epsilon;    /* 1e-5 by default */
  gint64 stash_type; /* of Mean and InvStdDev, as ONNX numbers it: 1, float32 */
} CleaveLayerNormAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_layer_norm (CleaveGraph *graph,
                                                      const char *name,
                                                      CleaveResult *x,
                                                      CleaveResult *scale,
                                                      CleaveResult *b,
                                                      const CleaveLayerNormAttrs *attrs,
                                                      GError **error);

/* RNN, GRU, LSTM */
typedef enum {
  CLEAVE_DIRECTION_FORWARD,
  CLEAVE_DIRECTION_REVERSE,
  CLEAVE_DIRECTION_BIDIRECTIONAL
} CleaveDirection;

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
  CLEAVE_ACTIVATION_SOFTPLUS
} CleaveActivation;

typedef struct
{
  CleaveDirection direction;
  CleaveInts activations; /* CleaveActivation, for each direction those of one step in order */
  CleaveDoubles activation_alpha, activation_beta; /* for those that take one */
  double clip;                                     /* of the sums of the gates; 0: none */
  gint64 hidden_size;                              /* 0: what R says */
  gint64 layout;                                   /* 1: the batch comes first */
  gboolean linear_before_reset;                    /* GRU */
  gboolean input_forget;                           /* LSTM */
} CleaveRecurrentAttrs;

CLEAVE_API CleaveNode *cleave_graph_add_recurrent (CleaveGraph *graph,
                                                   const char *op,
                                                   const char *name,
                                                   CleaveResult *const *operands,
                                                   guint n_operands,
                                                   const CleaveRecurrentAttrs *attrs,
                                                   GError **error);

/* LRN */
typedef struct
{
  CleaveLayout layout;
  double alpha, beta, bias;
  gint64 size;
} CleaveLrnAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_lrn (CleaveGraph *graph,
                                               const char *name,
                                               CleaveResult *x,
                                               const CleaveLrnAttrs *attrs,
                                               GError **error);

/* LeakyRelu, Elu, Selu, HardSigmoid and other element-wise ops with numbers */
typedef struct
{
  double alpha, beta, gamma;
} CleaveElementwiseAttrs;

/* IsInf */
typedef struct
{
  gboolean detect_negative, detect_positive; /* TRUE by default */
} CleaveIsInfAttrs;

/* Shrink */
typedef struct
{
  double lambd, bias; /* lambd: 0.5 by default */
} CleaveShrinkAttrs;

/* Mod */
typedef struct
{
  gboolean fmod; /* the rest has the sign of A, not of B; needed for floats */
} CleaveModAttrs;

/* BitShift */
typedef enum { CLEAVE_SHIFT_LEFT, CLEAVE_SHIFT_RIGHT } CleaveShiftDirection;

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

/* Sum, Mean, Max, Min */
CLEAVE_API CleaveResult *cleave_graph_add_variadic (CleaveGraph *graph,
                                                    const char *op,
                                                    const char *name,
                                                    CleaveResult *const *operands,
                                                    guint n_operands,
                                                    GError **error);

/* Clip */
typedef struct
{
  double min, max; /* minus and plus infinity by default */
} CleaveClipAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_clip (CleaveGraph *graph,
                                                const char *name,
                                                CleaveResult *x,
                                                const CleaveClipAttrs *attrs,
                                                GError **error);

/* Cast */
typedef struct
{
  CleaveElement to;
} CleaveCastAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_cast (
    CleaveGraph *graph, const char *name, CleaveResult *x, CleaveElement to, GError **error);

/* Where has no attributes */
CLEAVE_API CleaveResult *cleave_graph_add_where (CleaveGraph *graph,
                                                 const char *name,
                                                 CleaveResult *condition,
                                                 CleaveResult *x,
                                                 CleaveResult *y,
                                                 GError **error);

/* Softmax, LogSoftmax, Hardmax; Concat; Gather, GatherElements; Flatten */
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
CLEAVE_API CleaveResult *cleave_graph_add_gather (CleaveGraph *graph,
                                                  const char *name,
                                                  CleaveResult *data,
                                                  CleaveResult *indices,
                                                  gint64 axis,
                                                  GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_flatten (
    CleaveGraph *graph, const char *name, CleaveResult *x, gint64 axis, GError **error);

/* Split */
typedef struct
{
  gint64 axis;
  GArray *sizes; /* gint64, one for each result */
} CleaveSplitAttrs;

CLEAVE_API CleaveNode *cleave_graph_add_split (CleaveGraph *graph,
                                               const char *name,
                                               CleaveResult *x,
                                               gint64 axis,
                                               const gint64 *sizes,
                                               guint n_sizes,
                                               GError **error);

/* Split, Slice and Join as frameworks write them.  Fields are named as there; a number that may be
 * absent is a pointer, NULL when it is. */
typedef struct
{
  gint64 axis;
  const gint64 *num_splits, *size_split, *sections_split; /* the first one given counts */
  guint n_sections_split;
} CleaveSplitOnednn;

typedef struct
{
  gint64 axis;
  const gint64 *num_splits, *size_splits; /* num_or_size_splits: an int or a list */
  const gint64 *num;
  guint n_size_splits;
} CleaveSplitTensorflow;

typedef struct
{
  gint64 dim;
  const gint64 *split_size, *sections; /* split_size_or_sections: an int or a list */
  guint n_sections;
} CleaveSplitPytorch;

typedef struct
{
  guint opset, n_outputs, n_split;
  const gint64 *axis, *split, *num_outputs;
} CleaveSplitOnnx;

typedef struct
{
  gint64 start_indices[CLEAVE_MAX_RANK];
  gint64 limit_indices[CLEAVE_MAX_RANK];
  gint64 strides[CLEAVE_MAX_RANK];
} CleaveSliceXla;

CLEAVE_API void cleave_split_attrs_free (CleaveSplitAttrs *attrs);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_new (const CleaveTensorType *operand,
                                                  gint64 axis,
                                                  const gint64 *sizes,
                                                  guint n_sizes,
                                                  GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_onednn (const CleaveTensorType *src,
                                                          const CleaveSplitOnednn *call,
                                                          GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_tensorflow (const CleaveTensorType *value,
                                                              const CleaveSplitTensorflow *call,
                                                              GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_pytorch (const CleaveTensorType *tensor,
                                                           const CleaveSplitPytorch *call,
                                                           GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_onnx (const CleaveTensorType *input,
                                                        const CleaveSplitOnnx *call,
                                                        GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_openvino_split (const CleaveTensorType *data,
                                                                  const CleaveTensor *axis,
                                                                  gint64 num_splits,
                                                                  GError **error);
CLEAVE_API CleaveSplitAttrs *
cleave_split_op_from_openvino_variadic (const CleaveTensorType *data,
                                        const CleaveTensor *axis,
                                        const CleaveTensor *split_lengths,
                                        GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_directml (const CleaveTensorType *input,
                                                            const CleaveTensorType *outputs,
                                                            guint output_count,
                                                            guint axis,
                                                            GError **error);
CLEAVE_API CleaveAxisAttrs *cleave_concat_op_from_directml_join (const CleaveTensorType *inputs,
                                                                 guint input_count,
                                                                 const CleaveTensorType *output,
                                                                 guint axis,
                                                                 GError **error);
CLEAVE_API CleaveSplitAttrs *cleave_split_op_from_xla (const CleaveTensorType *operand,
                                                       const CleaveSliceXla *slices,
                                                       guint n_slices,
                                                       GError **error);
CLEAVE_API GArray *cleave_split_op_to_xla (const CleaveTensorType *operand,
                                           const CleaveSplitAttrs *attrs);

/* Slice: stored with one start, end and step for each dimension; with steps > 0, ends are exact */
typedef struct
{
  CleaveInts starts, ends, axes, steps;
} CleaveSliceAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_slice (CleaveGraph *graph,
                                                 const char *name,
                                                 CleaveResult *x,
                                                 const CleaveSliceAttrs *attrs,
                                                 GError **error);
CLEAVE_API CleaveSliceAttrs *cleave_slice_op_from_xla (const CleaveTensorType *operand,
                                                       const CleaveSliceXla *call,
                                                       GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_slice_range (CleaveGraph *graph,
                                                       const char *name,
                                                       CleaveResult *x,
                                                       const CleaveRange *range,
                                                       GError **error);

/* Pad */
typedef enum { CLEAVE_PAD_CONSTANT, CLEAVE_PAD_REFLECT, CLEAVE_PAD_EDGE } CleavePadMode;

typedef struct
{
  CleavePadMode mode;
  CleaveInts pads; /* all begins, then all ends; negative ones crop */
  double constant_value;
} CleavePadAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_pad (CleaveGraph *graph,
                                               const char *name,
                                               CleaveResult *x,
                                               const CleavePadAttrs *attrs,
                                               GError **error);

/* Transpose: result dimension i is operand dimension perm[i] */
typedef struct
{
  CleaveInts perm;
} CleaveTransposeAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_transpose (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *perm, GError **error);

/* Reshape, Expand: stored with the shape worked out */
typedef struct
{
  CleaveInts shape;
  gboolean allowzero; /* Reshape */
} CleaveReshapeAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_reshape (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *shape, GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_expand (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *shape, GError **error);

/* Squeeze, Unsqueeze, MeanVarianceNormalization */
typedef struct
{
  CleaveInts axes;
} CleaveAxesAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_squeeze (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *axes, GError **error);
CLEAVE_API CleaveResult *cleave_graph_add_unsqueeze (
    CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveInts *axes, GError **error);

/* Tile */
typedef struct
{
  CleaveInts repeats;
} CleaveTileAttrs;

/* Dropout, in inference: data passes, nothing is dropped */
typedef struct
{
  double ratio; /* 0.5 by default */
  gboolean training_mode;
  gint64 seed;
} CleaveDropoutAttrs;

/* GatherND */
typedef struct
{
  gint64 batch_dims;
} CleaveGatherNdAttrs;

/* ScatterElements, ScatterND */
typedef enum { CLEAVE_SCATTER_NONE, CLEAVE_SCATTER_ADD, CLEAVE_SCATTER_MUL } CleaveScatterReduction;

typedef struct
{
  gint64 axis; /* ScatterElements */
  CleaveScatterReduction reduction;
} CleaveScatterAttrs;

/* OneHot */
typedef struct
{
  gint64 depth, axis; /* axis: of the result; -1 by default */
  CleaveInts part;    /* from which element to which of the depth; empty: all */
} CleaveOneHotAttrs;

/* ReverseSequence */
typedef struct
{
  gint64 batch_axis, time_axis; /* batch_axis: 1 by default */
} CleaveReverseSequenceAttrs;

/* EyeLike */
typedef struct
{
  CleaveElement dtype; /* the operand's by default */
  gint64 k;
} CleaveEyeAttrs;

/* Trilu */
typedef struct
{
  gint64 k;       /* the diagonal that is kept, too */
  gboolean upper; /* TRUE by default */
} CleaveTriluAttrs;

/* Range: no operand; start, limit and delta are scalars of one element type */
typedef struct
{
  CleaveTensor *start, *limit, *delta;
} CleaveRangeAttrs;

/* HannWindow, HammingWindow, BlackmanWindow: no operand */
typedef struct
{
  gint64 size;
  gboolean periodic;             /* TRUE by default */
  CleaveElement output_datatype; /* float32 by default */
} CleaveWindowFunctionAttrs;

/* MelWeightMatrix: no operand */
typedef struct
{
  gint64 num_mel_bins, dft_length, sample_rate;
  double lower_edge_hertz, upper_edge_hertz;
  CleaveElement output_datatype; /* float32 by default */
} CleaveMelAttrs;

/* DFT */
typedef struct
{
  gint64 dft_length; /* 0: the operand's extent */
  gint64 axis;       /* 1 by default */
  gboolean inverse, onesided;
} CleaveDftAttrs;

/* STFT */
typedef struct
{
  gint64 frame_step;
  gint64 frame_length; /* 0: that of the window */
  gboolean onesided;   /* TRUE by default; of a complex signal there are always both sides */
} CleaveStftAttrs;

/* GridSample */
typedef enum { CLEAVE_GRID_BILINEAR, CLEAVE_GRID_NEAREST, CLEAVE_GRID_BICUBIC } CleaveGridMode;

typedef enum { CLEAVE_GRID_ZEROS, CLEAVE_GRID_BORDER, CLEAVE_GRID_REFLECTION } CleaveGridPadding;

typedef struct
{
  CleaveGridMode mode;
  CleaveGridPadding padding_mode;
  gboolean align_corners;
} CleaveGridSampleAttrs;

/* RoiAlign */
typedef enum { CLEAVE_ROI_AVG, CLEAVE_ROI_MAX } CleaveRoiMode;

typedef enum { CLEAVE_ROI_HALF_PIXEL, CLEAVE_ROI_OUTPUT_HALF_PIXEL } CleaveRoiCoordinates;

typedef struct
{
  CleaveRoiMode mode;
  CleaveRoiCoordinates coordinate_transformation_mode;
  gint64 output_height, output_width;
  gint64 sampling_ratio; /* 0: as many as the region has elements */
  double spatial_scale;  /* 1 by default */
} CleaveRoiAlignAttrs;

/* MaxRoiPool */
typedef struct
{
  CleaveInts pooled_shape; /* rows and columns of the result */
  double spatial_scale;    /* 1 by default */
} CleaveMaxRoiPoolAttrs;

/* MaxUnpool */
typedef struct
{
  CleaveInts kernel_shape, strides, pads;
  CleaveInts output_shape; /* empty: what the others say */
} CleaveMaxUnpoolAttrs;

/* TfIdfVectorizer: counts of n-grams of integers; weights are a Mul */
typedef enum { CLEAVE_TFIDF_TF, CLEAVE_TFIDF_IDF, CLEAVE_TFIDF_TFIDF } CleaveTfidfMode;

typedef struct
{
  CleaveTfidfMode mode; /* TF, which is not the default: there is none */
  gint64 min_gram_length, max_gram_length, max_skip_count;
  GArray *ngram_counts, *ngram_indexes, *pool_int64s; /* gint64 */
} CleaveTfidfAttrs;

/* Shape */
typedef struct
{
  gint64 start, end; /* end: the rank by default, which CLEAVE_SHAPE_END stands for */
} CleaveShapeAttrs;

#define CLEAVE_SHAPE_END G_MAXINT32

/* ConstantOfShape: no operand; a value of one element fills the shape */
typedef struct
{
  CleaveInts shape;
  CleaveTensor *value;
} CleaveFillAttrs;

/* Resize */
typedef enum { CLEAVE_RESIZE_NEAREST, CLEAVE_RESIZE_LINEAR, CLEAVE_RESIZE_CUBIC } CleaveResizeMode;

typedef enum {
  CLEAVE_RESIZE_HALF_PIXEL,
  CLEAVE_RESIZE_PYTORCH_HALF_PIXEL,
  CLEAVE_RESIZE_ALIGN_CORNERS,
  CLEAVE_RESIZE_ASYMMETRIC,
  CLEAVE_RESIZE_TF_CROP_AND_RESIZE
} CleaveResizeCoordinates;

typedef enum {
  CLEAVE_RESIZE_ROUND_PREFER_FLOOR,
  CLEAVE_RESIZE_ROUND_PREFER_CEIL,
  CLEAVE_RESIZE_FLOOR,
  CLEAVE_RESIZE_CEIL
} CleaveResizeNearest;

typedef struct
{
  CleaveResizeMode mode;
  CleaveResizeCoordinates coordinate_transformation_mode;
  CleaveResizeNearest nearest_mode;
  double cubic_coeff_a; /* -0.75 by default */
  gboolean exclude_outside;
  double extrapolation_value;
  CleaveDoubles roi, scales; /* scales or sizes */
  CleaveInts sizes;
  CleaveInts phase; /* which element of the whole resize comes first, per dimension */
} CleaveResizeAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_resize (CleaveGraph *graph,
                                                  const char *name,
                                                  CleaveResult *x,
                                                  const CleaveResizeAttrs *attrs,
                                                  GError **error);

/* ReduceMean, ReduceSum, ReduceMax … */
typedef struct
{
  CleaveInts axes;
  gboolean keepdims; /* TRUE by default */
  gboolean noop_with_empty_axes;
} CleaveReduceAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_reduce (CleaveGraph *graph,
                                                  const char *op,
                                                  const char *name,
                                                  CleaveResult *x,
                                                  const CleaveReduceAttrs *attrs,
                                                  GError **error);

/* ArgMax, ArgMin */
typedef struct
{
  gint64 axis;
  gboolean keepdims; /* TRUE by default */
  gboolean select_last_index;
} CleaveArgAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_arg (CleaveGraph *graph,
                                               const char *op,
                                               const char *name,
                                               CleaveResult *x,
                                               const CleaveArgAttrs *attrs,
                                               GError **error);

/* TopK */
typedef struct
{
  gint64 k, axis; /* axis: -1 by default */
  gboolean largest, sorted;
} CleaveTopkAttrs;

CLEAVE_API CleaveNode *cleave_graph_add_topk (CleaveGraph *graph,
                                              const char *name,
                                              CleaveResult *x,
                                              const CleaveTopkAttrs *attrs,
                                              GError **error);

/* CumSum */
typedef struct
{
  gint64 axis;
  gboolean exclusive, reverse;
} CleaveCumsumAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_cumsum (CleaveGraph *graph,
                                                  const char *name,
                                                  CleaveResult *x,
                                                  const CleaveCumsumAttrs *attrs,
                                                  GError **error);

/* DepthToSpace, SpaceToDepth */
typedef enum { CLEAVE_DEPTH_DCR, CLEAVE_DEPTH_CRD } CleaveDepthMode;

typedef struct
{
  gint64 blocksize;
  CleaveDepthMode mode; /* DepthToSpace */
} CleaveDepthAttrs;

CLEAVE_API CleaveResult *cleave_graph_add_depth_to_space (CleaveGraph *graph,
                                                          const char *name,
                                                          CleaveResult *x,
                                                          const CleaveDepthAttrs *attrs,
                                                          GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveSplitAttrs, cleave_split_attrs_free)

G_END_DECLS
