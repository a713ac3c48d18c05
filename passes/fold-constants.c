/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces nodes that read only constants by constants, as long as the work fits into a budget. */

#include "info.h"

#include "../lib/ir/evaluate.h"
#include "../lib/ir/graph-private.h"
#include "../lib/ir/topology.h"

/*    w
 *  /   \
 * Slice  Slice   =>   w.0    w.1       where w is a Constant, and w.0 and w.1 share w's bytes.
 *  |      |            |      |
 *  a      b            a      b
 *
 * Before: a valid graph. After: no node reads only constants, with three exceptions:
 * - nodes whose value would take more memory than their operands
 * - nodes that take long to compute
 * - nodes that decode stored weights, such as DequantizeLinear
 *
 * A program computes the excepted nodes when it is compiled. Run the pass after importing and after
 * splitting. */

/* Returns the bytes of the constants that only this node reads. If the node is folded, these
 * bytes become free. */
static gint64
count_freed (const CleaveNode *node)
{
  gint64 freed = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *x = node->operands[i].result;

      if (x != NULL && x->n_uses == 1 && cleave_node_get_constant (x->node) != NULL)
        freed += cleave_tensor_type_n_bytes (&x->type);
    }
  return freed;
}

static gboolean
is_worth (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };

  return cleave_evaluate_saves (cleave_node_call_init (&call, node), count_freed (node));
}

/* Returns the budget of work for folding all nodes, in the unit of cleave_evaluate_work(). */
static double
find_budget (const CleaveGraph *graph)
{
  double n_bytes = 0;

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (cleave_node_get_constant (node) != NULL)
      n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[0].type);
  return CLEAVE_EVALUATE_BUDGET (n_bytes);
}

/* Subtracts `work` from the budget. If the budget is smaller than `work`, returns FALSE and keeps
 * the budget. */
static gboolean
spend (double *budget, double work)
{
  if (!(work <= *budget))
    return FALSE;
  *budget -= work;
  return TRUE;
}

static void
replace (CleaveNode *node, const GPtrArray *values)
{
  for (guint r = 0; r < node->n_results; r++)
    {
      CleaveResult *constant;

      if (node->results[r].n_uses == 0)
        continue;
      constant = cleave_graph_add_constant (node->graph, node->name, g_ptr_array_index (values, r));
      cleave_result_replace_uses (&node->results[r], constant);
      if (r == 0)
        cleave_node_take_names (constant->node, node);
    }
}

/**
 * cleave_pass_fold_constants:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Computes nodes that read only constants. A Slice or Split of a constant becomes constants that
 * share its bytes. A node stays if its value would take more than 1 KiB and more memory than the
 * constants that only this node reads. `QuantizeLinear` and `DequantizeLinear` of constants also
 * stay, since weights are stored in quantized form. The pass has a limit on its work: 2^24 steps,
 * which take a fraction of a second, and 4 steps for each byte of the constants. The nodes that
 * stay are computed once, when a program is compiled.
 *
 * Fails with %CLEAVE_ERROR_CYCLE if the graph has a cycle, and with %CLEAVE_ERROR_SHAPE if a value
 * has more bytes than 64 bits can count.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_pass_fold_constants (CleaveGraph *graph,
                            gconstpointer options,
                            gboolean *changed,
                            GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  double budget = find_budget (graph);

  if (changed != NULL)
    *changed = FALSE;
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      g_autoptr (GPtrArray) values = NULL;

      if (!cleave_node_is_used (node) || !cleave_evaluate_can (node) || !is_worth (node) ||
          !spend (&budget, cleave_evaluate_work (node)))
        continue;
      values = cleave_evaluate (node, error);
      if (values == NULL)
        return FALSE;
      replace (node, values);
      if (changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}

const CleavePassInfo cleave_pass_info_fold_constants = {
  .name = "fold-constants",
  .summary = "Computes the values that depend on constants alone.",
  .run = cleave_pass_fold_constants,
};
