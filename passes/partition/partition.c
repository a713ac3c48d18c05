/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Implements the public functions that describe a finished partition. */

#include "../../lib/ir/boxed.h"
#include "../../lib/ir/graph-private.h"

#include "measure.h"
#include "parts.h"

static void
clear (gpointer data)
{
  CleavePartition *partition = data;

  g_array_unref (partition->parts);
  g_free (partition->part);
  g_ptr_array_unref (partition->output_values);
  cleave_partition_names_free (partition->names);
  cleave_graph_unref (partition->whole);
}

/**
 * cleave_partition_ref:
 * @partition: a partition
 *
 * Returns: (transfer full): @partition, with one more reference
 *
 * Since: 0.1
 */

/**
 * cleave_partition_unref:
 * @partition: (transfer full) (nullable): a partition
 *
 * Drops a reference; the last one frees the partition.
 *
 * Since: 0.1
 */

CLEAVE_DEFINE_COUNTED (CleavePartition, partition, clear)

/**
 * cleave_partition_get_n_parts:
 * @partition: a partition
 *
 * Returns: the number of parts
 *
 * Since: 0.1
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
 * Returns: (transfer none): the part as a separate graph
 *
 * Since: 0.1
 */
CleaveGraph *
cleave_partition_get_graph (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, NULL);
  return cleave_partition_part (partition, index)->graph;
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
 *
 * Since: 0.1
 */
guint
cleave_partition_get_level (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, 0);
  return cleave_partition_part (partition, index)->level;
}

/**
 * cleave_partition_get_subgraph:
 * @partition: a partition
 * @index: number of a part
 *
 * Returns: the parallel subgraph that the part belongs to, or -1 if it belongs to none
 *
 * Since: 0.1
 */
int
cleave_partition_get_subgraph (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, -1);
  return (int) cleave_partition_part (partition, index)->subgraph;
}

/**
 * cleave_partition_get_n_before:
 * @partition: a partition
 * @index: number of a part
 *
 * Returns: the number of parts that must run before this part
 *
 * Since: 0.1
 */
guint
cleave_partition_get_n_before (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len, 0);
  return cleave_partition_part (partition, index)->before->len;
}

/**
 * cleave_partition_get_before:
 * @partition: a partition
 * @index: number of a part
 * @number: number among the parts that must run before this part
 *
 * Returns: the index of that part
 *
 * Since: 0.1
 */
guint
cleave_partition_get_before (const CleavePartition *partition, guint index, guint number)
{
  g_return_val_if_fail (partition != NULL && index < partition->parts->len &&
                            number < cleave_partition_part (partition, index)->before->len,
                        0);
  return g_array_index (cleave_partition_part (partition, index)->before, guint, number);
}

/**
 * cleave_partition_get_output_value:
 * @partition: a partition
 * @index: number of an output of the whole graph
 *
 * Returns: (transfer none): the name of the value of this output: an output of a part, or an input
 * of the whole graph
 *
 * Since: 0.1
 */
const char *
cleave_partition_get_output_value (const CleavePartition *partition, guint index)
{
  g_return_val_if_fail (partition != NULL && index < partition->output_values->len, NULL);
  return g_ptr_array_index (partition->output_values, index);
}

/**
 * cleave_partition_find:
 * @partition: a partition
 * @node: a node of the whole graph, which must not have changed since the partition was made
 *
 * Returns: the index of the part that has the node, or -1 for inputs, unused nodes and constants;
 * each part that reads a constant has a copy of it
 *
 * Since: 0.2
 */
int
cleave_partition_find (const CleavePartition *partition, const CleaveNode *node)
{
  g_return_val_if_fail (partition != NULL && node != NULL, -1);
  g_return_val_if_fail (node->graph == partition->whole, -1);
  return partition->part[node->id];
}

/**
 * cleave_partition_measure:
 * @partition: a partition
 * @index: number of a part
 * @weight_bytes: (out): bytes of the constants in the part
 * @arena_bytes: (out): bytes of the arena of a program that runs the part on one thread
 * @error: return location for a [struct@GLib.Error]
 *
 * Computes the memory of a part. Activations are counted as %CLEAVE_MEMORY_CONVENTION says, and
 * include the inputs and outputs of the part. The call takes as long as
 * [method@Cleave.Graph.estimate].
 *
 * Fails if [method@Cleave.Graph.estimate] does.
 *
 * Returns: whether it worked
 *
 * Since: 0.2
 */
gboolean
cleave_partition_measure (const CleavePartition *partition,
                          guint index,
                          gint64 *weight_bytes,
                          gint64 *arena_bytes,
                          GError **error)
{
  CleavePartitionMemory memory;

  g_return_val_if_fail (partition != NULL && index < partition->parts->len, FALSE);
  g_return_val_if_fail (weight_bytes != NULL && arena_bytes != NULL, FALSE);
  if (!cleave_part_measure (cleave_partition_part (partition, index)->graph, &memory, error))
    return FALSE;
  *weight_bytes = memory.weight_bytes;
  *arena_bytes = memory.arena_bytes;
  return TRUE;
}
