/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the arena of a part for one thread, and sums the bytes of its constants. */

#include "measure.h"

#include <cleave/cleave-program.h>

gboolean
cleave_part_measure (const CleaveGraph *graph, CleavePartitionMemory *memory, GError **error)
{
  CleaveEstimate estimate;

  if (!cleave_graph_estimate (graph, 1, &estimate, error))
    return FALSE;
  *memory = (CleavePartitionMemory){ .arena_bytes = estimate.arena_bytes };
  for (const CleaveNode *node = cleave_graph_get_first_node (graph); node != NULL;
       node = cleave_node_get_next (node))
    if (cleave_node_get_constant (node) != NULL)
      memory->weight_bytes +=
          cleave_tensor_type_n_bytes (cleave_tensor_get_type (cleave_node_get_constant (node)));
  return TRUE;
}
