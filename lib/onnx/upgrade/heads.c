/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Masks and past keys of the attention ops of com.microsoft. contrib-attention.c calls the
 * functions of this file. A mask operand has one of four shapes: batch (the ends of the valid
 * keys), 2 * batch (the ends, then the begins), batch × keys, or batch × queries × keys. */

#include "attend.h"

gboolean
cleave_onnx_heads_take (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error)
{
  heads->n_heads = cleave_onnx_node_take_int (node, "num_heads", 0);
  heads->is_causal = cleave_onnx_node_take_int (node, "unidirectional", 0) != 0;
  heads->core.scale = cleave_onnx_node_take_real (node, "scale", 0);
  heads->core.filtered = cleave_onnx_node_take_real (node, "mask_filter_value", -10000);
  cleave_onnx_node_take_int (node, "rotary_embedding_dim", 0); /* ignored: do_rotary must be 0 */
  if (heads->n_heads < 1)
    return cleave_onnx_node_fail (
        node, error, "num_heads must be at least 1, not %" G_GINT64_FORMAT, heads->n_heads);
  return cleave_onnx_take_only (node, "do_rotary", 0, error) &&
         cleave_onnx_take_only (node, "past_present_share_buffer", 0, error) &&
         cleave_onnx_node_check_no_attrs (node, error);
}

/* The functions below make masks that tell which keys a query may read. */

static CleaveOnnxValue *
compare (CleaveOnnxNode *node,
         const char *op,
         CleaveOnnxValue *numbers,
         CleaveOnnxValue *limits,
         const char *suffix,
         GError **error)
{
  return CLEAVE_ONNX_STEP (op, suffix, NULL, numbers, limits);
}

/* Returns a bool mask that is TRUE for the keys that queries may read. The operand `mask` has
 * n_batch or 2 * n_batch numbers. Number i is the end (exclusive) of the keys of batch element i.
 * If there are 2 * n_batch numbers, number n_batch + i is the begin of these keys. */
static CleaveOnnxValue *
allow_by_length (
    CleaveOnnxNode *node, CleaveOnnxValue *mask, gint64 n_batch, gint64 n_keys, GError **error)
{
  const CleaveShape limits = CLEAVE_SHAPE (n_batch, 1, 1, 1);
  CleaveOnnxValue *keys = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, 1, 1, n_keys), error), *end,
                  *begin;

  mask = cleave_onnx_cast (node, mask, CLEAVE_INT64, ".mask.limits", error);
  end = cleave_onnx_slice (node, mask, 0, (CleaveSpan){ 0, n_batch }, ".mask.end", error);
  end = cleave_onnx_reshape (node, end, &limits, ".mask.ends", error);
  end = compare (node, "Less", keys, end, ".mask.before", error);
  if (mask == NULL || cleave_onnx_value_shape (mask)->dim[0] == n_batch)
    return end;
  begin =
      cleave_onnx_slice (node, mask, 0, (CleaveSpan){ n_batch, 2 * n_batch }, ".mask.begin", error);
  begin = cleave_onnx_reshape (node, begin, &limits, ".mask.begins", error);
  begin = compare (node, "GreaterOrEqual", keys, begin, ".mask.from", error);
  return CLEAVE_ONNX_STEP ("And", ".mask.both", NULL, begin, end);
}

static gboolean
read_mask (CleaveOnnxNode *node, CleaveOnnxHeads *heads, gint64 n_keys, GError **error)
{
  const CleaveShape *q = cleave_onnx_value_shape (heads->core.q),
                    *is = heads->mask == NULL ? NULL : cleave_onnx_value_shape (heads->mask);
  gint64 n_batch = q->dim[0], n_queries = q->dim[2];
  g_autofree char *came = is == NULL ? NULL : cleave_shape_to_string (is);
  CleaveOnnxValue *allowed;

  /* A mask of one column is a placeholder that ONNX Runtime's optimizer writes. Treat this mask as
   * absent. */
  if (is == NULL || (is->rank == 2 && is->dim[1] == 1 && n_keys != 1 &&
                     (is->dim[0] == 1 || is->dim[0] == n_batch)))
    return TRUE;
  if (is->rank == 1 && (is->dim[0] == n_batch || is->dim[0] == 2 * n_batch))
    allowed = allow_by_length (node, heads->mask, n_batch, n_keys, error);
  else if ((is->rank == 2 && cleave_shape_equal (is, &CLEAVE_SHAPE (n_batch, n_keys))) ||
           (is->rank == 3 && cleave_shape_equal (is, &CLEAVE_SHAPE (n_batch, n_queries, n_keys))))
    {
      CleaveOnnxValue *numbers =
          cleave_onnx_cast (node, heads->mask, CLEAVE_INT64, ".mask.numbers", error);

      numbers = cleave_onnx_reshape (
          node, numbers, &CLEAVE_SHAPE (n_batch, 1, is->rank == 3 ? n_queries : 1, n_keys),
          ".mask.rows", error);
      allowed =
          compare (node, "Greater", numbers, cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1), error),
                   ".mask.allowed", error);
    }
  else
    return cleave_onnx_node_fail (
        node, error,
        "its mask must have the shape B, 2B, BxT or BxSxT, where B is %d, S is %d and T is %d, "
        "but has %s",
        (int) n_batch, (int) n_queries, (int) n_keys, came);
  heads->core.allowed = allowed;
  return allowed != NULL;
}

/* Puts the past keys or values before `x`. Returns `x` if there is no past. */
static CleaveOnnxValue *
append (CleaveOnnxNode *node,
        CleaveOnnxValue *past,
        CleaveOnnxValue *x,
        const char *suffix,
        GError **error)
{
  return past == NULL || cleave_onnx_value_shape (past)->dim[2] == 0
             ? x
             : cleave_onnx_join (node, (CleaveOnnxValue *[]){ past, x }, 2, 2, suffix, error);
}

/* Adds the causal mask: a query reads only keys up to its own position. */
static gboolean
add_causal (CleaveOnnxNode *node,
            CleaveOnnxAttention *core,
            gint64 n_queries,
            gint64 n_past,
            GError **error)
{
  gint64 n_keys = cleave_onnx_value_shape (core->k)->dim[2];

  if (n_keys - n_past > n_queries) /* with more new keys than queries, ONNX Runtime masks no key
                                    * of the last query */
    return cleave_onnx_node_fail (node, error,
                                  "unidirectional, it must have no more new keys than the %d "
                                  "queries, but has %d",
                                  (int) n_queries, (int) (n_keys - n_past));
  core->causal = cleave_onnx_causal (node, n_queries, n_keys, n_past, NULL, 0, error);
  return core->causal != NULL;
}

gboolean
cleave_onnx_heads_attend (CleaveOnnxNode *node, CleaveOnnxHeads *heads, GError **error)
{
  CleaveOnnxAttention *core = &heads->core;
  gint64 n_past, n_keys, n_queries;
  CleaveShape k, v;

  if (core->q == NULL || core->k == NULL || core->v == NULL)
    return FALSE;
  n_queries = cleave_onnx_value_shape (core->q)->dim[2];
  k = *cleave_onnx_value_shape (core->k);
  v = *cleave_onnx_value_shape (core->v);
  n_keys = k.dim[2];
  k.dim[2] = v.dim[2] = CLEAVE_ONNX_ANY;
  if ((heads->past_k == NULL) != (heads->past_v == NULL))
    return cleave_onnx_node_fail (node, error, "the past must have keys and values");
  if (heads->past_k != NULL &&
      (!cleave_onnx_expect (node, "the past of keys", heads->past_k, &k, error) ||
       !cleave_onnx_expect (node, "the past of values", heads->past_v, &v, error)))
    return FALSE;
  n_past = heads->past_k == NULL ? 0 : cleave_onnx_value_shape (heads->past_k)->dim[2];
  n_keys += n_past;
  if (heads->core.bias != NULL &&
      !cleave_onnx_expect (node, "attention_bias", heads->core.bias,
                           &CLEAVE_SHAPE (CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY, n_queries, n_keys),
                           error))
    return FALSE;
  core->k = append (node, heads->past_k, core->k, ".k.present", error);
  core->v = append (node, heads->past_v, core->v, ".v.present", error);
  if (core->k == NULL || core->v == NULL || !read_mask (node, heads, n_keys, error))
    return FALSE;
  if (heads->is_causal && n_queries > 1 && !add_causal (node, core, n_queries, n_past, error))
    return FALSE;
  heads->y = cleave_onnx_attend (node, core, error);
  return heads->y != NULL;
}
