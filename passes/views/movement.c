/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Merges a Reshape or Transpose with the Reshape or Transpose that it reads. Replaces a Transpose
 * by a Reshape if the Transpose only moves dimensions of extent 1. */

#include "movement.h"

#include "known-ops.h"

static gboolean
is_reshape (const CleaveNode *node)
{
  return (node->op->flags & CLEAVE_OP_ROW_MAJOR) != 0 && node->n_results == 1 &&
         node->operands[0].result->type.element == node->results[0].type.element;
}

static gboolean
is_transpose (const CleaveNode *node)
{
  return cleave_node_is (node, CLEAVE_KNOWN_TRANSPOSE);
}

/* Returns `x` reshaped to `shape`, or `x` itself if it has this shape. The shape must have no
 * zeros, since a zero in a Reshape copies an extent. */
static CleaveResult *
reshape (CleaveGraph *graph, const char *name, CleaveResult *x, const CleaveShape *shape)
{
  CleaveInts dims = { .n = shape->rank };

  if (cleave_shape_equal (&x->type.shape, shape))
    return x;
  for (guint d = 0; d < shape->rank; d++)
    dims.v[d] = shape->dim[d];
  return cleave_graph_add_reshape (graph, name, x, &dims, NULL);
}

static CleaveResult *
compose_reshapes (CleaveGraph *graph, const CleaveNode *node)
{
  const CleaveNode *inner = node->operands[0].result->node;

  if (inner->n_operands == 0 || !is_reshape (inner))
    return NULL;
  return reshape (graph, node->name, inner->operands[0].result, &node->results[0].type.shape);
}

static gboolean
is_in_order (const CleaveInts *perm)
{
  for (guint d = 0; d < perm->n; d++)
    if (perm->v[d] != d)
      return FALSE;
  return TRUE;
}

/* Returns whether a permutation keeps the order of all dimensions with more than one element. */
static gboolean
keeps_order (const CleaveInts *perm, const CleaveShape *x)
{
  gint64 last = -1;

  for (guint d = 0; d < perm->n; d++)
    {
      if (x->dim[perm->v[d]] == 1)
        continue;
      if (perm->v[d] < last)
        return FALSE;
      last = perm->v[d];
    }
  return TRUE;
}

static CleaveResult *
compose_transposes (CleaveGraph *graph, const CleaveNode *node)
{
  CleaveResult *x = node->operands[0].result;
  CleaveInts perm = ((const CleaveTransposeAttrs *) node->attrs)->perm;
  const CleaveTransposeAttrs *inner = x->node->attrs;
  gboolean is_double = is_transpose (x->node);

  for (guint d = 0; is_double && d < perm.n; d++)
    perm.v[d] = inner->perm.v[perm.v[d]];
  if (is_double)
    x = x->node->operands[0].result;
  if (is_in_order (&perm))
    return x;
  if (keeps_order (&perm, &x->type.shape))
    return reshape (graph, node->name, x, &node->results[0].type.shape);
  return is_double ? cleave_graph_add_transpose (graph, node->name, x, &perm, NULL) : NULL;
}

CleaveResult *
cleave_movement_compose (CleaveGraph *graph, CleaveNode *node)
{
  if (node->n_operands == 0 || node->n_results == 0 ||
      cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    return NULL;
  if (is_transpose (node))
    return compose_transposes (graph, node);
  return is_reshape (node) ? compose_reshapes (graph, node) : NULL;
}
