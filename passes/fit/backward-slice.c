/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Collects the nodes of a backward slice: from a value upwards, until each remaining operand is
 * an input, a constant, or much smaller than the value. */

#include "backward-slice.h"

/* A backward slice has at most this many nodes, which keeps the search for slices short. A 1x1
 * convolution and a depthwise convolution, each with its activation, have fewer nodes. */
#define MAX_SLICE 16

gboolean
cleave_fit_can_copy (const CleaveNode *node)
{
  return node->op->maps != NULL && !cleave_node_is_input (node) && !cleave_node_is_fixed (node) &&
         node->n_operands > 0;
}

gboolean
cleave_fit_add_backward_slice (GPtrArray *recomputed, const CleaveResult *value, gint64 n_bytes)
{
  CleaveNode *node = value->node;

  if (g_ptr_array_find (recomputed, node, NULL))
    return TRUE;
  if (!cleave_fit_can_copy (node) || recomputed->len >= MAX_SLICE)
    return FALSE;
  g_ptr_array_add (recomputed, node);
  for (guint o = 0; o < node->n_operands; o++)
    {
      const CleaveResult *read = node->operands[o].result;

      if (read != NULL && !cleave_fit_exists_before_run (read->node) &&
          CLEAVE_FIT_MUCH_LARGER * cleave_fit_count_bytes (read) > n_bytes &&
          !cleave_fit_add_backward_slice (recomputed, read, n_bytes))
        return FALSE;
    }
  return TRUE;
}
