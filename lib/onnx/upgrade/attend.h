/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attention as simpler ops. The upgrades of Attention, MultiHeadAttention, GroupQueryAttention and
 * QAttention read their operands and attributes into a CleaveOnnxAttention; cleave_onnx_attend()
 * then adds the nodes.
 *
 * Shapes: B batch, N query heads, M key and value heads (N is a multiple of M), S queries, T keys,
 * H elements per head, P past keys. */

#include "contrib.h"

/* Stages of the scores: after the product Q Kᵀ and the scale, after softcap, after the masks, after
 * softmax. */
enum {
  CLEAVE_ONNX_SCORES_MADE,
  CLEAVE_ONNX_SCORES_CAPPED,
  CLEAVE_ONNX_SCORES_MASKED,
  CLEAVE_ONNX_SCORES_SOFTENED,
  CLEAVE_ONNX_N_SCORES
};

/* The operands of one attention, divided into heads. Masks and bias must broadcast to B×N×S×T. */
typedef struct
{
  CleaveOnnxValue *q;       /* queries, B×N×S×H */
  CleaveOnnxValue *k, *v;   /* keys and values, B×M×T×H; head i of q reads head i / (N / M) */
  CleaveOnnxValue *allowed; /* bool mask: where FALSE, `filtered` is added to the score; NULL:
                             * all TRUE */
  double filtered;
  CleaveOnnxValue *causal;  /* bool mask: where FALSE, the lowest float is added to the score;
                             * NULL: all TRUE */
  CleaveOnnxValue *bias;    /* numbers that are added to the scores; NULL: none */
  double scale;             /* factor of the scores; 0: 1 / √H */
  double softcap;           /* scores become softcap * tanh (score / softcap); 0: unchanged */
  CleaveOnnxValue *sink;    /* N scores, one for each head: softmax adds one key with this score,
                             * and drops the probability of that key; NULL: none */
  CleaveOnnxValue **scores; /* indexed by stage: receives the scores of the stage, whose heads may
                             * be in groups (B×M×N/M×S×T); NULL: the caller needs no scores */
} CleaveOnnxAttention;

/* Returns the lowest finite number of an element type, the score of a masked key. */
double cleave_onnx_lowest (CleaveElement element);
/* Adds the nodes of an attention. Returns the result, B×S×(N·H); NULL on error. */
CleaveOnnxValue *
cleave_onnx_attend (CleaveOnnxNode *node, const CleaveOnnxAttention *attention, GError **error);
/* Converts `x` from B×S×(N·H) to B×N×S×H. `n_heads` is N. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_split_heads (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_heads, const char *suffix, GError **error);
/* Returns a mask that tells whether query s may read key t. A query may not read later keys. If
 * `window` exceeds 0, a query may read only keys that are less than `window` positions earlier.
 * `past` (B×1×1×1) is the number of keys before query 0; if `past` is NULL, `n_past` is this
 * number. */
CleaveOnnxValue *cleave_onnx_causal (CleaveOnnxNode *node,
                                     gint64 n_queries,
                                     gint64 n_keys,
                                     gint64 n_past,
                                     CleaveOnnxValue *past,
                                     gint64 window,
                                     GError **error);

/* An attention of com.microsoft: its attributes and operands. */
typedef struct
{
  gint64 n_heads;
  gboolean is_causal;
  CleaveOnnxAttention core;         /* the attention itself; cleave_onnx_heads_attend() puts the
                                     * past before core.k and core.v */
  CleaveOnnxValue *past_k, *past_v; /* past keys and values, B×N×P×H; NULL: none */
  CleaveOnnxValue *mask;            /* mask operand of the node; NULL: none */
  CleaveOnnxValue *y;               /* result 0 of the node */
} CleaveOnnxHeads;

/* Removes the attributes of the attention from the node, and stores them in `heads`. Fails if
 * another attribute remains. */
gboolean cleave_onnx_heads_take (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
/* Adds the nodes that compute `y`. Afterwards, core.k and core.v consist of the past and the new
 * keys and values. */
gboolean cleave_onnx_heads_attend (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
