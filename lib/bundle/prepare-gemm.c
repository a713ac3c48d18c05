/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Rewrites a Gemm with a transposed A, a factor, or operands that are computed at run time:
 *
 *   alpha * A' B' + beta * C   =>   Transpose A; Gemm or MatMul; Mul by alpha; Add beta * C
 *
 * A' and B' are A and B, each transposed if the attribute transA or transB is set. Like the Gemm,
 * the new nodes multiply the complete sum before they add C, so the result has the same bits. */

#include "prepare.h"

static CleaveResult *
add (CleaveGraph *graph,
     const char *op,
     const CleaveNode *like,
     CleaveResult *const *operands,
     guint n,
     gconstpointer attrs,
     GError **error)
{
  CleaveNode *node =
      cleave_graph_add (graph, cleave_op_lookup (op), like->name, operands, n, 1, attrs, error);

  return node == NULL ? NULL : &node->results[0];
}

static CleaveResult *
transpose (CleaveGraph *graph, const CleaveNode *like, CleaveResult *x, GError **error)
{
  const CleaveTransposeAttrs a = { .perm = { .n = 2, .v = { 1, 0 } } };

  return add (graph, "Transpose", like, &x, 1, &a, error);
}

/* Multiplies a value by a number, unless the number is 1. Returns the product; NULL on error. */
static CleaveResult *
scale (CleaveGraph *graph, const CleaveNode *like, CleaveResult *x, double factor, GError **error)
{
  const CleaveTensorType type = { CLEAVE_FLOAT32, { 0 } };
  const float value = (float) factor;
  g_autoptr (CleaveTensor) tensor = NULL;
  CleaveResult *operands[] = { x, NULL };

  if (factor == 1)
    return x;
  tensor = cleave_tensor_new_copy (&type, &value, error);
  if (tensor == NULL)
    return NULL;
  operands[1] = cleave_graph_add_constant (graph, NULL, tensor);
  return add (graph, "Mul", like, operands, 2, NULL, error);
}

/* Returns the product of A' and B'. Returns NULL and sets the error on failure. */
static CleaveResult *
multiply (CleaveGraph *graph, const CleaveNode *node, GError **error)
{
  const CleaveGemmAttrs *attrs = node->attrs;
  CleaveResult *operands[] = { node->operands[0].result, node->operands[1].result };
  const CleaveGemmAttrs plain = { .transB = attrs->transB, .alpha = 1, .beta = 1 };

  if (attrs->transA)
    operands[0] = transpose (graph, node, operands[0], error);
  if (operands[0] == NULL)
    return NULL;
  if (cleave_node_is_fixed (operands[1]->node))
    return add (graph, "Gemm", node, operands, 2, &plain, error);
  if (attrs->transB)
    operands[1] = transpose (graph, node, operands[1], error);
  return operands[1] == NULL ? NULL : add (graph, "MatMul", node, operands, 2, NULL, error);
}

gboolean
cleave_bundle_prepare_gemm (CleaveGraph *graph, CleaveNode *node, GError **error)
{
  const CleaveGemmAttrs *attrs = node->attrs;
  CleaveResult *c = node->n_operands > 2 ? node->operands[2].result : NULL, *y;

  if (node->results[0].type.element != CLEAVE_FLOAT32)
    return TRUE;
  y = multiply (graph, node, error);
  y = y == NULL ? NULL : scale (graph, node, y, attrs->alpha, error);
  if (y != NULL && c != NULL)
    {
      CleaveResult *operands[] = { y, scale (graph, node, c, attrs->beta, error) };

      y = operands[1] == NULL ? NULL : add (graph, "Add", node, operands, 2, NULL, error);
    }
  if (y != NULL)
    cleave_result_replace_uses (&node->results[0], y);
  return y != NULL;
}
