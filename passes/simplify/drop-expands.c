/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes element-wise nodes read the operand of an Expand or Tile instead of its result. */

#include "../info.h"

#include "help.h"

/*    x   y            x   y
 *    |   |            |   |
 * Expand |     =>     |   |
 *     \ /              \ /
 *     Add              Add
 *
 * An element-wise node broadcasts its operands, so it can read the value before the Expand.  A Tile
 * that only repeats dimensions of extent 1 is removed in the same way.
 *
 * Before: a valid graph.  After: no element-wise node reads an expanded value, unless only the
 * expanded value gives the result its shape. */

static gboolean
only_expands (const CleaveNode *node)
{
  const CleaveShape *x, *y = &node->results[0].type.shape;

  if (cleave_node_is (node, CLEAVE_KNOWN_EXPAND))
    return TRUE;
  if (!cleave_node_is (node, CLEAVE_KNOWN_TILE))
    return FALSE;
  x = &node->operands[0].result->type.shape;
  for (guint d = 0; d < y->rank; d++)
    if (x->dim[d] != y->dim[d] && x->dim[d] != 1)
      return FALSE;
  return TRUE;
}

/* Adds a node like `node` that reads the operand of an Expand in place of the result of the
 * Expand. Returns the new node. Returns NULL if no operand is an Expand whose removal keeps the
 * type of the result. */
static CleaveNode *
drop_one (CleaveNode *node)
{
  g_autofree CleaveResult **operands = g_new (CleaveResult *, node->n_operands);

  for (guint i = 0; i < node->n_operands; i++)
    operands[i] = node->operands[i].result;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveNode *expand = operands[i]->node;
      CleaveTensorType type;

      if (!only_expands (expand) ||
          !cleave_node_infer_with (node, i, &expand->operands[0].result->type, 1, &type) ||
          !cleave_tensor_type_equal (&type, &node->results[0].type))
        continue;
      operands[i] = expand->operands[0].result;
      return cleave_graph_add (node->graph, node->op, node->name, operands, node->n_operands, 1,
                               node->attrs, NULL);
    }
  return NULL;
}

static gboolean
visit (CleaveNode *node)
{
  guint first_new = node->graph->n_ids;
  gboolean changed = FALSE;

  while (cleave_node_is_elementwise (node))
    {
      CleaveNode *less = drop_one (node);

      if (less == NULL)
        break;
      cleave_node_give_way (node, &less->results[0], first_new);
      node = less;
      changed = TRUE;
    }
  return changed;
}

const CleavePassInfo cleave_pass_info_drop_expands = {
  .name = "drop-expands",
  .summary = "Removes an Expand whose reader broadcasts its operands.",
  .visit = visit,
};
