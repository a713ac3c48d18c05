/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds equal nodes with a hash table, and makes all readers of equal nodes read the first of
 * them. */

#include "info.h"

#include "../lib/ir/defaults.h"
#include "../lib/ir/graph-private.h"
#include "../lib/ir/topology.h"

/*      x                  x
 *    /   \                |
 * Slice  Slice   =>     Slice
 *   |      |            /   \
 *   a      b           a     b
 *
 * Both Slices have the same attributes and operands.
 *
 * Before: a valid graph. After: if several nodes are equal, only the first of these nodes has
 * readers. Pieces of a split stay separate, since their ranges differ. The nodes without readers
 * stay in the graph: run remove-dead next. */

static guint
node_hash (gconstpointer data)
{
  const CleaveNode *node = data;
  guint64 hash = cleave_attrs_hash (node->op, node->attrs) ^ (guint64) (gsize) node->op, sum = 0;

  if (node->n_operands == 2) /* the two operands of a commutative op may be swapped */
    {
      for (guint i = 0; i < node->n_operands; i++)
        sum += (guint64) (gsize) node->operands[i].result * 0x9e3779b97f4a7c15u;
      hash ^= sum;
    }
  else
    for (guint i = 0; i < node->n_operands; i++)
      hash = (hash ^ (guint64) (gsize) node->operands[i].result) * 0x9e3779b97f4a7c15u;
  return (guint) (hash ^ (hash >> 32));
}

static gboolean
operands_equal (const CleaveNode *a, const CleaveNode *b)
{
  if (a->n_operands == 2 && a->operands[0].result == b->operands[1].result &&
      a->operands[1].result == b->operands[0].result && (a->op->flags & CLEAVE_OP_COMMUTATIVE) != 0)
    return TRUE;
  for (guint i = 0; i < a->n_operands; i++)
    if (a->operands[i].result != b->operands[i].result)
      return FALSE;
  return TRUE;
}

/* Returns whether two equal constants must stay separate. The user of an exported file may replace
 * the default value of an input. Therefore, a part of a default value may only be merged with the
 * same part of the same default value. */
static gboolean
must_stay_separate (const CleaveNode *m, const CleaveNode *n)
{
  CleaveTensor *x = cleave_node_get_constant (m), *y = cleave_node_get_constant (n);
  CleaveRange of_x, of_y;

  if (x == NULL || y == NULL ||
      (cleave_graph_find_default (m->graph, x) == NULL &&
       cleave_graph_find_default (n->graph, y) == NULL))
    return FALSE;
  return cleave_tensor_get_base (x, &of_x) != cleave_tensor_get_base (y, &of_y) ||
         !cleave_range_equal (&of_x, &of_y);
}

static gboolean
node_equal (gconstpointer a, gconstpointer b)
{
  const CleaveNode *m = a, *n = b;

  if (m->op != n->op || m->n_operands != n->n_operands || m->n_results != n->n_results)
    return FALSE;
  if (!operands_equal (m, n) || must_stay_separate (m, n))
    return FALSE;
  return cleave_attrs_equal (m->op, m->attrs, n->attrs);
}

/**
 * cleave_pass_merge_equal:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Merges equal nodes: all users of equal nodes then read the first of these nodes. Nodes are equal
 * if they have the same op, attributes and operands (in any order for commutative ops), or are
 * constants of the same bytes. Inputs are never merged. O(graph + bytes of constants).
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
 */
gboolean
cleave_pass_merge_equal (CleaveGraph *graph,
                         gconstpointer options,
                         gboolean *changed,
                         GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autoptr (GHashTable) nodes = g_hash_table_new (node_hash, node_equal);

  if (changed != NULL)
    *changed = FALSE;
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      CleaveNode *first;

      if (cleave_node_is_input (node) || !cleave_node_is_used (node))
        continue;
      first = g_hash_table_lookup (nodes, node);
      if (first == NULL)
        {
          g_hash_table_add (nodes, node);
          continue;
        }
      for (guint r = 0; r < node->n_results; r++)
        cleave_result_replace_uses (&node->results[r], &first->results[r]);
      if (changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}

const CleavePassInfo cleave_pass_info_merge_equal = {
  .name = "merge-equal",
  .summary = "Merges nodes that compute the same from the same operands.",
  .run = cleave_pass_merge_equal,
};
