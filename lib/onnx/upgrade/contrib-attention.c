/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades Attention, QAttention and MultiHeadAttention of com.microsoft. Attention projects X to
 * Q, K and V; QAttention does so with quantized weights; MultiHeadAttention reads Q, K and V. */

#include "attend.h"

/* Fails if `n`, a number of elements, is not a multiple of the number of heads. `what`: name of the
 * operand, for the error. */
static gboolean
check_heads (const CleaveOnnxNode *node, gint64 n, gint64 n_heads, const char *what, GError **error)
{
  return (n > 0 && n % n_heads == 0) ||
         cleave_onnx_node_fail (node, error,
                                "%s must be a multiple of num_heads %" G_GINT64_FORMAT
                                ", not %" G_GINT64_FORMAT,
                                what, n_heads, n);
}

/* The functions below upgrade Attention and QAttention, whose past and present hold keys and values
 * in one tensor. */

static CleaveOnnxValue *
half_of_past (CleaveOnnxNode *node, CleaveOnnxValue *past, gint64 half, GError **error)
{
  const CleaveShape *is = cleave_onnx_value_shape (past);

  past = cleave_onnx_slice (node, past, 0, (CleaveSpan){ half, half + 1 },
                            half == 0 ? ".past.k" : ".past.v", error);
  return cleave_onnx_reshape (node, past,
                              &CLEAVE_SHAPE (is->dim[1], is->dim[2], is->dim[3], is->dim[4]),
                              half == 0 ? ".past.keys" : ".past.values", error);
}

static CleaveOnnxValue *
half_of_present (CleaveOnnxNode *node, CleaveOnnxValue *x, const char *suffix, GError **error)
{
  const CleaveShape *is = cleave_onnx_value_shape (x);

  return cleave_onnx_reshape (
      node, x, &CLEAVE_SHAPE (1, is->dim[0], is->dim[1], is->dim[2], is->dim[3]), suffix, error);
}

/* Slices `x` into Q, K and V, and divides each into heads. The last of the three dimensions of `x`
 * has the elements of Q, then of K, then of V. */
static gboolean
slice_projected (CleaveOnnxNode *node,
                 gint64 n_heads,
                 CleaveOnnxValue *x,
                 const CleaveOnnxAttr *widths,
                 CleaveOnnxValue **parts,
                 GError **error)
{
  static const char *const suffixes[] = { ".q", ".k", ".v" };
  gint64 end = 0, width = cleave_onnx_value_shape (x)->dim[2];

  if (widths != NULL && widths->ints->len != 3)
    return cleave_onnx_node_fail (node, error, "qkv_hidden_sizes must be 3 numbers, not %u",
                                  widths->ints->len);
  for (guint i = 0; i < 3; i++)
    {
      gint64 n = widths == NULL ? width / 3 : g_array_index (widths->ints, gint64, i);
      g_autofree char *suffix = g_strconcat (suffixes[i], ".flat", NULL);

      if (!check_heads (node, n, n_heads, "a hidden size", error))
        return FALSE;
      end += n;
      if (end > width)
        break;
      parts[i] = cleave_onnx_slice (node, x, 2, (CleaveSpan){ end - n, end }, suffix, error);
      parts[i] = cleave_onnx_split_heads (node, parts[i], n_heads, suffixes[i], error);
    }
  if (end != width)
    return cleave_onnx_node_fail (
        node, error, "the hidden sizes must add up to %" G_GINT64_FORMAT ", not %" G_GINT64_FORMAT,
        width, end);
  return TRUE;
}

/* Computes attention on `x`. The last of its three dimensions has the elements of Q, then of K,
 * then of V. `widths`: numbers of elements of Q, K and V; NULL: the three numbers are equal. */
static gboolean
attend_projected (CleaveOnnxNode *node,
                  CleaveOnnxHeads *heads,
                  CleaveOnnxValue *x,
                  const CleaveOnnxAttr *widths,
                  CleaveOnnxValue *past,
                  GError **error)
{
  CleaveOnnxValue *parts[3], *present;

  if (x == NULL)
    return FALSE;
  if (!slice_projected (node, heads->n_heads, x, widths, parts, error))
    return FALSE;
  heads->core.q = parts[0];
  heads->core.k = parts[1];
  heads->core.v = parts[2];
  if (past != NULL)
    {
      if (!cleave_onnx_expect (
              node, "past", past,
              &CLEAVE_SHAPE (2, CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY),
              error))
        return FALSE;
      heads->past_k = half_of_past (node, past, 0, error);
      heads->past_v = half_of_past (node, past, 1, error);
    }
  if (!cleave_onnx_heads_attend (node, heads, error) || node->n_results < 2)
    return cleave_onnx_finish (node, heads->y);
  parts[0] = half_of_present (node, heads->core.k, ".present.k", error);
  parts[1] = half_of_present (node, heads->core.v, ".present.v", error);
  present = cleave_onnx_join (node, parts, 2, 0, ".present", error);
  return cleave_onnx_finish_all (node, (CleaveOnnxValue *[]){ heads->y, present }, 2);
}

static gboolean
check_projection (const CleaveOnnxNode *node, GError **error)
{
  const CleaveShape *x = cleave_onnx_node_operand_shape (node, 0);

  return cleave_onnx_node_need (node, 2, error) &&
         cleave_onnx_expect (node, "input", cleave_onnx_node_operand (node, 0),
                             &CLEAVE_SHAPE (CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY),
                             error) &&
         cleave_onnx_expect (node, "weights", cleave_onnx_node_operand (node, 1),
                             &CLEAVE_SHAPE (x->dim[2], CLEAVE_ONNX_ANY), error);
}

static gboolean
attention (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) widths = cleave_onnx_node_take (node, "qkv_hidden_sizes");
  CleaveOnnxValue *bias = cleave_onnx_node_operand (node, 2), *x;
  CleaveOnnxHeads heads = { .mask = cleave_onnx_node_operand (node, 3),
                            .core.bias = cleave_onnx_node_operand (node, 5) };

  if (!cleave_onnx_heads_take (node, &heads, error) || !check_projection (node, error) ||
      !cleave_onnx_refuse (node, 6, "past_sequence_length", error))
    return FALSE;
  x = CLEAVE_ONNX_STEP ("MatMul", ".projected", NULL, cleave_onnx_node_operand (node, 0),
                        cleave_onnx_node_operand (node, 1));
  if (bias != NULL)
    x = CLEAVE_ONNX_STEP ("Add", ".projected.biased", NULL, x, bias);
  return attend_projected (node, &heads, x, widths, cleave_onnx_node_operand (node, 4), error);
}

static gboolean
q_attention (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *integers[] = { cleave_onnx_node_operand (node, 0),
                                  cleave_onnx_node_operand (node, 1),
                                  cleave_onnx_node_operand (node, 6),
                                  cleave_onnx_node_operand (node, 7) },
                  *x;
  CleaveOnnxHeads heads = { .mask = cleave_onnx_node_operand (node, 5) };

  if (!cleave_onnx_heads_take (node, &heads, error) || !cleave_onnx_node_need (node, 5, error) ||
      !check_projection (node, error))
    return FALSE;
  x = cleave_onnx_scaled_product (node, integers, cleave_onnx_node_operand (node, 3),
                                  cleave_onnx_node_operand (node, 4), ".projected", error);
  x = CLEAVE_ONNX_STEP ("Add", ".projected.biased", NULL, x, cleave_onnx_node_operand (node, 2));
  return attend_projected (node, &heads, x, NULL, cleave_onnx_node_operand (node, 8), error);
}

/* The functions below upgrade MultiHeadAttention, which reads Q, K and V, and adds their bias. */

/* Returns one of the values that `packed` contains: Q, K and V (n = 3), or K and V (n = 2).
 * `packed` has the shape batch × length × heads × n × elements per head. `part` is the index of the
 * returned value in dimension 3. The result has the shape batch × length × (elements of all heads).
 */
static CleaveOnnxValue *
unpack (
    CleaveOnnxNode *node, CleaveOnnxValue *packed, gint64 part, const char *suffix, GError **error)
{
  const CleaveShape is = *cleave_onnx_value_shape (packed);
  g_autofree char *name = g_strconcat (suffix, ".packed", NULL);

  packed = cleave_onnx_slice (node, packed, 3, (CleaveSpan){ part, part + 1 }, name, error);
  return cleave_onnx_reshape (
      node, packed, &CLEAVE_SHAPE (is.dim[0], is.dim[1], is.dim[2] * is.dim[4]), suffix, error);
}

/* Checks that the shapes of key and value fit `query`, the shape of the query. */
static gboolean
check_parts (CleaveOnnxNode *node, const CleaveShape *query, gint64 n_heads, GError **error)
{
  CleaveOnnxValue *k = cleave_onnx_node_operand (node, 1), *v = cleave_onnx_node_operand (node, 2);
  const gint64 any = CLEAVE_ONNX_ANY;

  if (k != NULL && cleave_onnx_value_shape (k)->rank == 4)
    return cleave_onnx_expect (node, "key", k, &CLEAVE_SHAPE (query->dim[0], n_heads, any, any),
                               error) &&
           cleave_onnx_expect (
               node, "value", v,
               &CLEAVE_SHAPE (query->dim[0], n_heads, cleave_onnx_value_shape (k)->dim[2], any),
               error);
  return cleave_onnx_expect (node, "key", k, &CLEAVE_SHAPE (query->dim[0], any, query->dim[2]),
                             error) &&
         cleave_onnx_expect (
             node, "value", v,
             &CLEAVE_SHAPE (query->dim[0], cleave_onnx_value_shape (k)->dim[1], any), error);
}

/* Sets `parts` to Q, K and V, with the elements of all heads in the last of three dimensions. K and
 * V may also keep the shape batch × heads × length × elements per head. */
static gboolean
find_parts (CleaveOnnxNode *node, gint64 n_heads, CleaveOnnxValue **parts, GError **error)
{
  CleaveOnnxValue *q = cleave_onnx_node_operand (node, 0), *k = cleave_onnx_node_operand (node, 1),
                  *v = cleave_onnx_node_operand (node, 2);
  const CleaveShape *is;
  const gint64 any = CLEAVE_ONNX_ANY;

  if (!cleave_onnx_node_need (node, 1, error))
    return FALSE;
  is = cleave_onnx_value_shape (q);
  parts[0] = q;
  parts[1] = k;
  parts[2] = v;
  if (k == NULL && v == NULL)
    {
      if (!cleave_onnx_expect (node, "query without key", q,
                               &CLEAVE_SHAPE (any, any, n_heads, 3, any), error))
        return FALSE;
      for (guint i = 0; i < 3; i++)
        parts[i] = unpack (node, q, i, i == 0 ? ".q.flat" : i == 1 ? ".k.flat" : ".v.flat", error);
      return TRUE;
    }
  if (!cleave_onnx_expect (node, "query", q, &CLEAVE_SHAPE (any, any, any), error))
    return FALSE;
  if (v == NULL)
    {
      if (!cleave_onnx_expect (node, "key without value", k,
                               &CLEAVE_SHAPE (is->dim[0], any, n_heads, 2, any), error))
        return FALSE;
      parts[1] = unpack (node, k, 0, ".k.flat", error);
      parts[2] = unpack (node, k, 1, ".v.flat", error);
      return TRUE;
    }
  return check_parts (node, is, n_heads, error);
}

/* Returns the sum of `x`, which is Q, K or V, and its bias, divided into heads. The sum has the
 * shape batch × heads × length × elements per head. The bias operand has the bias of Q, then of K,
 * then of V. The bias of `x` begins at element `*at`; the function moves `*at` to the end of this
 * bias. */
static CleaveOnnxValue *
make_heads (CleaveOnnxNode *node,
            CleaveOnnxValue *x,
            gint64 n_heads,
            gint64 *at,
            const char *suffix,
            GError **error)
{
  CleaveOnnxValue *bias = cleave_onnx_node_operand (node, 3);
  gint64 width =
      x == NULL || cleave_onnx_value_shape (x)->rank != 3 ? 0 : cleave_onnx_value_shape (x)->dim[2];
  g_autofree char *part = g_strconcat (suffix, ".bias", NULL),
                  *biased = g_strconcat (suffix, ".biased", NULL);

  if (width == 0)
    return x;
  if (!check_heads (node, width, n_heads, "a hidden size", error))
    return NULL;
  if (bias != NULL)
    {
      bias = cleave_onnx_slice (node, bias, 0, (CleaveSpan){ *at, *at + width }, part, error);
      x = CLEAVE_ONNX_STEP ("Add", biased, NULL, x, bias);
      *at += width;
    }
  return cleave_onnx_split_heads (node, x, n_heads, suffix, error);
}

static gint64
bias_width (CleaveOnnxValue *const *parts)
{
  gint64 n = 0;

  for (guint i = 0; i < 3; i++)
    if (parts[i] != NULL)
      {
        const CleaveShape *is = cleave_onnx_value_shape (parts[i]);

        n += is->rank == 3 ? is->dim[2] : is->dim[1] * is->dim[3];
      }
  return n;
}

static gboolean
multi_head_attention (CleaveOnnxNode *node, GError **error)
{
  CleaveOnnxValue *bias = cleave_onnx_node_operand (node, 3), *parts[3];
  CleaveOnnxHeads heads = { .mask = cleave_onnx_node_operand (node, 4),
                            .core.bias = cleave_onnx_node_operand (node, 5),
                            .past_k = cleave_onnx_node_operand (node, 6),
                            .past_v = cleave_onnx_node_operand (node, 7) };
  gint64 at = 0;

  if (!cleave_onnx_heads_take (node, &heads, error) ||
      !cleave_onnx_refuse (node, 8, "past_sequence_length", error) ||
      !cleave_onnx_refuse (node, 9, "cache_indirection", error) ||
      !find_parts (node, heads.n_heads, parts, error))
    return FALSE;
  if (bias != NULL &&
      !cleave_onnx_expect (node, "bias", bias, &CLEAVE_SHAPE (bias_width (parts)), error))
    return FALSE;
  heads.core.q = make_heads (node, parts[0], heads.n_heads, &at, ".q", error);
  heads.core.k = make_heads (node, parts[1], heads.n_heads, &at, ".k", error);
  heads.core.v = make_heads (node, parts[2], heads.n_heads, &at, ".v", error);
  if (!cleave_onnx_heads_attend (node, &heads, error))
    return FALSE;
  if (node->n_results > 3)
    return cleave_onnx_node_fail (node, error, "its result 3, of Q and K, is not supported");
  return cleave_onnx_finish_all (node, (CleaveOnnxValue *[]){ heads.y, heads.core.k, heads.core.v },
                                 3);
}

const CleaveOnnxContrib cleave_onnx_contrib_attention[] = {
  { "Attention", attention },
  { "MultiHeadAttention", multi_head_attention },
  { "QAttention", q_attention },
  { NULL, NULL },
};
