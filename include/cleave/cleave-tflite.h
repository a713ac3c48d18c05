/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* TensorFlow Lite models, and the ops on integers that only these models have. cleave_graph_load()
 * makes a graph with these ops. The results have the same bits as with the reference kernels of
 * TensorFlow Lite for Microcontrollers. ONNX has none of these ops, so the pass tflite-to-qdq must
 * replace them before a graph is written as an ONNX model. */

#include <cleave/cleave-ops.h>

G_BEGIN_DECLS

CLEAVE_API CleaveGraph *cleave_tflite_load (const char *path, GError **error);
CLEAVE_API CleaveGraph *cleave_tflite_parse (GBytes *bytes, GError **error);
CLEAVE_API GBytes *
cleave_tflite_add_memory_plan (GBytes *bytes, gint64 alignment, gint64 *n_bytes, GError **error);

/**
 * CleaveTfliteConvAttrs:
 * @conv: layout, group, strides, dilations and pads
 * @min: smallest value of the result
 * @max: largest value of the result
 * @wide: %TRUE: sums have 64 bits, and their conversion to the scale of the result rounds once;
 *   %FALSE: sums have 32 bits, and their conversion rounds twice
 *
 * Attributes of TfliteConv.
 */
typedef struct
{
  CleaveConvAttrs conv;
  gint64 min, max;
  gboolean wide;
} CleaveTfliteConvAttrs;

/**
 * CleaveTfliteConvTransposeAttrs:
 * @conv: layout, group, strides, dilations, pads and output padding
 * @min: smallest value of the result
 * @max: largest value of the result
 * @wide: %TRUE: sums have 64 bits, and their conversion to the scale of the result rounds once;
 *   %FALSE: sums have 32 bits, and their conversion rounds twice
 *
 * Attributes of TfliteConvTranspose.
 */
typedef struct
{
  CleaveConvTransposeAttrs conv;
  gint64 min, max;
  gboolean wide;
} CleaveTfliteConvTransposeAttrs;

/**
 * CleaveTfliteBinaryAttrs:
 * @a_zero: zero point of A
 * @b_zero: zero point of B
 * @y_zero: zero point of the result
 * @left_shift: left shift of both operands: 20 for int8, 15 for int16; TfliteSquaredDifference: 7
 * for int8, 0 for int16
 * @a_multiplier: multiplier of A
 * @a_shift: shift of A
 * @b_multiplier: multiplier of B
 * @b_shift: shift of B
 * @multiplier: multiplier of the sum, or of the product
 * @shift: shift of the sum, or of the product
 * @min: smallest value of the result
 * @max: largest value of the result
 *
 * Attributes of TfliteAdd, TfliteSub, TfliteMul, TfliteDiv, TfliteSquaredDifference, TflitePRelu
 * and TfliteMatMul. TfliteMul, TfliteDiv and TfliteMatMul do not use the multipliers of A and B. In
 * a TflitePRelu, the multiplier of A applies to values that are not below the zero point.
 */
typedef struct
{
  gint64 a_zero, b_zero, y_zero;
  gint64 left_shift;
  gint64 a_multiplier, a_shift, b_multiplier, b_shift;
  gint64 multiplier, shift;
  gint64 min, max;
} CleaveTfliteBinaryAttrs;

/**
 * CleaveTflitePoolAttrs:
 * @pool: layout, kernel shape, strides and pads
 * @min: smallest value of the result
 * @max: largest value of the result
 *
 * Attributes of TfliteAveragePool.
 */
typedef struct
{
  CleavePoolAttrs pool;
  gint64 min, max;
} CleaveTflitePoolAttrs;

/**
 * CleaveTfliteSumAttrs:
 * @axes: dimensions to add up; these dimensions get the extent 1
 * @x_zero: zero point of X
 * @y_zero: zero point of the result
 * @multiplier: multiplier of the sum
 * @shift: shift of the sum
 *
 * Attributes of TfliteSum, which computes sums and means.
 */
typedef struct
{
  CleaveInts axes;
  gint64 x_zero, y_zero;
  gint64 multiplier, shift;
} CleaveTfliteSumAttrs;

/**
 * CleaveTfliteRescaleAttrs:
 * @to: element type of the result
 * @x_zero: zero point of X
 * @y_zero: zero point of the result
 * @multiplier: multiplier of values of X that are not below the zero point
 * @shift: shift of values of X that are not below the zero point
 * @negative_multiplier: multiplier of values of X below the zero point
 * @negative_shift: shift of values of X below the zero point
 *
 * Attributes of TfliteRescale. TfliteLogistic, TfliteTanh and TfliteSoftmax16 use only @multiplier
 * and @shift.
 */
typedef struct
{
  CleaveElement to;
  gint64 x_zero, y_zero;
  gint64 multiplier, shift;
  gint64 negative_multiplier, negative_shift;
} CleaveTfliteRescaleAttrs;

/**
 * CleaveTfliteQuantizeAttrs:
 * @to: element type of the result
 * @scale: scale of the result
 * @zero: zero point of the result
 *
 * Attributes of TfliteQuantize.
 */
typedef struct
{
  CleaveElement to;
  double scale;
  gint64 zero;
} CleaveTfliteQuantizeAttrs;

/**
 * CleaveTfliteResizeAttrs:
 * @sizes: extents H and W of the result
 * @steps: for H and W: distance of neighboring positions, in units of 1 / 1024 of an element of X
 * @shifts: for H and W: position of element 0 of the whole result, in units of 1 / 1024 of an
 * element of X
 * @phase: for H and W: index of the first element of the result in the whole result
 * @begin: for H and W: index of the first element of X in the whole operand
 * @extents: extents H and W of the whole operand; 0: X is the whole operand
 *
 * Attributes of TfliteResizeBilinear.
 */
typedef struct
{
  CleaveInts sizes, steps, shifts;
  CleaveInts phase, begin, extents;
} CleaveTfliteResizeAttrs;

/**
 * CleaveTfliteLstmAttrs:
 * @time_major: X and Y are `[time, batch, …]`; if %FALSE, `[batch, time, …]`
 * @x_zero: zero point of X
 * @h_zero: zero point of Y and of the hidden state
 * @x_multipliers: for the gates input, forget, cell and output: multiplier of the sum over X
 * @x_shifts: for each gate: shift of the sum over X
 * @h_multipliers: for each gate: multiplier of the sum over the hidden state
 * @h_shifts: for each gate: shift of the sum over the hidden state
 * @forget_multiplier: multiplier of the product of the forget gate and the cell state
 * @forget_shift: shift of the product of the forget gate and the cell state
 * @input_multiplier: multiplier of the product of the input gate and the cell gate
 * @input_shift: shift of the product of the input gate and the cell gate
 * @hidden_multiplier: multiplier of the product of the output gate and tanh of the cell state
 * @hidden_shift: shift of the product of the output gate and tanh of the cell state
 * @tanh_multiplier: multiplier that brings the cell state to units of 1 / 12288
 * @tanh_shift: right shift after the multiplication by @tanh_multiplier
 * @cell_clip: largest magnitude of the cell state; 0: no limit
 *
 * Attributes of TfliteLstm.
 */
typedef struct
{
  gboolean time_major;
  gint64 x_zero, h_zero;
  CleaveInts x_multipliers, x_shifts;
  CleaveInts h_multipliers, h_shifts;
  gint64 forget_multiplier, forget_shift;
  gint64 input_multiplier, input_shift;
  gint64 hidden_multiplier, hidden_shift;
  gint64 tanh_multiplier, tanh_shift;
  gint64 cell_clip;
} CleaveTfliteLstmAttrs;

/**
 * CleaveTfliteDetectionsAttrs:
 * @max_detections: largest number of detections
 * @max_classes_per_detection: without @use_regular_nms, the largest number of classes of each
 *   detection. In both modes, the results have @max_detections times this number of rows
 * @detections_per_class: with @use_regular_nms, the largest number of detections of one class
 * @num_classes: number of classes; the scores may have a column more, for the background, before
 * the columns of the classes
 * @use_regular_nms: whether each class has its own suppression of overlapping boxes
 * @nms_score_threshold: least score of a detection
 * @nms_iou_threshold: largest intersection over union of two detections
 * @scales: divisors of y, x, height and width of the encodings
 *
 * Attributes of TfliteDetections. The attributes have no defaults.
 */
typedef struct
{
  gint64 max_detections, max_classes_per_detection, detections_per_class, num_classes;
  gboolean use_regular_nms;
  double nms_score_threshold, nms_iou_threshold;
  CleaveDoubles scales;
} CleaveTfliteDetectionsAttrs;

G_END_DECLS
