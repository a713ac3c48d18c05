/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions into parts that follow each other, cut at values that the caller names.
 *
 *      x
 *      |
 *     conv      cut at "relu": the first part has the nodes for relu, { conv, relu }
 *    /    \
 *  relu  skip   the second part has all other nodes, { skip, add }, and reads conv and relu
 *    \    /
 *     add */

#include <cleave/cleave-partition.h>

#include "../../lib/ir/error.h"
#include "../../lib/ir/graph-private.h"
#include "../../lib/ir/topology.h"

#include "find-value.h"
#include "parts.h"

typedef struct
{
  const char *name;
  const CleaveNode *node;
  guint position; /* index of the node in the topological order */
} Cut;

static int
compare_cuts (gconstpointer a, gconstpointer b)
{
  guint x = ((const Cut *) a)->position, y = ((const Cut *) b)->position;

  return x < y ? -1 : x > y;
}

/* Returns the cuts (Cut) in topological order. Returns NULL and sets the error if a value is
 * unknown. */
static GArray *
find_cuts (const CleaveGraph *graph,
           const char *const *values,
           const GPtrArray *order,
           const gboolean *needed,
           GError **error)
{
  g_autoptr (GArray) cuts = g_array_new (FALSE, FALSE, sizeof (Cut));
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  for (guint i = 0; values[i] != NULL; i++)
    {
      const CleaveResult *value = cleave_partition_find_value (graph, values[i], TRUE, error);
      Cut cut = { .name = values[i] };

      if (value == NULL)
        return NULL;
      if (!cleave_partition_has_part (needed, value->node))
        return cleave_fail_null (error, CLEAVE_ERROR_OPTION,
                                 "no output needs '%s': no part can end there", values[i]);
      cut.node = value->node;
      cut.position = position[value->node->id];
      g_array_append_val (cuts, cut);
    }
  g_array_sort (cuts, compare_cuts);
  return g_steal_pointer (&cuts);
}

/* Returns an array indexed by node id: the index of the part that has the node. The part of a node
 * is the part of the first cut value that depends on the node. If no cut value depends on the node,
 * the node is in the last part. */
static guint *
find_stages (const CleaveGraph *graph, const GArray *cuts)
{
  guint *stage = g_new (guint, graph->n_ids + 1);
  g_autoptr (GPtrArray) stack = g_ptr_array_new ();

  for (guint i = 0; i <= graph->n_ids; i++)
    stage[i] = cuts->len;
  for (guint i = 0; i < cuts->len; i++)
    {
      g_ptr_array_add (stack, (gpointer) g_array_index (cuts, Cut, i).node);
      while (stack->len > 0)
        {
          CleaveNode *node = g_ptr_array_steal_index_fast (stack, stack->len - 1);

          if (stage[node->id] < cuts->len)
            continue;
          stage[node->id] = i;
          for (guint k = 0; k < node->n_operands; k++)
            if (node->operands[k].result != NULL)
              g_ptr_array_add (stack, node->operands[k].result->node);
        }
    }
  return stage;
}

/* Returns whether every part has a node. If not, sets the error. */
static gboolean
check_stages (const GPtrArray *order,
              const gboolean *needed,
              const guint *stage,
              const GArray *cuts,
              GError **error)
{
  g_autofree guint *n_nodes = g_new0 (guint, cuts->len + 1);

  for (guint i = 0; i < order->len; i++)
    if (cleave_partition_has_part (needed, order->pdata[i]))
      n_nodes[stage[((const CleaveNode *) order->pdata[i])->id]]++;
  for (guint i = 0; i < cuts->len; i++)
    if (n_nodes[i] == 0)
      return cleave_fail (error, CLEAVE_ERROR_OPTION,
                          "nothing lies between the cuts at '%s' and '%s': leave one out",
                          i == 0 ? "" : g_array_index (cuts, Cut, i - 1).name,
                          g_array_index (cuts, Cut, i).name);
  if (cuts->len > 0 && n_nodes[cuts->len] == 0)
    return cleave_fail (error, CLEAVE_ERROR_OPTION,
                        "'%s' needs all nodes that are left: nothing follows a cut there",
                        g_array_index (cuts, Cut, cuts->len - 1).name);
  return TRUE;
}

/**
 * cleave_partition_new_at:
 * @graph: a graph
 * @values: (array zero-terminated=1): names of values that nodes compute, or of outputs or nodes
 * @error: return location for a [struct@GLib.Error]
 *
 * Partitions a graph into parts that follow each other, one more than there are @values.
 *
 * A part consists of the nodes that its value needs, without the nodes of earlier parts. The last
 * part consists of all other nodes. A value that skips a part, such as a residual, is an output of
 * the part that computes it and an input of the part that reads it. The order of @values does not
 * matter. The level of a part is its index. O(graph × log(graph)).
 *
 * Fails with %CLEAVE_ERROR_OPTION if a value is unknown, is an input or a constant, or if a part
 * would be empty, and with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the parts, or %NULL on error
 *
 * Since: 0.2
 */
CleavePartition *
cleave_partition_new_at (const CleaveGraph *graph, const char *const *values, GError **error)
{
  g_return_val_if_fail (graph != NULL && values != NULL, NULL);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autofree gboolean *needed = cleave_partition_find_needed (graph);
  g_autoptr (GArray) cuts = order == NULL ? NULL : find_cuts (graph, values, order, needed, error);
  g_autofree guint *stage = cuts == NULL ? NULL : find_stages (graph, cuts);
  CleavePartition *partition;

  if (stage == NULL || !check_stages (order, needed, stage, cuts, error))
    return NULL;
  partition = cleave_partition_new_empty (graph);
  for (guint s = 0; s <= cuts->len; s++)
    cleave_partition_add_part (partition, G_MAXUINT, s);
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);

      if (cleave_partition_has_part (needed, node))
        cleave_partition_add_node (partition, stage[node->id], node);
    }
  cleave_partition_build_parts (partition);
  return partition;
}
