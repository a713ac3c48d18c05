/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades Gelu, QuickGelu and ops that ONNX Runtime fused from several ops. A fused op computes a
 * sum and an activation (BiasGelu), a sum and a normalization (SkipLayerNormalization), or
 * embeddings and a normalization (EmbedLayerNormalization). */

#include "contrib.h"

#include <string.h>

static CleaveOnnxValue *
sum_of (CleaveOnnxNode *node, guint a, guint b, const char *suffix, GError **error)
{
  CleaveOnnxValue *x = cleave_onnx_node_operand (node, a), *y = cleave_onnx_node_operand (node, b);

  return y == NULL ? x : CLEAVE_ONNX_STEP ("Add", suffix, NULL, x, y);
}

/* Upgrades Gelu, BiasGelu and FastGelu. The bias may be absent. */
static gboolean
gelu (CleaveOnnxNode *node, GError **error)
{
  gboolean by_tanh = strcmp (node->op, "FastGelu") == 0;

  return cleave_onnx_node_need (node, 1, error) &&
         cleave_onnx_finish (
             node, cleave_onnx_gelu (node, sum_of (node, 0, 1, ".biased", error), by_tanh, error));
}

static gboolean
quick_gelu (CleaveOnnxNode *node, GError **error)
{
  if (cleave_onnx_node_find (node, "alpha") == NULL)
    g_ptr_array_add (node->attrs, cleave_onnx_attr_new_real ("alpha", (double) 1.702f));
  return cleave_onnx_upgrade_swish (node, error);
}

/* Upgrades SkipLayerNormalization: adds X, skip and bias, and normalizes the sum with scale and
 * bias. Result 3 is the sum before the normalization. */
static gboolean
skip_norm (CleaveOnnxNode *node, GError **error)
{
  gboolean simplified = strcmp (node->op, "SkipSimplifiedLayerNormalization") == 0;
  double epsilon = cleave_onnx_node_take_real (node, "epsilon", (double) 1e-12f);
  CleaveOnnxValue *beta = simplified ? NULL : cleave_onnx_node_operand (node, 3),
                  *bias = cleave_onnx_node_operand (node, simplified ? 3 : 4), *x, *y;

  if (!cleave_onnx_node_need (node, 3, error))
    return FALSE;
  if (node->n_results == 2 || node->n_results == 3)
    return cleave_onnx_node_fail (node, error, "its mean and its deviation are not supported");
  x = sum_of (node, 0, 1, ".skipped", error);
  if (x != NULL && bias != NULL)
    x = CLEAVE_ONNX_STEP ("Add", ".biased", NULL, x, bias);
  if (x == NULL)
    return FALSE;
  if (simplified)
    y = cleave_onnx_rms_norm (node, x, cleave_onnx_node_operand (node, 2), -1, epsilon, error);
  else
    {
      CleaveOnnxValue *operands[] = { x, cleave_onnx_node_operand (node, 2), beta };

      y = cleave_onnx_step (node, "LayerNormalization", "", operands, beta == NULL ? 2 : 3,
                            cleave_onnx_attr_new_real ("epsilon", epsilon), error);
    }
  if (!cleave_onnx_finish (node, y))
    return FALSE;
  for (guint i = 1; i < node->n_results; i++)
    g_ptr_array_add (node->values, i == 3 ? x : cleave_onnx_value_new (node->import, NULL));
  return TRUE;
}

/* The functions below upgrade EmbedLayerNormalization, which adds the embeddings of words,
 * positions and segments, and normalizes the sum. The ids have the shape batch × sequence length.
 */

static CleaveOnnxValue *
embed (CleaveOnnxNode *node, guint table, CleaveOnnxValue *ids, const char *suffix, GError **error)
{
  return CLEAVE_ONNX_STEP ("Gather", suffix, cleave_onnx_attr_new_int ("axis", 0),
                           cleave_onnx_node_operand (node, table), ids);
}

/* Returns the number of ones in each row of the mask. Without a mask, returns zeros. */
static CleaveOnnxValue *
count_words (CleaveOnnxNode *node, gint64 n_batch, GError **error)
{
  CleaveOnnxValue *mask = cleave_onnx_node_operand (node, 7),
                  *axes = cleave_onnx_count (node, 1, &CLEAVE_SHAPE (1), error),
                  *one = cleave_onnx_count (node, 1, &CLEAVE_SHAPE (1), error);
  const CleaveTensorType type = CLEAVE_TYPE (CLEAVE_INT32, n_batch);

  if (mask == NULL)
    return cleave_onnx_zeros (node, &type, error);
  mask = cleave_onnx_cast (node, mask, CLEAVE_INT64, ".mask.int64", error);
  mask = CLEAVE_ONNX_STEP ("Equal", ".mask.one", NULL, mask, one);
  mask = cleave_onnx_cast (node, mask, CLEAVE_INT32, ".mask.counted", error);
  mask = CLEAVE_ONNX_STEP ("ReduceSum", ".mask.sum", NULL, mask, axes);
  return cleave_onnx_reshape (node, mask, &type.shape, ".mask_index", error);
}

static gboolean
embed_layer_norm (CleaveOnnxNode *node, GError **error)
{
  double epsilon = cleave_onnx_node_take_real (node, "epsilon", (double) 1e-12f);
  CleaveOnnxValue *words = cleave_onnx_node_operand (node, 0),
                  *segments = cleave_onnx_node_operand (node, 1),
                  *positions = cleave_onnx_node_operand (node, 8), *sum, *part;
  const CleaveShape *is;

  cleave_onnx_node_take_int (node, "mask_index_type", 0); /* ignored: the CPU kernels of ONNX
                                                           * Runtime do not read this attribute */
  if (!cleave_onnx_node_check_no_attrs (node, error) ||
      !cleave_onnx_expect (node, "input_ids", words,
                           &CLEAVE_SHAPE (CLEAVE_ONNX_ANY, CLEAVE_ONNX_ANY), error))
    return FALSE;
  is = cleave_onnx_value_shape (words);
  for (guint i = 2; i < 7; i++)
    if (cleave_onnx_node_operand (node, i) == NULL && (i != 4 || segments != NULL))
      return cleave_onnx_node_fail (node, error, "operand %u is missing", i);
  if (positions == NULL)
    positions = cleave_onnx_count (node, 0, &CLEAVE_SHAPE (1, is->dim[1]), error);
  sum = embed (node, 2, words, ".words", error);
  part = embed (node, 3, positions, ".positions", error);
  sum = CLEAVE_ONNX_STEP ("Add", ".placed", NULL, sum, part);
  if (segments != NULL)
    {
      part = embed (node, 4, segments, ".segments", error);
      sum = CLEAVE_ONNX_STEP ("Add", ".sum", NULL, sum, part);
    }
  if (!cleave_onnx_finish (node, CLEAVE_ONNX_STEP ("LayerNormalization", "",
                                                   cleave_onnx_attr_new_real ("epsilon", epsilon),
                                                   sum, cleave_onnx_node_operand (node, 5),
                                                   cleave_onnx_node_operand (node, 6))))
    return FALSE;
  if (node->n_results > 1)
    g_ptr_array_add (node->values, count_words (node, is->dim[0], error));
  if (node->n_results > 2)
    g_ptr_array_add (node->values, sum);
  return node->n_results < 2 || node->values->pdata[1] != NULL;
}

const CleaveOnnxContrib cleave_onnx_contrib_norm[] = {
  { "BiasGelu", gelu },
  { "EmbedLayerNormalization", embed_layer_norm },
  { "FastGelu", gelu },
  { "Gelu", gelu },
  { "QuickGelu", quick_gelu },
  { "SkipLayerNormalization", skip_norm },
  { "SkipSimplifiedLayerNormalization", skip_norm },
  { NULL, NULL },
};
