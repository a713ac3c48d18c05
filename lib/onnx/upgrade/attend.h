/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What the spellings of attention share. */

#include "contrib.h"

/* Scores on their way: of Q and K, scaled; capped; masked; as probabilities. */
enum {
  CLEAVE_ONNX_SCORES_MADE,
  CLEAVE_ONNX_SCORES_CAPPED,
  CLEAVE_ONNX_SCORES_MASKED,
  CLEAVE_ONNX_SCORES_SOFTENED,
  CLEAVE_ONNX_N_SCORES
};

typedef struct
{
  CleaveOnnxValue *q;       /* B×N×S×H */
  CleaveOnnxValue *k, *v;   /* B×M×T×H; head i of q reads head i / (N / M) */
  CleaveOnnxValue *allowed; /* bool, to B×N×S×T: where not, the score is `filtered`; NULL: all */
  double filtered;
  CleaveOnnxValue *causal;  /* bool, to B×N×S×T: where not, there is no score; NULL: all */
  CleaveOnnxValue *bias;    /* to B×N×S×T; NULL: none */
  double scale;             /* 0: 1 / √H */
  double softcap;           /* 0: none */
  CleaveOnnxValue *sink;    /* N: scores of no key; NULL: none */
  CleaveOnnxValue **scores; /* gets CLEAVE_ONNX_N_SCORES, in groups of heads; NULL: nobody asks */
} CleaveOnnxAttention;

/* The least finite number of an element type: a score that is none. */
double cleave_onnx_lowest (CleaveElement element);
/* B×S×(N·H). */
CleaveOnnxValue *
cleave_onnx_attend (CleaveOnnxNode *node, const CleaveOnnxAttention *attention, GError **error);
/* B×S×(N·H) as B×N×S×H. */
CleaveOnnxValue *cleave_onnx_split_heads (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_heads, const char *suffix, GError **error);
/* Whether key t comes no later than query s, which `past` (B×1×1×1, NULL: n_past) keys precede;
 * and, if there is a window, no more than so many keys earlier. */
CleaveOnnxValue *cleave_onnx_causal (CleaveOnnxNode *node,
                                     gint64 n_queries,
                                     gint64 n_keys,
                                     gint64 n_past,
                                     CleaveOnnxValue *past,
                                     gint64 window,
                                     GError **error);

/* Attention whose operands and attributes have the meaning that com.microsoft gives them. */
typedef struct
{
  gint64 n_heads;
  gboolean is_causal;
  CleaveOnnxAttention core;         /* k and v: the new ones, until the past is put before them */
  CleaveOnnxValue *past_k, *past_v; /* B×N×P×H; NULL: none */
  CleaveOnnxValue *mask;            /* as the file has it; NULL: none */
  CleaveOnnxValue *y;               /* the node's first result */
} CleaveOnnxHeads;

/* Takes the attributes; all others are errors. */
gboolean cleave_onnx_heads_take (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
/* Makes `y`; core.k and core.v become what is present. */
gboolean cleave_onnx_heads_attend (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error);
