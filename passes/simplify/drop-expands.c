/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes an element-wise node that reads the result of an Expand or Tile read the operand of this
 * Expand or Tile instead. */

#include "../info.h"

#include "help.h"

/*    x   y            x   y
 *    |   |            |   |
 * Expand |     =>     |   |
 *     \ /              \ /
 *     Add              Add
 *
 * An element-wise node broadcasts its operands, so the node can read the operand of the Expand. The
 * pass also removes a Tile that repeats only dimensions of extent 1.
 *
 * Before: a valid graph.  After: no element-wise node reads an expanded value, unless the result of
 * the node would have another shape without the Expand or Tile. */

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

/* Adds a copy of `node` that reads the operand of an Expand or Tile in place of the result of this
 * Expand or Tile. Returns the copy. Returns NULL if `node` reads no Expand or Tile, or if the
 * result of the copy would have another type for each of them. */
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
