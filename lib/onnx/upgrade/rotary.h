/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "contrib.h"

/* The turn of each position. */
typedef struct
{
  CleaveOnnxValue *cos, *sin; /* B or 1, 1, S, half of what is turned */
  gboolean interleaved;       /* a pair is two neighbours, not one of each half */
} CleaveOnnxRotary;

/* From caches of so many positions × half, for positions (int64) of B×S. */
gboolean cleave_onnx_rotary_init (CleaveOnnxNode *node,
                                  CleaveOnnxRotary *rotary,
                                  guint cos_operand,
                                  CleaveOnnxValue *positions,
                                  GError **error);
/* `x`, B×N×S×H, with its first elements turned. */
CleaveOnnxValue *cleave_onnx_rotate (CleaveOnnxNode *node,
                                     const CleaveOnnxRotary *rotary,
                                     CleaveOnnxValue *x,
                                     const char *suffix,
                                     GError **error);
/* Ids of positions as B×S, or the first of S that follow each other; NULL and the error if they are
 * neither. */
CleaveOnnxValue *cleave_onnx_rotary_positions (
    CleaveOnnxNode *node, CleaveOnnxValue *ids, gint64 n_batch, gint64 n, GError **error);

gboolean cleave_onnx_upgrade_rotary_embedding (CleaveOnnxNode *node, GError **error);
