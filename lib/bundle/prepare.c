/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rewrites nodes to nodes for which a bundle has kernels. model.c calls cleave_bundle_prepare()
 * before it lowers the graph to steps. The results keep the same bits.
 *
 *   QLinearConv of uint8        =>  QLinearConv of int8
 *   Split                       =>  a Slice for each result that is used
 *   Reduce with keepdims = 0    =>  Reduce with keepdims = 1, Squeeze; also ArgMax and ArgMin
 *   Where c, a, b               =>  Add (Where (c, a, -0), Where (c, -0, b)), if a run computes c,
 *                                   a and b
 *   Sum, Max, Min of a, b, c    =>  Add (Add (a, b), c), Max (Max (a, b), c) … */

#include "prepare.h"

#include <string.h>

#include "layer.h"

static gboolean
slice_split (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveSplitAttrs *a = node->attrs;
  CleaveRange range = cleave_range_whole (&node->operands[0].result->type.shape);
  gint64 begin = 0;

  for (guint r = 0; r < node->n_results; r++)
    {
      gint64 end = begin + g_array_index (a->sizes, gint64, r);
      CleaveResult *slice;

      range.dim[a->axis] = (CleaveSpan){ begin, end };
      begin = end;
      if (node->results[r].n_uses == 0)
        continue;
      slice =
          cleave_graph_add_slice_range (graph, node->name, node->operands[0].result, &range, error);
      if (slice == NULL)
        return FALSE;
      cleave_result_replace_uses (&node->results[r], slice);
    }
  return TRUE;
}

/* Returns a node like `node` but with the attributes `a`, which keep the reduced dimensions `axes`.
 * Adds a Squeeze of these dimensions after the new node. Returns NULL on error. */
static CleaveNode *
keep_dims (
    CleaveGraph *graph, CleaveNode *node, gconstpointer a, const CleaveInts *axes, GError **error)
{
  const CleaveAxesAttrs squeeze = { *axes };
  CleaveNode *reduced =
      cleave_graph_add (graph, node->op, node->name, &node->operands[0].result, 1, 1, a, error);
  CleaveNode *squeezed;

  if (reduced == NULL)
    return NULL;
  squeezed = cleave_graph_add (graph, cleave_op_lookup ("Squeeze"), node->name,
                               (CleaveResult *[]){ &reduced->results[0] }, 1, 1, &squeeze, error);
  if (squeezed == NULL)
    return NULL;
  cleave_result_replace_uses (&node->results[0], &squeezed->results[0]);
  return reduced;
}

/* Replaces a node with many operands by a chain of nodes with two operands. */
static gboolean
chain (CleaveGraph *graph, CleaveNode *node, const char *op, GError **error)
{
  CleaveResult *sum = node->operands[0].result;

  for (guint i = 1; i < node->n_operands; i++)
    {
      CleaveNode *next =
          cleave_graph_add (graph, cleave_op_lookup (op), node->name,
                            (CleaveResult *[]){ sum, node->operands[i].result }, 2, 1, NULL, error);

      if (next == NULL)
        return FALSE;
      sum = &next->results[0];
    }
  cleave_result_replace_uses (&node->results[0], sum);
  return TRUE;
}

/* Returns whether a bundle has a kernel for a node without a rewrite. */
static gboolean
is_computed (const CleaveNode *node)
{
  const CleaveBundleOp *op = cleave_bundle_op_find (node);
  CleaveBundlePool *pool;
  CleaveBundleLayer *layer;
  gint64 images = cleave_bundle_image (&node->results[0]).images;
  gboolean is_ok, is_mixed = FALSE;

  if (op == NULL)
    return FALSE;
  pool = cleave_bundle_pool_new ("");
  layer = cleave_bundle_layer_new (pool);
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && !cleave_node_is_fixed (node->operands[i].result->node))
      {
        gint64 own = cleave_bundle_image (node->operands[i].result).images;

        is_mixed |= own != 1 && own != images;
      }
  is_ok = op->describe (node, layer, NULL) && (!is_mixed || layer->is_folded);
  cleave_bundle_layer_free (layer);
  cleave_bundle_pool_free (pool);
  return is_ok;
}

/* Rewrites a node if a bundle has no kernel for it. */
static gboolean
rewrite (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  static const struct
  {
    const char *ops;
    gboolean (*prepare) (CleaveGraph *graph, CleaveNode *node, GError **error);
  } rewrites[] = {
    { " Softmax LogSoftmax ", cleave_bundle_prepare_softmax },
    { " LayerNormalization ", cleave_bundle_prepare_layer_norm },
    { " MatMul QLinearMatMul ", cleave_bundle_prepare_matmul },
    { " Gemm ", cleave_bundle_prepare_gemm },
    { " Add Sub Mul Div Max Min Equal Less Greater LessOrEqual GreaterOrEqual And Or Xor Where "
      "TfliteAdd TfliteSub TfliteMul ",
      cleave_bundle_prepare_repeat },
  };
  g_autofree char *name = g_strconcat (" ", node->op->name, " ", NULL);

  for (guint i = 0; i < G_N_ELEMENTS (rewrites); i++)
    if (strstr (rewrites[i].ops, name) != NULL)
      return cleave_node_is_fixed (node) || is_computed (node) ||
             rewrites[i].prepare (graph, node, error);
  return TRUE;
}

static gboolean
prepare_reduce (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  CleaveReduceAttrs a = *(const CleaveReduceAttrs *) node->attrs;

  if (cleave_node_is_fixed (node))
    return TRUE;
  if (!a.keepdims && a.axes.n > 0)
    {
      a.keepdims = TRUE;
      node = keep_dims (graph, node, &a, &a.axes, error);
      if (node == NULL)
        return FALSE;
    }
  return is_computed (node) || cleave_bundle_prepare_reduce (graph, node, error);
}

static gboolean
prepare_arg (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  CleaveArgAttrs a = *(const CleaveArgAttrs *) node->attrs;
  const CleaveInts axes = { 1, { a.axis } };

  if (cleave_node_is_fixed (node))
    return TRUE;
  if (!a.keepdims)
    {
      a.keepdims = TRUE;
      node = keep_dims (graph, node, &a, &axes, error);
      if (node == NULL)
        return FALSE;
    }
  return is_computed (node) || cleave_bundle_prepare_arg (graph, node, error);
}

/* Adds a Where like `node` with -0 in place of operand `slot`. Returns its result; NULL on error.
 */
static CleaveResult *
where_zero (CleaveGraph *graph, const CleaveNode *node, guint slot, GError **error)
{
  const CleaveTensorType scalar = { CLEAVE_FLOAT32, { 0 } };
  const float zero = -0.0f;
  g_autoptr (CleaveTensor) tensor = cleave_tensor_new_copy (&scalar, &zero, error);
  CleaveResult *operands[3];
  CleaveNode *half;

  if (tensor == NULL)
    return NULL;
  for (guint i = 0; i < 3; i++)
    operands[i] =
        i == slot ? cleave_graph_add_constant (graph, NULL, tensor) : node->operands[i].result;
  half = cleave_graph_add (graph, node->op, node->name, operands, 3, 1, NULL, error);
  return half != NULL && rewrite (graph, half, error) ? &half->results[0] : NULL;
}

/* Replaces Where (c, x, y) with three variable operands by Where (c, x, -0) + Where (c, -0, y).
 * Each of these nodes has two variable operands. The bits are the same, since adding -0 changes no
 * number. */
static gboolean
halve_where (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  CleaveResult *halves[2] = { where_zero (graph, node, 2, error), NULL };
  CleaveNode *sum;

  if (halves[0] == NULL || (halves[1] = where_zero (graph, node, 1, error)) == NULL)
    return FALSE;
  sum = cleave_graph_add (graph, cleave_op_lookup ("Add"), node->name, halves, 2, 1, NULL, error);
  if (sum == NULL || !rewrite (graph, sum, error))
    return FALSE;
  cleave_result_replace_uses (&node->results[0], &sum->results[0]);
  return TRUE;
}

static gboolean
has_three_variables (const CleaveNode *node)
{
  for (guint i = 0; i < 3; i++)
    if (cleave_node_is_fixed (node->operands[i].result->node))
      return FALSE;
  return TRUE;
}

static gboolean
prepare (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const char *name = node->op->name;

  if (g_str_equal (name, "Split"))
    return slice_split (graph, node, error);
  if (g_str_has_prefix (name, "Reduce"))
    return prepare_reduce (graph, node, error);
  if (g_str_equal (name, "ArgMax") || g_str_equal (name, "ArgMin"))
    return prepare_arg (graph, node, error);
  if (g_str_equal (name, "RNN") || g_str_equal (name, "GRU") || g_str_equal (name, "LSTM"))
    return cleave_bundle_prepare_recurrent (graph, node, error);
  if (g_str_equal (name, "Where") && node->results[0].type.element == CLEAVE_FLOAT32 &&
      has_three_variables (node))
    return halve_where (graph, node, error);
  if (g_str_equal (name, "Sum"))
    return chain (graph, node, "Add", error);
  if ((g_str_equal (name, "Max") || g_str_equal (name, "Min")) && node->n_operands != 2)
    return chain (graph, node, name, error);
  return rewrite (graph, node, error);
}

gboolean
cleave_bundle_prepare (CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = NULL;

  if (!cleave_bundle_prepare_unsigned (graph, error))
    return FALSE;
  order = cleave_graph_get_order (graph, error);
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    if (cleave_node_is_used (order->pdata[i]) && !prepare (graph, order->pdata[i], error))
      return FALSE;
  return TRUE;
}
