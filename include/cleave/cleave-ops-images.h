/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes of ops that sample images at positions: grids, regions of interest, and Resize.
 * cleave_graph_add() takes an attribute struct, and each node stores one. cleave-ops.h says which
 * values stand for defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

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
 * @sampling_ratio: number of samples in each dimension for one element of the result; 0: one sample
 * for each element of X
 * @spatial_scale: factor from coordinates of regions to coordinates of X, 1 by default
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
 * @spatial_scale: factor from coordinates of regions to coordinates of X, 1 by default
 *
 * Attributes of MaxRoiPool.
 */
typedef struct
{
  CleaveInts pooled_shape;
  double spatial_scale;
} CleaveMaxRoiPoolAttrs;

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
 * @CLEAVE_RESIZE_ROUND_PREFER_FLOOR: to the nearest integer; x.5 becomes x
 * @CLEAVE_RESIZE_ROUND_PREFER_CEIL: to the nearest integer; x.5 becomes x + 1
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
 * @scales: factor of each dimension; empty if @sizes has entries, except in pieces
 * @sizes: extents of the result; empty if @scales has entries, except in pieces
 * @phase: for each dimension, the index of the piece's first element. If the factor of the
 * dimension is an integer, the index counts from the begin of the result that a Resize of the
 * piece's X alone would have. Otherwise, the index counts from the begin of the whole node's result
 * @begin: for each dimension, the index of the first element of the piece's X in the whole X; 0 if
 * the factor is an integer
 * @extents: for each dimension, the extent of the whole X; 0 if the factor is an integer, since
 * Resize then does not need the extent
 * @lengths: for each dimension, the extent of the whole result; 0 if the factor is an integer
 *
 * Attributes of Resize. Only pieces use the last four fields, together with both @scales and
 * @sizes. With these fields, each piece computes exactly the coordinates of the whole node.
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

G_END_DECLS
