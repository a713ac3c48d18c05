/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "contrib.h"

/* The rotation of each position, for RotaryEmbedding and GroupQueryAttention. B: batch, N: heads,
 * S: positions, H: elements per head. */
typedef struct
{
  CleaveOnnxValue *cos, *sin; /* [B or 1, 1, S, half of the rotated elements] */
  gboolean interleaved;       /* TRUE: a pair is two neighbors; FALSE: one element of each half */
} CleaveOnnxRotary;

/* Gathers the rotations of positions (int64, B×S) from the caches: operand `cos_operand` and the
 * operand after it. */
gboolean cleave_onnx_rotary_init (CleaveOnnxNode *node,
                                  CleaveOnnxRotary *rotary,
                                  guint cos_operand,
                                  CleaveOnnxValue *positions,
                                  GError **error);
/* Rotates the first elements of each head of `x`, B×N×S×H. The other elements do not change. */
CleaveOnnxValue *cleave_onnx_rotate (CleaveOnnxNode *node,
                                     const CleaveOnnxRotary *rotary,
                                     CleaveOnnxValue *x,
                                     const char *suffix,
                                     GError **error);
/* Returns position ids as B×S. The operand is B×S, or one number: the first of S consecutive
 * positions. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_rotary_positions (
    CleaveOnnxNode *node, CleaveOnnxValue *ids, gint64 n_batch, gint64 n, GError **error);

gboolean cleave_onnx_upgrade_rotary_embedding (CleaveOnnxNode *node, GError **error);
