/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Adds the nodes of an attention: softmax (Q Kᵀ · scale + mask) V. The upgrades of Attention of the
 * default domain and of com.microsoft's ops call cleave_onnx_attend().
 *
 * Nodes compute masks by comparing positions. A constant mask would be larger than the positions.
 * After a split, a piece computes only the rows of the mask that the piece needs. */

#include "attend.h"

#include <math.h>

static CleaveElement
element_of (const CleaveOnnxValue *value)
{
  return cleave_onnx_value_type (value)->element;
}

double
cleave_onnx_lowest (CleaveElement element)
{
  return element == CLEAVE_FLOAT16 ? -65504 : -(double) G_MAXFLOAT;
}

CleaveOnnxValue *
cleave_onnx_split_heads (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_heads, const char *suffix, GError **error)
{
  g_autofree char *shaped = g_strconcat (suffix, ".shaped", NULL);
  const CleaveShape *is = x == NULL ? NULL : cleave_onnx_value_shape (x);

  if (x == NULL)
    return NULL;
  x = cleave_onnx_reshape (node, x,
                           &CLEAVE_SHAPE (is->dim[0], is->dim[1], n_heads, is->dim[2] / n_heads),
                           shaped, error);
  return cleave_onnx_permute (node, x, &CLEAVE_SHAPE (0, 2, 1, 3), suffix, error);
}

CleaveOnnxValue *
cleave_onnx_causal (CleaveOnnxNode *node,
                    gint64 n_queries,
                    gint64 n_keys,
                    gint64 n_past,
                    CleaveOnnxValue *past,
                    gint64 window,
                    GError **error)
{
  CleaveOnnxValue *key = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, 1, 1, n_keys), error),
                  *query = cleave_onnx_count (node, past == NULL ? n_past : 0,
                                              &CLEAVE_SHAPE (1, 1, n_queries, 1), error),
                  *early, *width;

  if (past != NULL)
    query = CLEAVE_ONNX_STEP ("Add", ".positions", NULL, query, past);
  early = CLEAVE_ONNX_STEP ("LessOrEqual", ".causal", NULL, key, query);
  if (window <= 0)
    return early;
  width = cleave_onnx_count (node, window, &CLEAVE_SHAPE (1), error);
  query = CLEAVE_ONNX_STEP ("Sub", ".window", NULL, query, width);
  key = CLEAVE_ONNX_STEP ("Greater", ".within", NULL, key, query);
  return CLEAVE_ONNX_STEP ("And", ".local", NULL, early, key);
}

/* Divides the heads into groups, along a new dimension: n heads become n_groups groups of n /
 * n_groups heads. Returns `x` if n_groups is 0: each query head then has a key head of its own. */
static CleaveOnnxValue *
group (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_groups, const char *suffix, GError **error)
{
  const CleaveShape *is = x == NULL ? NULL : cleave_onnx_value_shape (x);
  gint64 n = is == NULL || is->rank < 3 ? 1 : is->dim[is->rank - 3];

  if (is == NULL || n_groups == 0 || is->rank < 3)
    return x;
  return cleave_onnx_reshape (node, x,
                              &CLEAVE_SHAPE (is->rank < 4 ? 1 : is->dim[0], n == 1 ? 1 : n_groups,
                                             n == 1 ? 1 : n / n_groups, is->dim[is->rank - 2],
                                             is->dim[is->rank - 1]),
                              suffix, error);
}

/* Returns keys or values with one more dimension of extent 1, so that one head of keys or values
 * serves a whole group of query heads. Returns `x` if n_groups is 0. */
static CleaveOnnxValue *
group_of_one (
    CleaveOnnxNode *node, CleaveOnnxValue *x, gint64 n_groups, const char *suffix, GError **error)
{
  const CleaveShape *is = x == NULL ? NULL : cleave_onnx_value_shape (x);

  return is == NULL || n_groups == 0
             ? x
             : cleave_onnx_reshape (
                   node, x, &CLEAVE_SHAPE (is->dim[0], is->dim[1], 1, is->dim[2], is->dim[3]),
                   suffix, error);
}

static gboolean
add_masks (CleaveOnnxNode *node,
           const CleaveOnnxAttention *a,
           gint64 n_groups,
           CleaveOnnxValue **scores,
           GError **error)
{
  CleaveElement element = element_of (a->q);
  CleaveOnnxValue *none = cleave_onnx_real (node, element, 0),
                  *low = cleave_onnx_real (node, element, cleave_onnx_lowest (element)),
                  *mask = NULL;

  if (a->allowed != NULL)
    mask = CLEAVE_ONNX_STEP ("Where", ".mask", NULL,
                             group (node, a->allowed, n_groups, ".allowed.grouped", error), none,
                             cleave_onnx_real (node, element, a->filtered));
  if (a->causal != NULL)
    mask = CLEAVE_ONNX_STEP ("Where", ".mask.causal", NULL,
                             group (node, a->causal, n_groups, ".causal.grouped", error),
                             a->allowed == NULL ? none : mask, low);
  if (a->bias != NULL)
    *scores = CLEAVE_ONNX_STEP ("Add", ".scores.biased", NULL, *scores,
                                group (node, a->bias, n_groups, ".bias.grouped", error));
  if (a->allowed != NULL || a->causal != NULL)
    *scores = CLEAVE_ONNX_STEP ("Add", ".scores.masked", NULL, *scores, mask);
  return *scores != NULL;
}

static CleaveOnnxValue *
cap (CleaveOnnxNode *node, CleaveOnnxValue *scores, double limit, GError **error)
{
  CleaveOnnxValue *to = cleave_onnx_real (node, element_of (scores), limit);

  scores = CLEAVE_ONNX_STEP ("Div", ".scores.part", NULL, scores, to);
  scores = CLEAVE_ONNX_STEP ("Tanh", ".scores.tanh", NULL, scores);
  return CLEAVE_ONNX_STEP ("Mul", ".scores.capped", NULL, scores, to);
}

/* Returns the softmax of the scores over the keys. A sink is the score of one more key: it takes
 * part in the softmax, but the result has no probability for that key. */
static CleaveOnnxValue *
apply_softmax (CleaveOnnxNode *node,
               const CleaveOnnxAttention *a,
               CleaveOnnxValue *scores,
               gint64 n_groups,
               GError **error)
{
  CleaveShape column = *cleave_onnx_value_shape (scores);
  const CleaveTensorType rank = CLEAVE_TYPE (CLEAVE_INT64, column.rank);
  gint64 axis = column.rank - 1, n_keys = column.dim[axis];
  CleaveOnnxValue *sink = a->sink;

  if (sink != NULL)
    {
      column.dim[axis] = 1;
      sink = cleave_onnx_node_reshape (
          node, sink, &CLEAVE_SHAPE (1, cleave_onnx_value_shape (sink)->dim[0], 1, 1),
          ".sink.heads", error);
      sink = group (node, sink, n_groups, ".sink.grouped", error);
      sink = CLEAVE_ONNX_STEP ("Expand", ".sink", NULL, sink,
                               cleave_onnx_constant (node, &rank, column.dim));
      scores = cleave_onnx_join (node, (CleaveOnnxValue *[]){ scores, sink }, 2, axis,
                                 ".scores.sink", error);
    }
  scores =
      CLEAVE_ONNX_STEP ("Softmax", ".probabilities", cleave_onnx_attr_new_int ("axis", -1), scores);
  return cleave_onnx_slice (node, scores, axis, (CleaveSpan){ 0, n_keys }, ".probabilities.keys",
                            error);
}

static void
keep (const CleaveOnnxAttention *a, guint stage, CleaveOnnxValue *scores)
{
  if (a->scores != NULL)
    a->scores[stage] = scores;
}

CleaveOnnxValue *
cleave_onnx_attend (CleaveOnnxNode *node, const CleaveOnnxAttention *a, GError **error)
{
  const CleaveShape q = *cleave_onnx_value_shape (a->q), v = *cleave_onnx_value_shape (a->v);
  double scale = a->scale != 0 ? a->scale : (double) (1 / sqrtf ((float) q.dim[3]));
  gint64 n_groups = q.dim[1] == v.dim[1] ? 0 : v.dim[1];
  CleaveOnnxValue *x, *keys;

  x = CLEAVE_ONNX_STEP ("Mul", ".q.scaled", NULL, a->q,
                        cleave_onnx_real (node, element_of (a->q), scale));
  x = group (node, x, n_groups, ".q.grouped", error);
  keys = cleave_onnx_permute (node, a->k, &CLEAVE_SHAPE (0, 1, 3, 2), ".k.turned", error);
  keys = group_of_one (node, keys, n_groups, ".k.grouped", error);
  x = CLEAVE_ONNX_STEP ("MatMul", ".scores", NULL, x, keys);
  keep (a, CLEAVE_ONNX_SCORES_MADE, x);
  if (x != NULL && a->softcap > 0)
    x = cap (node, x, a->softcap, error);
  keep (a, CLEAVE_ONNX_SCORES_CAPPED, x);
  if (x == NULL || !add_masks (node, a, n_groups, &x, error))
    return NULL;
  keep (a, CLEAVE_ONNX_SCORES_MASKED, x);
  x = apply_softmax (node, a, x, n_groups, error);
  keep (a, CLEAVE_ONNX_SCORES_SOFTENED, x);
  x = CLEAVE_ONNX_STEP ("MatMul", ".heads", NULL, x,
                        group_of_one (node, a->v, n_groups, ".v.grouped", error));
  x = cleave_onnx_reshape (node, x, &CLEAVE_SHAPE (q.dim[0], q.dim[1], q.dim[2], v.dim[3]),
                           ".heads.flat", error);
  x = cleave_onnx_permute (node, x, &CLEAVE_SHAPE (0, 2, 1, 3), ".heads.turned", error);
  return cleave_onnx_reshape (node, x, &CLEAVE_SHAPE (q.dim[0], q.dim[2], q.dim[1] * v.dim[3]), "",
                              error);
}
