/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "contrib.h"

/* Rotary embedding: the rotation of each position by an angle, given by cos and sin. The upgrades
 * of RotaryEmbedding and GroupQueryAttention set up a CleaveOnnxRotary and then call
 * cleave_onnx_rotate(). */
typedef struct
{
  CleaveOnnxValue *cos, *sin; /* cos and sin of the angles: [batch or 1, 1, positions, half of the
                               * rotated elements of a head] */
  gboolean interleaved;       /* whether a pair is two neighboring elements; FALSE: a pair is
                               * element i of the first half and element i of the second half */
} CleaveOnnxRotary;

/* Sets cos and sin in `rotary`: gathers them from two tables by `positions`, an int64 for each
 * batch element and position. The tables are operand `cos_operand` of the node and the operand
 * after it. */
gboolean cleave_onnx_rotary_init (CleaveOnnxNode *node,
                                  CleaveOnnxRotary *rotary,
                                  guint cos_operand,
                                  CleaveOnnxValue *positions,
                                  GError **error);
/* Returns `x` with the first elements of each head rotated: two elements for each angle. All other
 * elements stay unchanged. `x` has the shape batch × heads × positions × elements per head. */
CleaveOnnxValue *cleave_onnx_rotate (CleaveOnnxNode *node,
                                     const CleaveOnnxRotary *rotary,
                                     CleaveOnnxValue *x,
                                     const char *suffix,
                                     GError **error);
/* Returns the position ids with the shape n_batch × n. `ids` has this shape already, or has one
 * number: the first of `n` consecutive positions. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_rotary_positions (
    CleaveOnnxNode *node, CleaveOnnxValue *ids, gint64 n_batch, gint64 n, GError **error);

gboolean cleave_onnx_upgrade_rotary_embedding (CleaveOnnxNode *node, GError **error);
