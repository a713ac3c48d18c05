/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades Attention (opsets 23 and 24) and RotaryEmbedding (opset 23) of the default domain, with
 * the same steps as the ops of com.microsoft. */

#include "attend.h"
#include "rotary.h"

enum {
  Q, /* queries, with the elements of all heads in the last dimension (rank 3), or with a dimension
      * of heads before the queries (rank 4); keys and values have the same layout */
  K,
  V,
  MASK, /* bool or float, which broadcasts to batch × heads × queries × keys */
  PAST_K,
  PAST_V,
  N_KEYS, /* number of valid keys, for each batch element */
};

static CleaveOnnxValue *
heads_of (CleaveOnnxNode *node, guint operand, gint64 n_heads, const char *suffix, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, operand);
  const CleaveShape *is = cleave_onnx_value_shape (x);

  if (is->rank == 4)
    return x;
  if (is->rank == 3 && n_heads > 0 && is->dim[2] % n_heads == 0)
    return cleave_onnx_split_heads (node, x, n_heads, suffix, error);
  return cleave_onnx_node_fail_null (
      node, error,
      "operand %u must have rank 4, or rank 3 and a multiple of its %" G_GINT64_FORMAT " heads",
      operand, n_heads);
}

static gboolean
append_past (
    CleaveOnnxNode *node, guint operand, CleaveOnnxValue **x, const char *suffix, GError **error)
{
  CleaveOnnxValue *past = cleave_onnx_node_operand (node, operand);
  CleaveShape shape = *cleave_onnx_value_shape (*x);

  if (past == NULL)
    return TRUE;
  shape.dim[2] = CLEAVE_ONNX_ANY;
  if (!cleave_onnx_expect (node, "the past", past, &shape, error))
    return FALSE;
  *x = cleave_onnx_join (node, (CleaveOnnxValue *[]){ past, *x }, 2, 2, suffix, error);
  return *x != NULL;
}

static gboolean
read_masks (CleaveOnnxNode *node, CleaveOnnxAttention *core, GError **error)
{
  CleaveOnnxValue *mask = cleave_onnx_node_operand (node, MASK),
                  *n_keys = cleave_onnx_node_operand (node, N_KEYS), *keys;
  gint64 n = cleave_onnx_value_shape (core->k)->dim[2];
  const CleaveShape *is = mask == NULL ? NULL : cleave_onnx_value_shape (mask);

  if (is != NULL && (is->rank < 2 || is->rank > 4 || is->dim[is->rank - 1] != n))
    return cleave_onnx_node_fail (
        node, error,
        "attn_mask must have rank 2 to 4 and a column for each of %" G_GINT64_FORMAT " keys", n);
  if (mask != NULL && cleave_onnx_value_type (mask)->element == CLEAVE_BOOL)
    core->allowed = mask;
  else if (mask != NULL)
    {
      core->bias = cleave_onnx_cast (node, mask, cleave_onnx_value_type (core->q)->element,
                                     ".mask.real", error);
      if (core->bias == NULL)
        return FALSE;
    }
  if (n_keys == NULL)
    return TRUE;
  keys = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, 1, 1, n), error);
  n_keys = cleave_onnx_reshape (node, n_keys,
                                &CLEAVE_SHAPE (cleave_onnx_value_shape (core->q)->dim[0], 1, 1, 1),
                                ".keys.end", error);
  keys = CLEAVE_ONNX_STEP ("Less", ".keys", NULL, keys, n_keys);
  if (core->allowed != NULL)
    keys = CLEAVE_ONNX_STEP ("And", ".keys.allowed", NULL, core->allowed, keys);
  core->allowed = keys;
  return keys != NULL;
}

/* Reads Q, K and V, and divides them into heads. Puts the past before K and V. */
static gboolean
read_heads (CleaveOnnxNode *node, CleaveOnnxAttention *core, GError **error)
{
  gint64 q_heads = cleave_onnx_node_take_int (node, "q_num_heads", 0),
         kv_heads = cleave_onnx_node_take_int (node, "kv_num_heads", 0), n_heads;

  core->q = heads_of (node, Q, q_heads, ".q", error);
  core->k = core->q == NULL ? NULL : heads_of (node, K, kv_heads, ".k", error);
  core->v = core->k == NULL ? NULL : heads_of (node, V, kv_heads, ".v", error);
  if (core->v == NULL)
    return FALSE;
  n_heads = cleave_onnx_value_shape (core->k)->dim[1];
  if (n_heads == 0 || cleave_onnx_value_shape (core->q)->dim[1] % n_heads != 0)
    return cleave_onnx_node_fail (node, error,
                                  "the heads of Q must be a multiple of those of K and V");
  return append_past (node, PAST_K, &core->k, ".k.present", error) &&
         append_past (node, PAST_V, &core->v, ".v.present", error);
}

static CleaveOnnxValue *
find_causal (CleaveOnnxNode *node, const CleaveOnnxAttention *core, GError **error)
{
  CleaveOnnxValue *past = cleave_onnx_node_operand (node, PAST_K);

  return cleave_onnx_causal (
      node, cleave_onnx_value_shape (core->q)->dim[2], cleave_onnx_value_shape (core->k)->dim[2],
      past == NULL ? 0 : cleave_onnx_value_shape (past)->dim[2], NULL, 0, error);
}

/* Returns the scores of one stage (CLEAVE_ONNX_SCORES_MADE …), with the shape batch × heads ×
 * queries × keys. `mode` is the attribute qk_matmul_output_mode: the number of the stage. ONNX
 * Runtime numbers the stages in this order, too. */
static CleaveOnnxValue *
find_scores (CleaveOnnxNode *node, const CleaveOnnxAttention *core, gint64 mode, GError **error)
{
  const CleaveShape *q = cleave_onnx_value_shape (core->q), *k = cleave_onnx_value_shape (core->k);

  if (mode < 0 || mode >= CLEAVE_ONNX_N_SCORES)
    return cleave_onnx_node_fail_null (
        node, error, "qk_matmul_output_mode %" G_GINT64_FORMAT " is not known", mode);
  return cleave_onnx_reshape (node, core->scores[mode],
                              &CLEAVE_SHAPE (q->dim[0], q->dim[1], q->dim[2], k->dim[2]),
                              ".scores.flat", error);
}

gboolean
cleave_onnx_upgrade_attention (CleaveOnnxNode *node, GError **error)
{
  gboolean is_causal = cleave_onnx_node_take_int (node, "is_causal", 0) != 0;
  CleaveOnnxAttention core = { .scale = cleave_onnx_node_take_real (node, "scale", 0),
                               .softcap = cleave_onnx_node_take_real (node, "softcap", 0) };
  CleaveOnnxValue *y, *stages[CLEAVE_ONNX_N_SCORES] = { NULL }, *scores = NULL;
  gint64 mode = cleave_onnx_node_take_int (node, "qk_matmul_output_mode", 0);

  core.scores = stages;
  cleave_onnx_node_take_int (node, "softmax_precision", 0);
  if (!cleave_onnx_node_need (node, 3, error) || !read_heads (node, &core, error) ||
      !cleave_onnx_node_check_no_attrs (node, error) || !read_masks (node, &core, error))
    return FALSE;
  core.filtered = cleave_onnx_lowest (cleave_onnx_value_type (core.q)->element);
  if (is_causal && (core.causal = find_causal (node, &core, error)) == NULL)
    return FALSE;
  y = cleave_onnx_attend (node, &core, error);
  if (y != NULL && cleave_onnx_node_operand_shape (node, Q)->rank == 4)
    y = cleave_onnx_split_heads (node, y, cleave_onnx_value_shape (core.q)->dim[1], ".y", error);
  if (y != NULL && node->n_results > 3)
    scores = find_scores (node, &core, mode, error);
  return cleave_onnx_finish_all (node, (CleaveOnnxValue *[]){ y, core.k, core.v, scores }, 4);
}

/* Reads cos and sin into `rotary`. Without position ids, cos and sin have the shape batch ×
 * positions × n, where n is the number of pairs of elements that rotate. With position ids (batch ×
 * positions), cos and sin are tables indexed by position id. */
static gboolean
read_angles (CleaveOnnxNode *node, CleaveOnnxRotary *rotary, const CleaveShape *x, GError **error)
{
  CleaveOnnxValue *ids = cleave_onnx_node_operand (node, 3);
  const CleaveShape *cache = cleave_onnx_node_operand_shape (node, 1);
  const gint64 n_batch = x->dim[0], n = x->dim[2];

  if (ids != NULL)
    return cleave_onnx_rotary_init (
        node, rotary, 1, cleave_onnx_rotary_positions (node, ids, n_batch, n, error), error);
  if (!cleave_onnx_expect (node, "cos_cache without position_ids",
                           cleave_onnx_node_operand (node, 1),
                           &CLEAVE_SHAPE (n_batch, n, CLEAVE_ONNX_ANY), error) ||
      !cleave_onnx_expect (node, "sin_cache", cleave_onnx_node_operand (node, 2), cache, error))
    return FALSE;
  rotary->cos = cleave_onnx_reshape (node, cleave_onnx_node_operand (node, 1),
                                     &CLEAVE_SHAPE (n_batch, 1, n, cache->dim[2]), ".cos", error);
  rotary->sin = cleave_onnx_reshape (node, cleave_onnx_node_operand (node, 2),
                                     &CLEAVE_SHAPE (n_batch, 1, n, cache->dim[2]), ".sin", error);
  return rotary->cos != NULL && rotary->sin != NULL;
}

gboolean
cleave_onnx_upgrade_rotary_23 (CleaveOnnxNode *node, GError **error)
{
  gint64 n_heads = cleave_onnx_node_take_int (node, "num_heads", 0),
         n_turned = cleave_onnx_node_take_int (node, "rotary_embedding_dim", 0);
  CleaveOnnxRotary rotary = { .interleaved =
                                  cleave_onnx_node_take_int (node, "interleaved", 0) != 0 };
  CleaveOnnxValue *x;
  CleaveShape is;

  if (!cleave_onnx_node_check_no_attrs (node, error) || !cleave_onnx_node_need (node, 3, error))
    return FALSE;
  is = *cleave_onnx_node_operand_shape (node, 0);
  x = heads_of (node, 0, n_heads, ".heads", error);
  if (x == NULL || !read_angles (node, &rotary, cleave_onnx_value_shape (x), error))
    return FALSE;
  if (n_turned != 0 && n_turned != 2 * cleave_onnx_value_shape (rotary.cos)->dim[3])
    return cleave_onnx_node_fail (node, error,
                                  "rotary_embedding_dim must be twice the %" G_GINT64_FORMAT
                                  " columns of cos_cache, not %" G_GINT64_FORMAT,
                                  cleave_onnx_value_shape (rotary.cos)->dim[3], n_turned);
  x = cleave_onnx_rotate (node, &rotary, x, ".turned", error);
  if (is.rank == 3)
    x = cleave_onnx_permute (node, x, &CLEAVE_SHAPE (0, 2, 1, 3), ".heads.turned", error);
  return cleave_onnx_finish (node, cleave_onnx_reshape (node, x, &is, "", error));
}
