/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attributes and constructors of element-wise ops. cleave_graph_add() takes an attribute struct,
 * and each node stores one. cleave-ops.h says which values stand for defaults. */

#include <cleave/cleave-graph.h>

G_BEGIN_DECLS

/**
 * CleaveElementwiseAttrs:
 * @alpha: the ONNX attribute alpha
 * @beta: the ONNX attribute beta
 * @gamma: the ONNX attribute gamma
 *
 * Attributes of LeakyRelu, Elu, Selu, HardSigmoid and other element-wise ops. Each op reads only
 * the attributes that it has in ONNX.
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
 * @bias: subtracted from elements above the threshold, and added to elements below the negative
 * threshold
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

/* Add an element-wise op by its ONNX name: a unary op such as Relu or Sqrt, or a binary op such as
 * Add, Mul or Less, which broadcasts its operands. */
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

G_END_DECLS
