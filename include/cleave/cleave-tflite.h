/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* TensorFlow Lite models, and the ops that they have on integers. These ops have the bits of the
 * reference kernels of TensorFlow Lite for Microcontrollers; ONNX has none of them. */

#include <cleave/cleave-ops.h>

G_BEGIN_DECLS

CLEAVE_API CleaveGraph *cleave_tflite_load (const char *path, GError **error);
CLEAVE_API CleaveGraph *cleave_tflite_parse (GBytes *bytes, GError **error);

/**
 * CleaveTfliteConvAttrs:
 * @conv: layout, group, strides, dilations and pads
 * @min: smallest value of the result
 * @max: largest value of the result
 * @wide: sums have 64 bits, and are rounded once
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
 * @wide: sums have 64 bits, and are rounded once
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
 * @left_shift: left shift of both operands: 20 for int8, 15 for int16
 * @a_multiplier: multiplier of A
 * @a_shift: shift of A
 * @b_multiplier: multiplier of B
 * @b_shift: shift of B
 * @multiplier: multiplier of the sum, or of the product
 * @shift: shift of the sum, or of the product
 * @min: smallest value of the result
 * @max: largest value of the result
 *
 * Attributes of TfliteAdd, TfliteSub and TfliteMul, which has no multipliers of A and B.
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
 * @axes: dimensions to add up; they keep the extent 1
 * @x_zero: zero point of X
 * @y_zero: zero point of the result
 * @multiplier: multiplier of the sum
 * @shift: shift of the sum
 *
 * Attributes of TfliteSum, which is also a mean.
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
 * @shift: shift of these
 * @negative_multiplier: multiplier of values of X below the zero point
 * @negative_shift: shift of these
 *
 * Attributes of TfliteRescale.
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

G_END_DECLS
