/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions a graph into its parallel subgraphs. Nodes belong to the same part if they have the
 * same level, and are in the same parallel subgraph or in none.
 *
 *        x             level 0: [Slice, Slice]  (of no subgraph)
 *      /   \           level 1: [Conv, Relu]    [Conv, Relu]
 *  Slice   Slice       level 2: [Assemble, Gemm]
 *    |       |
 *  Conv    Conv
 *    |       |
 *  Relu    Relu
 *      \   /
 *    Assemble
 *        |
 *      Gemm
 *
 * The level of a node is the smallest number that meets two rules. The level is not less than the
 * level of any operand in the same subgraph. The level is more than the level of any operand in
 * another subgraph. Therefore, each part reads only values of parts of lower levels, and parts
 * never wait for each other in a circle, even if bands exchange rows in both directions. Constant
 * expressions are copied to every part that reads them. */

#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/subgraphs.h"
#include "../../lib/ir/topology.h"

#include "parts.h"

/* State of the search for parts. Arrays are indexed by node id. */
typedef struct
{
  GPtrArray *order;
  guint *subgraph, *level, *position;
  const gboolean *needed;
} Finder;

static guint
find_level (const Finder *finder, const CleaveNode *node)
{
  guint level = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value == NULL || cleave_node_is_fixed (value->node) ||
          !cleave_partition_has_part (finder->needed, value->node))
        continue;
      level = MAX (level, finder->level[value->node->id] +
                              (finder->subgraph[value->node->id] != finder->subgraph[node->id]));
    }
  return level;
}

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  const Finder *finder = data;
  const CleaveNode *m = *(CleaveNode *const *) a, *n = *(CleaveNode *const *) b;
  guint x = finder->level[m->id], y = finder->level[n->id];

  if (x != y)
    return x < y ? -1 : 1;
  x = finder->subgraph[m->id] + 1; /* nodes without subgraph come first: G_MAXUINT + 1 is 0 */
  y = finder->subgraph[n->id] + 1;
  if (x != y)
    return x < y ? -1 : 1;
  x = finder->position[m->id];
  y = finder->position[n->id];
  return x < y ? -1 : x > y;
}

/* Returns the nodes that belong to parts, sorted by part. */
static GPtrArray *
sort_nodes (const Finder *finder)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (guint i = 0; i < finder->order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (finder->order, i);

      if (!cleave_partition_has_part (finder->needed, node))
        continue;
      if (cleave_node_is_fixed (node))
        finder->subgraph[node->id] = G_MAXUINT;
      finder->level[node->id] = find_level (finder, node);
      finder->position[node->id] = i;
      g_ptr_array_add (nodes, node);
    }
  g_ptr_array_sort_with_data (nodes, compare_places, (gpointer) finder);
  return g_steal_pointer (&nodes);
}

static void
add_parts (CleavePartition *partition, const Finder *finder)
{
  g_autoptr (GPtrArray) nodes = sort_nodes (finder);
  const CleaveNode *last = NULL;

  for (guint i = 0; i < nodes->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (nodes, i);

      if (last == NULL || finder->level[last->id] != finder->level[node->id] ||
          finder->subgraph[last->id] != finder->subgraph[node->id])
        cleave_partition_add_part (partition, finder->subgraph[node->id], finder->level[node->id]);
      cleave_partition_add_node (partition, partition->parts->len - 1, node);
      last = node;
    }
}

/**
 * cleave_partition_new:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Partitions a graph. Each parallel subgraph, which a drawing frames, becomes one part, or a few
 * parts if other nodes must run in between. The nodes before, between and after the subgraphs
 * become parts as well. Each part is a graph. The inputs of a part are results of other parts or
 * inputs of the whole graph. The outputs of a part are values that other parts read, or outputs of
 * the whole graph. Values keep their names. The parts are in an order in which they can run. Parts
 * share the constants that they read. O(graph × log(graph)).
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the parts, or %NULL on error
 *
 * Since: 0.1
 */
CleavePartition *
cleave_partition_new (const CleaveGraph *graph, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autofree guint *subgraph = g_new (guint, graph->n_ids + 1);
  g_autofree guint *level = g_new0 (guint, graph->n_ids + 1);
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);
  g_autofree gboolean *needed = cleave_partition_find_needed (graph);
  const Finder finder = { order, subgraph, level, position, needed };
  CleavePartition *partition;

  if (order == NULL)
    return NULL;
  for (guint i = 0; i <= graph->n_ids; i++)
    subgraph[i] = G_MAXUINT;
  cleave_subgraphs_find (graph, subgraph);
  partition = cleave_partition_new_empty (graph);
  add_parts (partition, &finder);
  cleave_partition_build_parts (partition);
  return partition;
}
