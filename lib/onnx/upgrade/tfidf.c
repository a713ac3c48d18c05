/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Upgrades a TfIdfVectorizer with the mode IDF or TFIDF to the mode TF, which counts n-grams. Adds
 * nodes that limit the counts to 1 (IDF only), and that multiply the counts by the weights. */

#include "upgrades.h"

#define STEP CLEAVE_ONNX_STEP

/* Returns an array with the weight of each of the `n` columns of the result. */
static float *
spread_weights (CleaveOnnxNode *node, const CleaveOnnxAttr *weights, gint64 n, GError **error)
{
  const CleaveOnnxAttr *indexes = cleave_onnx_node_find (node, "ngram_indexes");
  g_autofree float *spread = g_try_new0 (float, (gsize) n);

  if (spread == NULL)
    return cleave_onnx_node_fail_null (node, error, "no memory for %" G_GINT64_FORMAT " weights",
                                       n);
  if (indexes == NULL || indexes->ints->len != weights->floats->len)
    return cleave_onnx_node_fail_null (
        node, error, "weights has %u entries, not one for each n-gram", weights->floats->len);
  for (guint i = 0; i < weights->floats->len; i++) /* the indices are valid: the caller has checked
                                                    * them */
    spread[g_array_index (indexes->ints, gint64, i)] =
        (float) g_array_index (weights->floats, double, i);
  return g_steal_pointer (&spread);
}

static CleaveOnnxValue *
weigh (CleaveOnnxNode *node, CleaveOnnxValue *counts, const CleaveOnnxAttr *weights, GError **error)
{
  const CleaveShape *shape = &cleave_onnx_value_type (counts)->shape;
  CleaveTensorType type = CLEAVE_TYPE (CLEAVE_FLOAT32, shape->dim[shape->rank - 1]);
  g_autofree float *numbers = spread_weights (node, weights, type.shape.dim[0], error);

  if (numbers == NULL)
    return NULL;
  return STEP ("Mul", ".Mul", NULL, counts, cleave_onnx_constant (node, &type, numbers));
}

gboolean
cleave_onnx_upgrade_tfidf (CleaveOnnxNode *node, GError **error)
{
  g_autoptr (CleaveOnnxAttr) weights = cleave_onnx_node_take (node, "weights");
  const CleaveOnnxAttr *mode = cleave_onnx_node_find (node, "mode");
  gboolean is_idf = mode != NULL && g_strcmp0 (mode->string, "IDF") == 0;
  gboolean is_weighed = is_idf || (mode != NULL && g_strcmp0 (mode->string, "TFIDF") == 0);
  CleaveOnnxValue *value;

  if (!is_weighed)
    return TRUE;
  cleave_onnx_node_set_string (node, "mode", "TF");
  if (!cleave_onnx_node_make (node, error))
    return FALSE;
  value = node->values->pdata[0];
  if (is_idf)
    value = STEP ("Min", ".Min", NULL, value, cleave_onnx_real (node, CLEAVE_FLOAT32, 1));
  if (value != NULL && weights != NULL)
    value = weigh (node, value, weights, error);
  if (value == NULL)
    return FALSE;
  node->values->pdata[0] = value;
  return TRUE;
}
