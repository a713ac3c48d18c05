/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces a Slice of a join, of another Slice or of a Split by a node that reads an operand of
 * this join, Slice or Split directly (views/forwarding.h). */

#include "info.h"

#include "../lib/ir/topology.h"

#include "views/forwarding.h"
#include "views/known-ops.h"
#include "views/strided-range.h"

/*    a     b              a     b
 *     \   /               |     |
 *    Assemble             |   Slice
 *    /     \      =>      |     |
 * Slice   Slice           |     |
 *
 * - A Slice of exactly one part of an Assemble becomes the part.
 * - A Slice of less than one part reads the part directly.
 * - A Slice across several parts becomes a smaller Assemble of Slices. If the Slice overlaps all
 *   parts and another node also reads the Assemble, the Slice does not change.
 * - A Slice of a Concat changes like a Slice of an Assemble.
 * - A Slice of a Slice or of a Split's result reads the operand of that Slice or Split.
 * - A Slice of a whole value becomes the value.
 * - If a Transpose stands between the Assemble and the Slices, a Transpose of each part replaces
 *   this Transpose:
 *
 *    a     b               a          b
 *     \   /                |          |
 *    Assemble              |          |
 *       |         =>   Transpose  Transpose
 *   Transpose              |          |
 *    /     \
 * Slice   Slice
 *
 * Before: a valid graph. After: no Slice reads a Split or another Slice, unless one of the Slices
 * runs backwards. No Slice cuts an Assemble or a Concat along a joined dimension. Two exceptions:
 * the Slice reads several parts with steps other than 1, or another node reads the join as well.
 * Run this pass after nodes are split one by one. */

/* Replaces `node`, a Slice of a Transpose of a join, by a Transpose of one part of the join.
 * Returns the result of the new Transpose. Returns NULL if `node` is not a Slice of a Transpose, or
 * if the forwarder cannot read a part of the Transpose's operand. */
static CleaveResult *
forward_transposed (CleaveGraph *graph, CleaveForwarder *forwarder, const CleaveNode *node)
{
  const CleaveNode *transpose = node->operands[0].result->node;
  const CleaveTransposeAttrs *a = transpose->attrs;
  CleaveStridedRange window;
  CleaveRange range = { .rank = node->results[0].type.shape.rank };
  CleaveResult *part;

  if (!cleave_node_is (transpose, CLEAVE_KNOWN_TRANSPOSE) ||
      !cleave_result_get_strided_range (&node->results[0], &window) ||
      cleave_strided_range_has_steps (&window))
    return NULL;
  for (guint d = 0; d < range.rank; d++)
    range.dim[a->perm.v[d]] = (CleaveSpan){ window.begin[d], window.begin[d] + window.count[d] };
  if (!cleave_forwarder_reads_back (forwarder, transpose->operands[0].result, &range))
    return NULL;
  part = cleave_forwarder_get (forwarder, transpose->operands[0].result, &range, node->name);
  return cleave_graph_add_transpose (graph, transpose->name, part, &a->perm, NULL);
}

static gboolean
forward (CleaveGraph *graph, CleaveForwarder *forwarder, CleaveNode *node)
{
  CleaveResult *result = &node->results[0], *forwarded;
  gboolean made;

  forwarded = forward_transposed (graph, forwarder, node);
  made = forwarded != NULL;
  if (!made)
    forwarded = cleave_forwarder_forward (forwarder, result);
  if (forwarded == result)
    return FALSE;
  cleave_result_replace_uses (result, forwarded);
  if (made || cleave_forwarder_made (forwarder, forwarded))
    cleave_node_take_names (forwarded->node, node);
  return TRUE;
}

/**
 * cleave_pass_forward_slices:
 * @graph: a graph
 * @options: (nullable): unused
 * @changed: (out) (optional): whether it changed the graph
 * @error: return location for a [struct@GLib.Error]
 *
 * Lets a Slice of an Assemble, a Concat, a Split or a Slice read an operand of that node directly.
 * After this pass, pieces of nodes that were split one by one read each other.
 * `cleave_pass_remove_dead()` removes the Slices without users. Near-linear.
 *
 * Fails with %CLEAVE_ERROR_CYCLE.
 *
 * Returns: %TRUE, or %FALSE on error
 *
 * Since: 0.1
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
  const CleaveOp *slice = cleave_known_op (CLEAVE_KNOWN_SLICE);

  if (changed != NULL)
    *changed = FALSE;
  if (order == NULL)
    return FALSE;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = g_ptr_array_index (order, i);

      if (node->op == slice && node->results[0].n_uses > 0 && forward (graph, forwarder, node) &&
          changed != NULL)
        *changed = TRUE;
    }
  return TRUE;
}

const CleavePassInfo cleave_pass_info_forward_slices = {
  .name = "forward-slices",
  .summary = "Makes Slices of a join read its parts directly.",
  .run = cleave_pass_forward_slices,
};
