/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "contrib.h"

/* Rotary embedding, shared by RotaryEmbedding and GroupQueryAttention: the rotation of each
 * position. B: batch, N: heads, S: positions, H: elements per head. */
typedef struct
{
  CleaveOnnxValue *cos, *sin; /* [B or 1, 1, S, half of the rotated elements] */
  gboolean interleaved;       /* a pair is two neighbors; if not, one element of each half */
} CleaveOnnxRotary;

/* Gathers the rotations from the caches, operands `cos_operand` and the next, for positions
 * (int64, B×S). */
gboolean cleave_onnx_rotary_init (CleaveOnnxNode *node,
                                  CleaveOnnxRotary *rotary,
                                  guint cos_operand,
                                  CleaveOnnxValue *positions,
                                  GError **error);
/* Rotates the first elements of each head of `x`, B×N×S×H; the others stay. */
CleaveOnnxValue *cleave_onnx_rotate (CleaveOnnxNode *node,
                                     const CleaveOnnxRotary *rotary,
                                     CleaveOnnxValue *x,
                                     const char *suffix,
                                     GError **error);
/* Returns position ids as B×S. The operand is B×S, or one number, the first of S consecutive
 * positions. NULL on error. */
CleaveOnnxValue *cleave_onnx_rotary_positions (
    CleaveOnnxNode *node, CleaveOnnxValue *ids, gint64 n_batch, gint64 n, GError **error);

gboolean cleave_onnx_upgrade_rotary_embedding (CleaveOnnxNode *node, GError **error);
