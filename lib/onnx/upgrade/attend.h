/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Attention as simpler ops. The upgrades of Attention, MultiHeadAttention, GroupQueryAttention and
 * QAttention read their operands and attributes into a CleaveOnnxAttention; cleave_onnx_attend()
 * then adds the nodes.
 *
 * Keys and values have the same number of heads. The number of query heads is a multiple of this
 * number. */

#include "contrib.h"

/* The stages of the scores of an attention. MADE: after the product Q Kᵀ and the scale. CAPPED:
 * also after softcap. MASKED: also after the masks. SOFTENED: also after softmax. */
enum {
  CLEAVE_ONNX_SCORES_MADE,
  CLEAVE_ONNX_SCORES_CAPPED,
  CLEAVE_ONNX_SCORES_MASKED,
  CLEAVE_ONNX_SCORES_SOFTENED,
  CLEAVE_ONNX_N_SCORES
};

/* The operands of one attention, divided into heads. Masks and bias must broadcast to the shape of
 * the scores: batch × query heads × queries × keys. */
typedef struct
{
  CleaveOnnxValue *q;     /* queries: batch × query heads × queries × elements per head */
  CleaveOnnxValue *k, *v; /* keys and values: batch × key heads × keys × elements per head; with 8
                           * query heads and 2 key heads, query heads 0 to 3 read key head 0, and
                           * query heads 4 to 7 read key head 1 */
  CleaveOnnxValue *allowed; /* bool mask: where it is FALSE, the number `filtered` is added to the
                             * score; NULL: all TRUE */
  double filtered;
  CleaveOnnxValue *causal;  /* bool mask: where it is FALSE, the lowest float is added to the score,
                             * even if `allowed` is FALSE there, too; NULL: all TRUE */
  CleaveOnnxValue *bias;    /* numbers that are added to the scores; NULL: none */
  double scale;             /* factor of the scores; 0: 1 / √(elements per head) */
  double softcap;           /* scores become softcap * tanh (score / softcap); 0: unchanged */
  CleaveOnnxValue *sink;    /* one score for each query head: softmax adds a key with this score,
                             * and drops the probability of this key; NULL: none */
  CleaveOnnxValue **scores; /* indexed by stage (CLEAVE_ONNX_SCORES_MADE …): receives the scores of
                             * the stage; NULL: the caller needs no scores. If there are fewer key
                             * heads than query heads, the dimension of query heads may be split in
                             * two: key heads, and query heads per key head */
} CleaveOnnxAttention;

/* Returns the lowest finite number of an element type, the score of a masked key. */
double cleave_onnx_lowest (CleaveElement element);
/* Adds the nodes of an attention. Returns the result with the shape batch × queries × (elements of
 * all heads); NULL on error. */
CleaveOnnxValue *
cleave_onnx_attend (CleaveOnnxNode *node, const CleaveOnnxAttention *attention, GError **error);
/* Divides the last dimension of `x` into heads of n elements: batch × length × (n_heads * n)
 * becomes batch × n_heads × length × n. Returns NULL on error. */
CleaveOnnxValue *cleave_onnx_split_heads (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_heads, const char *suffix, GError **error);
/* Returns a mask that tells whether query s may read key t. A query may not read later keys. If
 * `window` exceeds 0, a query may read only keys that are less than `window` positions earlier.
 * `past` has the number of keys before query 0 for each batch element (batch × 1 × 1 × 1). If
 * `past` is NULL, `n_past` is this number. */
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
  CleaveOnnxAttention core;         /* the operands and attributes of the attention, without the
                                     * fields below; cleave_onnx_heads_attend() puts past_k before
                                     * core.k, and past_v before core.v */
  CleaveOnnxValue *past_k, *past_v; /* past keys and values: batch × heads × past keys × elements
                                     * per head; NULL: none */
  CleaveOnnxValue *mask;            /* mask operand of the node; NULL: none */
  CleaveOnnxValue *y;               /* result 0 of the node */
} CleaveOnnxHeads;

/* Removes the attributes of the attention from the node, and stores them in `heads`. Fails if
 * another attribute remains. */
gboolean cleave_onnx_heads_take (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
/* Adds the nodes that compute `y`. Afterwards, core.k has the past keys, then the new keys; core.v
 * has the past values, then the new values. */
gboolean cleave_onnx_heads_attend (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
