/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "info.h"

#include "../lib/ir/topology.h"

#include "views/forwarding.h"

/*    a     b              a     b
 *     \   /               |     |
 *    Assemble             |   Slice
 *    /     \      =>      |     |
 * Slice   Slice           |     |
 *
 * Slices that take one part read the part, those that take less of it a Slice of it.  One that
 * takes from several becomes a smaller Assemble of Slices; but it stays a view where it meets all
 * of them, and something else reads the Assemble as it is.  So with Concat; a Slice of a Slice or
 * of a Split's result reads their operand; a Slice that takes everything is the value.
 *
 * Before: a valid graph.  After: no Slice reads a Slice (but one that runs backwards), a Split or,
 * unless its steps straddle parts, an Assemble or a Concat that is joined along a dimension it
 * cuts. Run it after splitting nodes one by one. */

/**
 * cleave_pass_forward_slices:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Lets a Slice of an Assemble, a Concat, a Split or a Slice read the part itself, so that nodes
 * that were split one by one meet piece to piece.  Slices that lose their users stay for
 * `cleave_pass_remove_dead()`.  Near-linear.
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: whether it worked
 */
gboolean
cleave_pass_forward_slices (CleaveGraph *graph,
                            gconstpointer options,
                            gboolean *changed,
                            GError **error)
{
  g_return_val_if_fail (graph != NULL, FALSE);
  g_autoptr (GPtrArray) order = cleave_topology_sort (graph, error);
  g_autoptr (CleaveForwarder) forwarder = cleave_forwarder_new (graph);
  const CleaveOp *slice = cleave_op_lookup ("Slice");

  if (changed != NULL)
    *changed = FALSE;
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);
      CleaveResult *forwarded;

      if (node->op != slice || node->results[0].n_uses == 0)
        continue;
      forwarded = cleave_forwarder_forward (forwarder, &node->results[0]);
      if (forwarded == &node->results[0])
        continue;
      cleave_result_replace_uses (&node->results[0], forwarded);
      if (cleave_forwarder_made (forwarder, forwarded))
        cleave_node_take_names (forwarded->node, node);
      if (changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}

const CleavePassInfo cleave_pass_info_forward_slices = {
  .name = "forward-slices",
  .summary = "Slices of joined parts read the parts themselves.",
  .run = cleave_pass_forward_slices,
};
