/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Moves a Transpose below the node that reads it, if the Transpose then meets another Transpose or
 * if the graph then has fewer Transposes. If the op of the node has an axis attribute, past-axes.c
 * checks the move. */

#include "../info.h"

#include "past-axes.h"

/*     x                        x
 *     |                        |
 * Transpose                    |
 *     |                        |
 *    Relu        =>           Relu
 *     |                        |
 * Transpose back           Transpose
 *     |                        |
 *                        Transpose back
 *
 * A Transpose moves below an element-wise node or a Concat if the Transpose then meets another
 * Transpose, or if the graph then has fewer Transposes. Each operand of the node must be the result
 * of an equal Transpose. An element-wise node may also read constants, which the pass transposes
 * back. A Transpose also moves below a Softmax, a reduction and other nodes along an axis, if the
 * Transpose then meets another Transpose, or then only moves dimensions of extent 1. fold-views
 * merges Transposes that meet, and turns a Transpose that only moves dimensions of extent 1 into a
 * Reshape.
 *
 * A Transpose does not move below a pooling: ONNX poolings have one layout only, and Cleave stores
 * the values of both layouts in the same memory order. A Transpose does not move below a Split
 * either: one Transpose would become several.
 *
 * Before: a valid graph. After: every path between two Transposes has a node past which a Transpose
 * cannot move. */

/* A search for another Transpose visits at most this many nodes, so that long chains do not take
 * quadratic time. */
#define MAX_WALK 64

static gboolean
is_transpose (const CleaveNode *node)
{
  return cleave_node_is (node, CLEAVE_KNOWN_TRANSPOSE);
}

static gboolean
is_one_element (const CleaveResult *value)
{
  return cleave_shape_n_elements (&value->type.shape) == 1;
}

/* Returns whether a node computes the same elements in any order of dimensions. */
static gboolean
lets_pass (const CleaveNode *node)
{
  if (cleave_node_is (node, CLEAVE_KNOWN_CONCAT))
    return TRUE;
  if (!cleave_node_is_elementwise (node))
    return FALSE;
  for (guint i = 1; cleave_node_has_axes (node) && i < node->n_operands; i++)
    if (node->operands[i].result->type.shape.rank > 0)
      return FALSE;
  return node->op->layout == NULL;
}

/* Returns the permutation of the Transposes that compute all operands except constants. Returns
 * NULL if the permutations differ, or if a Transpose has other readers and would stay. Sets
 * `n_transposes` to the number of different Transposes. */
static const CleaveInts *
find_perm (const CleaveNode *node, guint *n_transposes)
{
  const CleaveInts *perm = NULL;
  const CleaveNode *last = NULL;

  *n_transposes = 0;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;
      const CleaveInts *own;

      if (value == NULL)
        return NULL;
      if (cleave_node_is_fixed (value->node) && !cleave_node_is (node, CLEAVE_KNOWN_CONCAT))
        continue;
      if (!is_transpose (value->node) || value->type.shape.rank != node->results[0].type.shape.rank)
        return NULL;
      for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
        if (use->node != node)
          return NULL;
      own = &((const CleaveTransposeAttrs *) value->node->attrs)->perm;
      for (guint d = 0; perm != NULL && d < own->n; d++)
        if (perm->v[d] != own->v[d])
          return NULL;
      *n_transposes += value->node != last;
      last = value->node;
      perm = own;
    }
  return perm;
}

/* Returns whether a Transpose is reached from the result of a node, through nodes past which a
 * Transpose can move. */
static gboolean
meets_transpose (const CleaveNode *node)
{
  for (guint n = 0; n < MAX_WALK; n++)
    {
      const CleaveResult *value = &node->results[0];

      if (value->n_uses == 0 || value->first_use->node == NULL)
        return FALSE;
      node = value->first_use->node;
      for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
        if (use->node != node)
          return FALSE;
      if (is_transpose (node))
        return TRUE;
      if (!lets_pass (node) && !cleave_past_axes_may_be (node))
        return FALSE;
      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != value && node->operands[i].result != NULL &&
            !cleave_node_is_fixed (node->operands[i].result->node) &&
            !is_transpose (node->operands[i].result->node))
          return FALSE;
    }
  return FALSE;
}

/* Adds a Transpose of a constant by the inverse of `perm`, and returns its result. */
static CleaveResult *
transpose_back (CleaveResult *value, const CleaveInts *perm)
{
  CleaveInts shape = { .n = perm->n }, back = { .n = perm->n };
  guint missing = perm->n - value->type.shape.rank;
  CleaveGraph *graph = value->node->graph;

  for (guint d = 0; d < perm->n; d++)
    {
      shape.v[d] = d < missing ? 1 : value->type.shape.dim[d - missing];
      back.v[perm->v[d]] = d;
    }
  if (missing > 0)
    value = cleave_graph_add_reshape (graph, value->node->name, value, &shape, NULL);
  return value == NULL ? NULL
                       : cleave_graph_add_transpose (graph, value->node->name, value, &back, NULL);
}

static gpointer
copy_attrs (const CleaveNode *node, const CleaveInts *perm)
{
  gpointer attrs = cleave_attrs_copy (node->op, node->attrs);

  if (cleave_node_is (node, CLEAVE_KNOWN_CONCAT))
    ((CleaveAxisAttrs *) attrs)->axis = perm->v[((CleaveAxisAttrs *) attrs)->axis];
  return attrs;
}

static gboolean
sink (CleaveNode *node, const CleaveInts *found)
{
  g_autofree CleaveResult **operands = g_new0 (CleaveResult *, node->n_operands);
  const CleaveInts perm = *found;
  guint first_new = node->graph->n_ids;
  gpointer attrs = copy_attrs (node, &perm);
  CleaveResult *value;
  CleaveNode *moved;

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveResult *old = node->operands[i].result;

      operands[i] = is_transpose (old->node) && !cleave_node_is_fixed (old->node)
                        ? old->node->operands[0].result
                    : is_one_element (old) ? old
                                           : transpose_back (old, &perm);
    }
  moved = cleave_graph_add (node->graph, node->op, node->name, operands, node->n_operands, 1, attrs,
                            NULL);
  cleave_attrs_free (node->op, attrs);
  if (moved == NULL)
    return FALSE;
  value = cleave_graph_add_transpose (node->graph, "transpose", &moved->results[0], &perm, NULL);
  g_assert (cleave_tensor_type_equal (&value->type, &node->results[0].type));
  return cleave_node_give_way (node, value, first_new);
}

/* Returns whether a permutation keeps the order of all dimensions with more than one element. */
static gboolean
keeps_order (const CleaveInts *perm, const CleaveShape *result)
{
  gint64 last = -1;

  for (guint d = 0; d < perm->n; d++)
    if (result->dim[d] != 1)
      {
        if (perm->v[d] < last)
          return FALSE;
        last = perm->v[d];
      }
  return TRUE;
}

static gboolean
sink_past_axes (CleaveNode *node)
{
  guint first_new = node->graph->n_ids;
  CleaveResult *value = node->operands[0].result;
  CleavePastAxes past;
  CleaveNode *moved;

  if (value->n_uses != 1 || !cleave_past_axes_init (&past, node))
    return FALSE;
  moved = keeps_order (&past.perm, &node->results[0].type.shape) || meets_transpose (node)
              ? cleave_graph_add (node->graph, node->op, node->name,
                                  &value->node->operands[0].result, 1, 1, past.attrs, NULL)
              : NULL;
  cleave_past_axes_clear (&past, node);
  if (moved == NULL)
    return FALSE;
  value =
      cleave_graph_add_transpose (node->graph, "transpose", &moved->results[0], &past.perm, NULL);
  g_assert (cleave_tensor_type_equal (&value->type, &node->results[0].type));
  return cleave_node_give_way (node, value, first_new);
}

static gboolean
visit (CleaveNode *node)
{
  const CleaveInts *perm;
  guint n = 0;

  if (cleave_node_is_fixed (node) || cleave_shape_n_elements (&node->results[0].type.shape) == 0)
    return FALSE;
  if (cleave_past_axes_may_be (node))
    return sink_past_axes (node);
  if (!lets_pass (node))
    return FALSE;
  perm = find_perm (node, &n);
  return perm != NULL && (n > 1 || meets_transpose (node)) && sink (node, perm);
}

const CleavePassInfo cleave_pass_info_sink_transposes = {
  .name = "sink-transposes",
  .summary = "Moves Transposes behind nodes that allow it, until they meet other Transposes.",
  .visit = visit,
};
