/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces equal element-wise nodes, which read the results of a Split and whose results a Concat
 * joins, by one node that reads the whole value. */

#include "info.h"

#include "../lib/ir/graph-private.h"
#include "../lib/ir/topology.h"

#include "views/known-ops.h"

/*      x              x
 *      |              |
 *    Split          Relu
 *    /   \            |
 *  Relu  Relu   =>   Neg
 *   |     |           |
 *  Neg   Neg          |
 *    \   /            |
 *    Concat           |
 *      |              |
 *
 * The Concat joins values along the axis of the Split. Each value is computed from one result of
 * the Split, in order, by the same element-wise ops with equal attributes. No other node reads the
 * values between the Split and the Concat.
 *
 * Before: a valid graph, as imported. After: no such pattern is left. Run this pass before any node
 * is split, and not as part of clean-up. The pass cannot undo a split that Cleave made: Cleave's
 * splits consist of Slices and an Assemble (a Concat in a written model), never of a Split and a
 * Concat. */

typedef struct
{
  CleaveGraph *graph;
  const CleaveOp *split, *concat;
} Joiner;

/* Returns whether a node is element-wise, has one operand, and exactly one node reads its
 * result. */
static gboolean
is_plain (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0 || node->op->maps == NULL ||
      node->n_operands != 1 || node->n_results != 1 || node->results[0].n_uses != 1)
    return FALSE;
  node->op->maps (cleave_node_call_init (&call, node), 0, map);
  for (guint d = 0; d < node->results[0].type.shape.rank; d++)
    if (map[d].stride == 0 && node->results[0].type.shape.dim[d] != 1)
      return FALSE;
  return TRUE;
}

/* Returns whether element-wise nodes with equal ops, attributes and element types compute the n
 * values. */
static gboolean
nodes_are_equal (CleaveResult *const *values, guint n)
{
  const CleaveNode *first = values[0]->node;

  for (guint i = 0; i < n; i++)
    {
      const CleaveNode *node = values[i]->node;

      if (!is_plain (node) || node->op != first->op ||
          node->results[0].type.element != first->results[0].type.element ||
          !cleave_attrs_equal (node->op, node->attrs, first->attrs))
        return FALSE;
    }
  return TRUE;
}

/* Returns the Split along `axis` whose results are exactly the n values, in order; NULL: none. */
static CleaveNode *
find_split (const Joiner *joiner, CleaveResult *const *values, guint n, gint64 axis)
{
  CleaveNode *split = values[0]->node;

  if (split->op != joiner->split || split->n_results != n ||
      ((const CleaveSplitAttrs *) split->attrs)->axis != axis)
    return NULL;
  for (guint i = 0; i < n; i++)
    if (values[i] != &split->results[i])
      return NULL;
  return split;
}

/* Adds one node for each op between the Split and the Concat. `layers` has one old node of each op,
 * from the Concat back to the Split (join()). The first new node reads `whole`, the operand of the
 * Split. Each other new node reads the result of the new node before. The result of the last new
 * node replaces the result of the Concat. */
static void
rebuild (const Joiner *joiner, CleaveNode *concat, CleaveResult *whole, const GPtrArray *layers)
{
  for (guint i = layers->len; i-- > 0;)
    {
      const CleaveNode *like = layers->pdata[i];
      CleaveTensorType type = { like->results[0].type.element, whole->type.shape };

      whole = &cleave_graph_add_checked (joiner->graph, like->op, like->name, &whole, 1, &type, 1,
                                         cleave_attrs_copy (like->op, like->attrs))
                   ->results[0];
    }
  cleave_result_replace_uses (&concat->results[0], whole);
  if (layers->len > 0)
    cleave_node_take_names (whole->node, concat);
}

static gboolean
join (const Joiner *joiner, CleaveNode *concat)
{
  guint n = concat->n_operands;
  g_autofree CleaveResult **values = g_new (CleaveResult *, n);
  /* CleaveNode: one node of each op between the Split and the Concat. The Concat reads the result
   * of the first entry, and the last entry reads a result of the Split */
  g_autoptr (GPtrArray) layers = g_ptr_array_new ();
  gint64 axis = ((const CleaveAxisAttrs *) concat->attrs)->axis;
  CleaveNode *split;

  for (guint i = 0; i < n; i++)
    values[i] = concat->operands[i].result;
  while (nodes_are_equal (values, n))
    {
      g_ptr_array_add (layers, values[0]->node);
      for (guint i = 0; i < n; i++)
        values[i] = values[i]->node->operands[0].result;
    }
  split = find_split (joiner, values, n, axis);
  if (split == NULL || layers->len == 0)
    return FALSE;
  rebuild (joiner, concat, split->operands[0].result, layers);
  return TRUE;
}

/**
 * cleave_pass_join_elementwise:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * A model may apply the same element-wise ops to each result of a Split, and join the results with
 * a Concat. The pass then applies these ops once to the whole value. The bits stay the same. The
 * pass does not undo splits of `cleave_split_node()` and similar functions, which consist of Slices
 * and an Assemble, not of a Split and a Concat. `cleave_pass_remove_dead()` removes a Split without
 * users. The time of this pass grows linearly with the number of nodes.
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_pass_join_elementwise (CleaveGraph *graph,
                              gconstpointer options,
                              gboolean *changed,
                              GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  const Joiner joiner = { graph, cleave_known_op (CLEAVE_KNOWN_SPLIT),
                          cleave_known_op (CLEAVE_KNOWN_CONCAT) };

  if (changed != NULL)
    *changed = FALSE;
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);

      if (node->op == joiner.concat && node->results[0].n_uses > 0 && join (&joiner, node) &&
          changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}

const CleavePassInfo cleave_pass_info_join_elementwise = {
  .name = "join-elementwise",
  .summary = "Merges element-wise nodes that do the same to all parts of a value.",
  .run = cleave_pass_join_elementwise,
};
