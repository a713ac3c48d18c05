/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-pass.h>

#include "../lib/ir/evaluate.h"
#include "../lib/ir/graph-private.h"
#include "../lib/ir/topology.h"

/*    w
 *  /   \
 * Slice  Slice   =>   w.0    w.1       where w is a Constant; a view's result shares its bytes.
 *  |      |            |      |
 *  a      b            a      b
 *
 * Before: a valid graph.  After: no node reads constants only, unless its value would be large or
 * take long.  Run it after importing and after splitting. */

/* A value may be this large, or this many times as large as what it is made of. */
#define MAX_BYTES (1 << 20)
#define MAX_GROWTH 4

static gboolean
is_small (const CleaveNode *node)
{
  gint64 from = 0, to = 0;

  if ((node->op->flags & CLEAVE_OP_VIEW) != 0)
    return TRUE;
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL &&
        cleave_node_get_constant (node->operands[i].result->node) != NULL)
      from += cleave_tensor_type_n_bytes (&node->operands[i].result->type);
  for (guint r = 0; r < node->n_results; r++)
    to += cleave_tensor_type_n_bytes (&node->results[r].type);
  return to <= MAX_BYTES || to / MAX_GROWTH <= from;
}

/* The steps that may be spent on all nodes. */
static double
find_budget (const CleaveGraph *graph)
{
  double n_bytes = 0;

  for (CleaveNode *node = graph->first; node != NULL; node = node->next)
    if (cleave_node_get_constant (node) != NULL)
      n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[0].type);
  return CLEAVE_EVALUATE_BUDGET (n_bytes);
}

/* Whether the work may be spent; then it is. */
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
 * @options: unused
 * @changed: (out) (optional): set to %TRUE if the graph was changed
 * @error: return location for a [struct@GLib.Error]
 *
 * Works out nodes that read nothing but constants.  A Slice or Split of a constant becomes
 * constants that share its bytes; what would be more than 1 MiB and four times what it is made of
 * is left to the run.  So is what remains when about as much work has been done as reading all
 * constants a few times takes.
 *
 * Fails with %CLEAVE_ERROR_CYCLE and, if a value does not fit, with %CLEAVE_ERROR_SHAPE.
 *
 * Returns: whether it worked
 */
gboolean
cleave_pass_fold_constants (CleaveGraph *graph,
                            gconstpointer options,
                            gboolean *changed,
                            GError **error)
{
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  double budget = find_budget (graph);

  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      g_autoptr (GPtrArray) values = NULL;

      if (!cleave_node_is_used (node) || !cleave_evaluate_can (node) || !is_small (node) ||
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
