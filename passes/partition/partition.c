/* SPDX-License-Identifier: GPL-2.0-or-later */

#include <cleave/cleave-partition.h>

#include "../../lib/ir/boxed.h"
#include "../../lib/ir/subgraphs.h"
#include "../../lib/ir/topology.h"

#include "build.h"

/* A part is the nodes of one parallel subgraph (or of none) that have one level.
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
 * A node has the level of its operands in the same subgraph, and one more than that of operands in
 * other subgraphs.  So each part reads values of parts of lower levels only, and parts never wait
 * for each other in a circle, even if bands exchange rows in both directions.  Constant expressions
 * are copied to every part that reads them. */

typedef struct
{
  guint subgraph, level; /* `subgraph` is G_MAXUINT if the part is in no parallel subgraph */
  GPtrArray *nodes;
  GPtrArray *wanted; /* CleaveResult: values that other parts read, and outputs of the graph */
  GArray *before;    /* guint: indices of the parts whose values it reads */
  CleaveGraph *graph;
} Part;

struct _CleavePartition
{
  GArray *parts;
  GPtrArray *output_values; /* names of the graph's output values */
};

static void
part_clear (gpointer data)
{
  Part *part = data;

  g_ptr_array_unref (part->nodes);
  g_ptr_array_unref (part->wanted);
  g_array_unref (part->before);
  g_clear_pointer (&part->graph, cleave_graph_unref);
}

/* State of the search for parts; arrays are indexed by node id. */
typedef struct
{
  const CleaveGraph *graph;
  GPtrArray *order;
  guint *subgraph, *level, *part;
  GArray *parts;
  guint *noted; /* by part: the last part found that reads it, counted from 1; 0: none */
} Finder;

/* Returns whether a node belongs to one part.  Inputs belong to none, and constant expressions are
 * copied to every part that reads them, unless they are outputs. */
static gboolean
has_part (const CleaveNode *node)
{
  if (cleave_node_is_input (node))
    return FALSE;
  for (guint r = 0; cleave_node_is_fixed (node) && r < node->n_results; r++)
    for (const CleaveOperand *use = node->results[r].first_use; use != NULL; use = use->next_use)
      if (use->node == NULL)
        return TRUE;
  return !cleave_node_is_fixed (node) && cleave_node_is_used (node);
}

static guint
find_level (const Finder *finder, const CleaveNode *node)
{
  guint level = 0;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *value = node->operands[i].result;

      if (value == NULL || cleave_node_is_fixed (value->node) || !has_part (value->node))
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
  x = finder->subgraph[m->id] + 1; /* nodes of no subgraph come first: G_MAXUINT + 1 is 0 */
  y = finder->subgraph[n->id] + 1;
  if (x != y)
    return x < y ? -1 : 1;
  x = finder->part[m->id]; /* still the position in the topological order */
  y = finder->part[n->id];
  return x < y ? -1 : x > y;
}

static void
find_parts (Finder *finder)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();

  for (guint i = 0; i < finder->order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (finder->order, i);

      if (!has_part (node))
        continue;
      if (cleave_node_is_fixed (node))
        finder->subgraph[node->id] = G_MAXUINT;
      finder->level[node->id] = find_level (finder, node);
      finder->part[node->id] = i;
      g_ptr_array_add (nodes, node);
    }
  g_ptr_array_sort_with_data (nodes, compare_places, finder);
  for (guint i = 0; i < nodes->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (nodes, i);
      Part *last = finder->parts->len == 0
                       ? NULL
                       : &g_array_index (finder->parts, Part, finder->parts->len - 1);

      if (last == NULL || last->level != finder->level[node->id] ||
          last->subgraph != finder->subgraph[node->id])
        {
          Part part = { finder->subgraph[node->id],
                        finder->level[node->id],
                        g_ptr_array_new (),
                        g_ptr_array_new (),
                        g_array_new (FALSE, FALSE, sizeof (guint)),
                        NULL };

          g_array_append_val (finder->parts, part);
          last = &g_array_index (finder->parts, Part, finder->parts->len - 1);
        }
      finder->part[node->id] = finder->parts->len - 1;
      g_ptr_array_add (last->nodes, node);
    }
}

/* Returns whether a result is an output or another part reads it.  Constant expressions are copied,
 * so other parts do not read them. */
static gboolean
is_wanted (const Finder *finder, const CleaveResult *result, guint part)
{
  for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || (!cleave_node_is_fixed (result->node) && has_part (use->node) &&
                              finder->part[use->node->id] != part))
      return TRUE;
  return FALSE;
}

static void
note_before (const Finder *finder, guint index, guint other)
{
  Part *part = &g_array_index (finder->parts, Part, index);

  if (finder->noted[other] == index + 1)
    return;
  finder->noted[other] = index + 1;
  g_array_append_val (part->before, other);
}

static void
connect (const Finder *finder, guint index)
{
  Part *part = &g_array_index (finder->parts, Part, index);

  for (guint i = 0; i < part->nodes->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (part->nodes, i);

      for (guint r = 0; r < node->n_results; r++)
        if (is_wanted (finder, &node->results[r], index))
          g_ptr_array_add (part->wanted, &node->results[r]);
      for (guint k = 0; k < node->n_operands; k++)
        {
          const CleaveResult *value = node->operands[k].result;

          if (value != NULL && !cleave_node_is_fixed (value->node) && has_part (value->node) &&
              finder->part[value->node->id] != index)
            note_before (finder, index, finder->part[value->node->id]);
        }
    }
}

static void
build (Finder *finder)
{
  g_autofree guint *noted = g_new0 (guint, finder->parts->len + 1);

  finder->noted = noted;
  for (guint i = 0; i < finder->parts->len; i++)
    {
      Part *part = &g_array_index (finder->parts, Part, i);
      g_autofree char *name = g_strdup_printf ("%s-%u", finder->graph->name, i);

      connect (finder, i);
      part->graph = cleave_partition_build (finder->graph, name, part->nodes, part->wanted);
    }
}

/**
 * cleave_partition_new:
 * @graph: a graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Partitions a graph. Each parallel subgraph, as a drawing frames them, becomes one part, or a few
 * if other nodes must run in between. The nodes before, between and after the subgraphs become
 * parts as well. Each part is a graph: its inputs are results of other parts or inputs of the whole
 * graph; its outputs are values that other parts read or outputs of the whole graph. Values keep
 * their names. The parts are in an order in which they can run. Parts share the constants that they
 * read. O(graph × log(graph)).
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the parts, or %NULL on error
 */
CleavePartition *
cleave_partition_new (const CleaveGraph *graph, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autofree guint *subgraph = g_new (guint, graph->n_ids + 1);
  g_autofree guint *level = g_new0 (guint, graph->n_ids + 1);
  g_autofree guint *part = g_new0 (guint, graph->n_ids + 1);
  Finder finder = { graph, order, subgraph, level, part, NULL, NULL };
  CleavePartition *partition;

  if (order == NULL)
    return NULL;
  partition = g_atomic_rc_box_new0 (CleavePartition);
  partition->output_values = g_ptr_array_new_with_free_func (g_free);
  partition->parts = finder.parts = g_array_new (FALSE, FALSE, sizeof (Part));
  g_array_set_clear_func (partition->parts, part_clear);
  for (guint i = 0; i <= graph->n_ids; i++)
    subgraph[i] = G_MAXUINT;
  cleave_subgraphs_find (graph, subgraph);
  find_parts (&finder);
  build (&finder);
  for (guint i = 0; i < graph->outputs->len; i++)
    g_ptr_array_add (partition->output_values,
                     cleave_result_dup_name (cleave_graph_get_output (graph, i)->result));
  return partition;
}

static void
clear (gpointer data)
{
  CleavePartition *partition = data;

  g_array_unref (partition->parts);
  g_ptr_array_unref (partition->output_values);
}

/**
 * cleave_partition_ref:
 * @partition: a partition
 *
 * Returns: (transfer full): the same, with one more owner
 */

/**
 * cleave_partition_unref:
 * @partition: (transfer full) (nullable): a partition
 *
 * Gives up one owner's hold; the last one frees it.
 */

CLEAVE_DEFINE_COUNTED (CleavePartition, partition, clear)

static const Part *
get_part (const CleavePartition *partition, guint index)
{
  return &g_array_index (partition->parts, Part, index);
}

/**
 * cleave_partition_get_n_parts:
 * @partition: a partition
 *
 * Returns: number of its parts
 */
guint
cleave_partition_get_n_parts (const CleavePartition *partition)
{
  g_return_val_if_fail (partition != NULL, 0);
  return partition->parts->len;
}

/**
 * cleave_partition_get_graph:
 * @partition: a partition
 * @index: number of a part
 *
 * Returns: (transfer none): the part as a graph of its own
 */
CleaveGraph *
cleave_partition_get_graph (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, NULL);
  return get_part (partition, index)->graph;
}

/**
 * cleave_partition_get_level:
 * @partition: a partition
 * @index: number of a part
 *
 * Gets the level of a part. A part can run after all parts of lower levels, and at the same time as
 * other parts of its level.
 *
 * Returns: the level, from 0 on
 */
guint
cleave_partition_get_level (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, 0);
  return get_part (partition, index)->level;
}

/**
 * cleave_partition_get_subgraph:
 * @partition: a partition
 * @index: number of a part
 *
 * Returns: the parallel subgraph that the part is of, or -1 if it is of none
 */
int
cleave_partition_get_subgraph (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, -1);
  return (int) get_part (partition, index)->subgraph;
}

/**
 * cleave_partition_get_n_before:
 * @partition: a partition
 * @index: number of a part
 *
 * Returns: number of the parts that must run before it
 */
guint
cleave_partition_get_n_before (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, 0);
  return get_part (partition, index)->before->len;
}

/**
 * cleave_partition_get_before:
 * @partition: a partition
 * @index: number of a part
 * @number: number of a part that must run before it
 *
 * Returns: the index of that part
 */
guint
cleave_partition_get_before (const CleavePartition *partition, guint index, guint number)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len &&
                            number < get_part (partition, index)->before->len,
                        0);
  return g_array_index (get_part (partition, index)->before, guint, number);
}

/**
 * cleave_partition_get_output_value:
 * @partition: a partition
 * @index: number of an output of the whole graph
 *
 * Returns: (transfer none): the name of the value that it is: an output of a part or an input of
 * the whole
 */
const char *
cleave_partition_get_output_value (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->output_values->len, NULL);
  return g_ptr_array_index (partition->output_values, index);
}
