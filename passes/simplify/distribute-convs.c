/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Replaces a Conv of a Concat by Convs of the Concat's operands (the parts) and the sum of their
 * results. */

#include "../info.h"

#include "help.h"

/*    a   b                 a          b
 *     \ /                  |          |
 *   Concat       =>      Conv W1    Conv W2
 *      |                     \      /
 *   Conv W                     Add
 *
 * W1 and W2 are the weights of the channels of each part.  The parts then need not be live at the
 * same time, which lowers the peak if each part is computed from a small value. No pipeline of the
 * library has this pass, since rounding differs and the partial sums are additional values.
 *
 * Before: a valid graph. After: no Conv with one group is the only reader of a Concat of channels.
 */

enum { X, W, B };

/* Returns a Slice of the weights of a Conv, for the operand channels [begin, end). */
static CleaveResult *
slice_weights (const CleaveNode *conv, gint64 begin, gint64 end)
{
  CleaveResult *w = conv->operands[W].result;
  CleaveRange range = cleave_range_whole (&w->type.shape);

  range.dim[1] = (CleaveSpan){ begin, end };
  return cleave_graph_add_slice_range (conv->graph, w->node->name, w, &range, NULL);
}

/* Adds a Conv for each part of the Concat, and the sum of their results. The first Conv has the
 * bias. Returns the sum. */
static CleaveResult *
add_up (const CleaveNode *conv, const CleaveNode *concat, guint channel)
{
  CleaveResult *sum = NULL;
  gint64 begin = 0;

  for (guint i = 0; i < concat->n_operands; i++)
    {
      CleaveResult *part = concat->operands[i].result, *y;
      gint64 end = begin + part->type.shape.dim[channel];
      CleaveResult *bias = sum == NULL && conv->n_operands > B ? conv->operands[B].result : NULL;

      if (end == begin)
        continue;
      y = cleave_graph_add_conv (conv->graph, conv->name, part, slice_weights (conv, begin, end),
                                 bias, conv->attrs, NULL);
      sum =
          sum == NULL ? y : cleave_graph_add_binary (conv->graph, "Add", conv->name, sum, y, NULL);
      begin = end;
    }
  return sum;
}

static gboolean
visit (CleaveNode *node)
{
  const CleaveConvAttrs *a = node->attrs;
  guint first_new = node->graph->n_ids;
  const CleaveNode *concat;
  CleaveDims dims;

  if (!cleave_node_is (node, CLEAVE_KNOWN_CONV) || a->group != 1 ||
      node->results[0].type.element != CLEAVE_FLOAT32)
    return FALSE;
  concat = node->operands[X].result->node;
  dims = cleave_layout_dims (a->layout, node->results[0].type.shape.rank);
  if (!cleave_node_is (concat, CLEAVE_KNOWN_CONCAT) || concat->n_operands < 2 ||
      concat->results[0].n_uses != 1 || cleave_node_is_fixed (concat) ||
      ((const CleaveAxisAttrs *) concat->attrs)->axis != dims.c)
    return FALSE;
  return cleave_node_give_way (node, add_up (node, concat, dims.c), first_new);
}

const CleavePassInfo cleave_pass_info_distribute_convs = {
  .name = "distribute-convs",
  .summary = "Replaces a Conv of a Concat by a sum of Convs of its parts; changes the last bits.",
  .visit = visit,
};
