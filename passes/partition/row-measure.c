/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Measures the memory of a part that consists of consecutive nodes of a row (row.h). */

#include "row-measure.h"

#include "build.h"

/* Returns whether an output or a node at `end` or later reads a value. For a constant expression,
 * only outputs count, since later parts have their own copies. */
static gboolean
is_wanted (const CleaveRow *row, const CleaveResult *value, guint end)
{
  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL ||
        (!cleave_node_is_fixed (value->node) && row->place[use->node->id] != CLEAVE_NEVER &&
         row->place[use->node->id] >= end))
      return TRUE;
  return FALSE;
}

/* Returns the values (CleaveResult) that are outputs of the part with nodes [begin, end). */
static GPtrArray *
list_wanted (const CleaveRow *row, guint begin, guint end)
{
  GPtrArray *wanted = g_ptr_array_new ();

  for (guint i = begin; i < end; i++)
    {
      CleaveNode *node = g_ptr_array_index (row->nodes, i);

      for (guint r = 0; r < node->n_results; r++)
        if (is_wanted (row, &node->results[r], end))
          g_ptr_array_add (wanted, &node->results[r]);
    }
  return wanted;
}

void
cleave_row_measure (const CleaveRow *row, guint begin, guint end, CleavePartitionMemory *memory)
{
  g_autoptr (GPtrArray) nodes = g_ptr_array_new ();
  g_autoptr (GPtrArray) wanted = list_wanted (row, begin, end);
  g_autoptr (CleaveGraph) graph = NULL;

  for (guint i = begin; i < end; i++)
    g_ptr_array_add (nodes, g_ptr_array_index (row->nodes, i));
  graph = cleave_partition_build (
      row->graph, &(CleavePartitionContent){ "part", nodes, NULL, wanted, NULL, NULL });
  if (!cleave_part_measure (graph, memory, NULL))
    g_assert_not_reached (); /* a part of a graph without cycles has no cycle */
}
