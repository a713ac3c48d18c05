/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Partitions a row of nodes (row.h) into a number of parts that follow each other. */

#include "../../lib/ir/error.h"

#include "parts.h"
#include "row-cuts.h"

/* A caller may ask for at most this many parts, since the table of the search grows with the number
 * of parts. */
#define MAX_PARTS 1000

CleavePartition *
cleave_row_build (const CleaveRow *row, const GArray *ends)
{
  CleavePartition *partition = cleave_partition_new_empty (row->graph);

  for (guint i = 1; i < ends->len; i++)
    {
      cleave_partition_add_part (partition, G_MAXUINT, i - 1);
      for (guint k = g_array_index (ends, guint, i - 1); k < g_array_index (ends, guint, i); k++)
        cleave_partition_add_node (partition, i - 1, g_ptr_array_index (row->nodes, k));
    }
  cleave_partition_build_parts (partition);
  return partition;
}

/**
 * cleave_partition_new_by_count:
 * @graph: a graph
 * @n_parts: number of parts, from 1 to 1000
 * @error: return location for a [struct@GLib.Error]
 *
 * Partitions a graph into consecutive parts of similar estimated time.
 *
 * The nodes are cut in the order in which a program runs them. The largest part takes at most 1.25
 * times the estimated time of the largest part in the most even cut. Among these cuts, the function
 * chooses the cut with the fewest bytes of values between parts. If a value passes several cuts,
 * each cut includes its bytes. The level of a part is its index. O(@n_parts × graph).
 *
 * Fails with %CLEAVE_ERROR_OPTION if the graph has fewer nodes than @n_parts, constant expressions
 * and unused nodes not counted, and with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: (transfer full) (nullable): the parts, or %NULL on error
 *
 * Since: 0.2
 */
CleavePartition *
cleave_partition_new_by_count (const CleaveGraph *graph, guint n_parts, GError **error)
{
  g_return_val_if_fail (graph != NULL, NULL);
  g_autoptr (CleaveRow) row = NULL;
  g_autoptr (GArray) ends = NULL;

  if (n_parts == 0 || n_parts > MAX_PARTS)
    return cleave_fail_null (error, CLEAVE_ERROR_OPTION, "number of parts must be 1 to %d, not %u",
                             MAX_PARTS, n_parts);
  row = cleave_row_new (graph, error);
  if (row == NULL)
    return NULL;
  ends = cleave_row_cut_into (row, n_parts);
  if (ends == NULL)
    return cleave_fail_null (
        error, CLEAVE_ERROR_OPTION,
        "the graph has %u node%s that can be in parts: it cannot be cut into %u "
        "parts; ask for at most %u",
        row->nodes->len, row->nodes->len == 1 ? "" : "s", n_parts, row->nodes->len);
  return cleave_row_build (row, ends);
}
