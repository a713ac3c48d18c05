/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "../../lib/ir/graph-private.h"

/* Adds the nodes with which tflite-to-qdq.c replaces an op of TensorFlow Lite. Each function that
 * adds nodes returns the result of the last new node; NULL: an operand is NULL, or a new node is
 * not legal. New nodes take their names from `node`, the node that is replaced. */

/* Returns the smallest integer of a signed element type. */
gint64 cleave_to_qdq_lowest (CleaveElement element);
/* Returns the factor that TensorFlow Lite stores as a multiplier and a left shift: multiplier *
 * 2^(shift - 31). */
double cleave_to_qdq_factor (gint64 multiplier, gint64 shift);
CleaveElement cleave_to_qdq_element (const CleaveResult *x);
/* Returns the constant integers of an operand; NULL if the operand is not constant. */
CleaveTensor *cleave_to_qdq_read (const CleaveNode *node, guint operand);
/* Returns element `i` of a tensor of integers. If the tensor has only one element, returns this
 * element. */
gint64 cleave_to_qdq_load (const CleaveTensor *tensor, gint64 i);

/* Adds a node with op `op`, which has one result. cleave_to_qdq_binary() adds a node without
 * attributes. */
CleaveResult *cleave_to_qdq_add (const CleaveNode *node,
                                 const char *op,
                                 CleaveResult *const *operands,
                                 guint n_operands,
                                 gconstpointer attrs);
CleaveResult *
cleave_to_qdq_unary (const CleaveNode *node, const char *op, CleaveResult *x, gconstpointer attrs);
CleaveResult *
cleave_to_qdq_binary (const CleaveNode *node, const char *op, CleaveResult *a, CleaveResult *b);
/* Adds a constant of `n` elements; a scalar if `n` is 0. */
CleaveResult *cleave_to_qdq_constant (const CleaveNode *node,
                                      CleaveElement element,
                                      gint64 n,
                                      gconstpointer data);
/* Adds a constant scalar. */
CleaveResult *cleave_to_qdq_integer (const CleaveNode *node, CleaveElement element, gint64 value);
/* Adds nodes that compute (x - zero) * scale. */
CleaveResult *
cleave_to_qdq_dequantize (const CleaveNode *node, CleaveResult *x, double scale, gint64 zero);
/* Adds nodes that compute y / scale + zero, rounded and clamped to the element type of the node's
 * result. */
CleaveResult *
cleave_to_qdq_quantize (const CleaveNode *node, CleaveResult *y, double scale, gint64 zero);
/* Adds nodes that clamp y to the bounds of an activation, and quantize y with scale 1. */
CleaveResult *
cleave_to_qdq_finish (const CleaveNode *node, CleaveResult *y, gint64 zero, gint64 min, gint64 max);

/* cleave_to_qdq_conv() and cleave_to_qdq_conv_transpose() replace a TfliteConv and a
 * TfliteConvTranspose. Each returns the new result, or NULL if the pass does not support the node.
 */
CleaveResult *cleave_to_qdq_conv (const CleaveNode *node);
CleaveResult *cleave_to_qdq_conv_transpose (const CleaveNode *node);
