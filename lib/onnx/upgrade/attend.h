/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attention as simpler ops, which the upgrades of Attention, MultiHeadAttention,
 * GroupQueryAttention and QAttention share. An upgrade reads its operands and attributes into
 * CleaveOnnxAttention; cleave_onnx_attend() then adds the nodes.
 *
 * Shapes: B batch, N query heads, M key and value heads (N is a multiple of M), S queries, T keys,
 * H elements per head, P past keys. */

#include "contrib.h"

/* Stages of the scores in an attention: after Q Kᵀ and the scale, after softcap, after the masks,
 * after softmax. */
enum {
  CLEAVE_ONNX_SCORES_MADE,
  CLEAVE_ONNX_SCORES_CAPPED,
  CLEAVE_ONNX_SCORES_MASKED,
  CLEAVE_ONNX_SCORES_SOFTENED,
  CLEAVE_ONNX_N_SCORES
};

/* The operands of one attention, split into heads. Masks and bias are broadcast to B×N×S×T. */
typedef struct
{
  CleaveOnnxValue *q;       /* B×N×S×H */
  CleaveOnnxValue *k, *v;   /* B×M×T×H; head i of q reads head i / (N / M) */
  CleaveOnnxValue *allowed; /* bool mask: adds `filtered` where FALSE; NULL: all TRUE */
  double filtered;
  CleaveOnnxValue *causal; /* bool mask: adds the lowest float where FALSE; NULL: all TRUE */
  CleaveOnnxValue *bias;   /* added to the scores; NULL: none */
  double scale;            /* factor of the scores; 0: 1 / √H */
  double softcap;          /* scores become softcap * tanh (score / softcap); 0: unchanged */
  CleaveOnnxValue *sink; /* N scores, one for each head, that belong to no key but count in softmax;
                            NULL: none */
  CleaveOnnxValue *
      *scores; /* receives the scores of each stage, in groups of heads; NULL: not wanted */
} CleaveOnnxAttention;

/* Returns the lowest finite number of an element type, the score of a masked key. */
double cleave_onnx_lowest (CleaveElement element);
/* Builds the nodes of attention. Returns the result, B×S×(N·H), or NULL on error. */
CleaveOnnxValue *
cleave_onnx_attend (CleaveOnnxNode *node, const CleaveOnnxAttention *attention, GError **error);
/* Converts B×S×(N·H) to B×N×S×H. */
CleaveOnnxValue *cleave_onnx_split_heads (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_heads, const char *suffix, GError **error);
/* Returns a mask: whether query s may read key t. The position of the key must not be later and, if
 * `window` exceeds 0, must be less than `window` positions earlier. `past` keys (B×1×1×1; NULL:
 * n_past) precede query 0. */
CleaveOnnxValue *cleave_onnx_causal (CleaveOnnxNode *node,
                                     gint64 n_queries,
                                     gint64 n_keys,
                                     gint64 n_past,
                                     CleaveOnnxValue *past,
                                     gint64 window,
                                     GError **error);

/* Attention with operands and attributes as com.microsoft defines them. */
typedef struct
{
  gint64 n_heads;
  gboolean is_causal;
  CleaveOnnxAttention
      core; /* k and v of `core` at first lack the past keys and values, which a later step adds */
  CleaveOnnxValue *past_k, *past_v; /* B×N×P×H; NULL: none */
  CleaveOnnxValue *mask;            /* mask operand of the node; NULL: none */
  CleaveOnnxValue *y;               /* result 0 of the node */
} CleaveOnnxHeads;

/* Removes the attributes from the node and stores them. Fails on unknown attributes. */
gboolean cleave_onnx_heads_take (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
/* Computes `y`. Afterwards, core.k and core.v have the past and the new keys and values. */
gboolean cleave_onnx_heads_attend (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
