/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Computes the attributes of a node after a move above the Transpose that the node reads, and
 * checks that the move changes no bit. `behind` is the call of the node before the move, which
 * reads the result of the Transpose. `front` is the call after the move, which reads the
 * Transpose's operand. */

#include "past-axes.h"

/* Replaces each axis d in the attributes by `perm->v[d]`. Dimension `perm->v[d]` of the Transpose's
 * operand is dimension d of its result. */
static void
permute_axes (const CleaveOp *op, gpointer attrs, const CleaveInts *perm)
{
  for (const CleaveAttr *attr = op->attrs; attr != NULL && attr->name != NULL; attr++)
    {
      CleaveInts *list = cleave_attr_field (attr, attrs);
      gint64 *one = cleave_attr_field (attr, attrs);
      gboolean kept[CLEAVE_MAX_RANK] = { FALSE };

      if ((attr->flags & CLEAVE_ATTR_AXIS) == 0)
        continue;
      if (attr->kind == CLEAVE_ATTR_INT)
        {
          *one = perm->v[*one];
          continue;
        }
      for (guint i = 0; i < list->n; i++)
        kept[perm->v[list->v[i]]] = TRUE;
      list->n = 0;
      for (guint d = 0; d < perm->n; d++)
        if (kept[d])
          list->v[list->n++] = d;
    }
}

gboolean
cleave_past_axes_may_be (const CleaveNode *node)
{
  gboolean has_axes = FALSE;

  for (const CleaveAttr *attr = node->op->attrs; attr != NULL && attr->name != NULL; attr++)
    has_axes = has_axes || (attr->flags & CLEAVE_ATTR_AXIS) != 0;
  return has_axes && node->n_operands == 1 && node->n_results == 1 && node->op->maps != NULL &&
         (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) == 0;
}

/* Sets `of_result` to the permutation of the Transpose after the move, when the Transpose reads the
 * result of the node. Before the move, the permutation of the Transpose is `perm`. Dimension
 * `of_result->v[d]` of the node's new result becomes dimension d of the Transpose's result. If the
 * operand and the result of the node have the same number of dimensions, `of_result` equals `perm`.
 * If the numbers differ, derives `of_result` from the dimensions of the operand that the result
 * keeps. Returns FALSE if there is no such permutation. */
static gboolean
find_perm (const CleaveCall *behind,
           const CleaveDimMap *map,
           const CleaveDimMap *front,
           const CleaveInts *perm,
           CleaveInts *of_result)
{
  guint rank = behind->results[0].shape.rank, found = 0;

  of_result->n = rank;
  if (rank == perm->n)
    {
      *of_result = *perm;
      return TRUE;
    }
  for (guint i = 0; i < perm->n; i++)
    if (map[i].stride != 0)
      {
        if (front[perm->v[i]].stride == 0)
          return FALSE;
        of_result->v[map[i].from] = front[perm->v[i]].from;
        found |= 1u << map[i].from;
      }
  return found == (1u << rank) - 1;
}

/* Returns whether the move keeps the bits of the result. Each element of the result must depend on
 * the same elements of the operand before and after the move. If the node reads whole dimensions,
 * such as the dimensions of a sum, it must read them in the same order: sums then have the same
 * rounding errors. */
static gboolean
reads_alike (const CleaveShape *x,
             const CleaveDimMap *map,
             const CleaveDimMap *front,
             const CleaveInts *perm,
             const CleaveInts *of_result)
{
  gint64 last = -1;

  for (guint i = 0; i < perm->n; i++)
    {
      const CleaveDimMap *a = &map[i], *b = &front[perm->v[i]];

      if (a->shift != b->shift || a->block != b->block || a->times != b->times ||
          a->stride != b->stride || a->offset != b->offset || a->window != b->window)
        return FALSE;
      if (a->stride != 0 && of_result->v[a->from] != b->from)
        return FALSE;
      if (a->stride != 0 || x->dim[i] == 1)
        continue;
      if (perm->v[i] < last)
        return FALSE;
      last = perm->v[i];
    }
  return TRUE;
}

static gboolean
compare (const CleaveCall *behind, const CleaveCall *front, const CleaveInts *perm, CleaveInts *of)
{
  CleaveDimMap map[CLEAVE_MAX_RANK], in_front[CLEAVE_MAX_RANK];
  const CleaveShape *y = &behind->results[0].shape, *z = &front->results[0].shape;

  behind->op->maps (behind, 0, map);
  front->op->maps (front, 0, in_front);
  if (y->rank != z->rank || !find_perm (behind, map, in_front, perm, of) ||
      !reads_alike (&behind->operands[0].shape, map, in_front, perm, of))
    return FALSE;
  for (guint d = 0; d < y->rank; d++)
    if (y->dim[d] != z->dim[of->v[d]])
      return FALSE;
  return TRUE;
}

gboolean
cleave_past_axes_init (CleavePastAxes *past, const CleaveNode *node)
{
  g_auto (CleaveNodeCall) node_call = { 0 };
  const CleaveNode *transpose =
      cleave_past_axes_may_be (node) ? node->operands[0].result->node : NULL;
  const CleaveInts *perm;
  CleaveTensorType y;
  CleaveCall front;

  if (transpose == NULL || !cleave_node_is (transpose, CLEAVE_KNOWN_TRANSPOSE))
    return FALSE;
  perm = &((const CleaveTransposeAttrs *) transpose->attrs)->perm;
  front = *cleave_node_call_init (&node_call, node);
  front.operands = &transpose->operands[0].result->type;
  front.results = NULL;
  front.cursor = NULL;
  front.attrs = past->attrs = cleave_attrs_copy (node->op, node->attrs);
  permute_axes (node->op, past->attrs, perm);
  if (cleave_call_infer (&front, past->attrs, &y, NULL))
    {
      front.results = &y;
      if (y.element == node->results[0].type.element &&
          compare (&node_call.call, &front, perm, &past->perm))
        return TRUE;
    }
  cleave_past_axes_clear (past, node);
  return FALSE;
}

void
cleave_past_axes_clear (CleavePastAxes *past, const CleaveNode *node)
{
  cleave_attrs_free (node->op, past->attrs);
  past->attrs = NULL;
}
