/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes and constructors of ops that move elements, and of inputs and constants.
 * cleave_graph_add() takes an attribute struct, and each node stores one. cleave-ops.h says which
 * values stand for defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

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
 * CleaveAxisAttrs:
 * @axis: the dimension along which the op works; negative values count from the end
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
 * @axis: the dimension that is cut; negative values count from the end
 * @sizes: (element-type gint64): the extent of each result in dimension @axis
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
 * @ends: the index to stop before in each of the dimensions of @axes
 * @axes: the dimensions that are sliced; empty for all
 * @steps: the step in each of the dimensions of @axes; empty for 1
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
 * @CLEAVE_PAD_REFLECT: the operand mirrored at its first and last element, without a repetition of
 * these elements
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
 * @pads: the begin pads of all dimensions, then the end pads; a negative pad crops the operand
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
 * @axis: ScatterElements: the dimension in which indices select elements
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
 * @dtype: element type of the result, by default the element type of the operand
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
 * @upper: %TRUE, the default: retain the elements on and above the diagonal; %FALSE: retain the
 * elements on and below the diagonal
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
 * Attributes of Range, which has no operand. The three fields are scalars with the same element
 * type.
 */
typedef struct
{
  CleaveTensor *start, *limit, *delta;
} CleaveRangeAttrs;

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
 * CleaveDepthMode:
 * @CLEAVE_DEPTH_DCR: depth, column, row
 * @CLEAVE_DEPTH_CRD: column, row, depth
 *
 * The order in which DepthToSpace takes the channels of an element of X to fill a block of the
 * result. ONNX defines the names.
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
