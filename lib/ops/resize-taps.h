/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Resize along one dimension: the elements of the operand between which an element of the result is
 * interpolated (its taps), and their weights. The reference kernel, the fast kernels, the bundle
 * and the exporter of pieces (lib/onnx/export/resize-part.c) all take the taps from these
 * functions.
 *
 *   4 -> 8 elements, linear, half_pixel: element 3 is at position 1.25, with taps 1 and 2 */

#include "../ir/op.h"
#include "../ir/view.h"

/* The parameters of the resize along one dimension. For an element of the result, a piece reads the
 * operand at the same position as the whole node. */
typedef struct
{
  const CleaveResizeAttrs *attrs;
  gint64 from, to;         /* extents of the operand (`from`) and of the result (`to`) */
  gint64 all_from, all_to; /* extents of the operand and of the result of the whole node; `from` and
                            * `to` are the extents of the piece */
  gint64 begin;            /* index, in the operand of the whole node, of the first element of the
                            * piece's operand; 0 if `factor` is not 0 */
  double scale;
  gint64 factor;     /* the scale if it is an integer and the mode is half_pixel, pytorch_half_pixel
                      * or asymmetric; 1 if the op only copies; else 0 */
  gboolean half;     /* whether positions align the centers of elements, as in half_pixel:
                      * element i is at (i + 0.5) / scale - 0.5 */
  gint64 phase;      /* index that the first element of the piece's result has in a longer result.
                      * If `factor` is 0, the longer result is the result of the whole node. If not,
                      * the longer result is the result of a Resize of the piece's whole operand */
  double length;     /* length of the result before it was rounded down to an extent */
  double start, end; /* the region of tf_crop_and_resize, as fractions of the operand */
  /* Element i of the result is at the position (i * times + shift) / block; block is 0 if positions
   * are not fractions of integers. */
  gint64 times, shift, block;
} CleaveResizeAxis;

/* The taps of one element of the result: the indices `at` and weights of n elements of the operand.
 * `outside` is set if the position is outside of the region of tf_crop_and_resize. */
typedef struct
{
  guint n;
  gboolean outside;
  gint64 at[4];
  double weight[4];
} CleaveResizeTaps;

CleaveResizeAxis
cleave_resize_axis (const CleaveResizeAttrs *attrs, guint d, gint64 from, gint64 to);
/* Returns the taps of element `at` of the result. */
CleaveResizeTaps cleave_resize_taps (const CleaveResizeAxis *axis, gint64 at);
/* Returns the taps of all elements of the result. Free with g_free(). */
CleaveResizeTaps *cleave_resize_new_taps (const CleaveResizeAxis *axis);
/* Returns the largest number of taps of an element, among the n elements of `taps`. */
guint cleave_resize_most_taps (const CleaveResizeTaps *taps, gint64 n);
/* Returns the dimension that is contiguous in both x and y and is not resized, such as the channels
 * of NHWC. Returns the rank if there is no such dimension. */
guint cleave_resize_find_channels (const CleaveResizeAttrs *attrs,
                                   const CleaveView *x,
                                   const CleaveView *y);
