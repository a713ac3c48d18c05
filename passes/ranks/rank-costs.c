/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the time of a node, the time of a message on the thread that sends or receives it,
 * and the height of each node. The height is the length of the longest path to the end of the
 * graph. */

#include "rank-costs.h"

#include "../../lib/ir/node-queries.h"
#include "../../lib/memory/cost.h"

double
cleave_ranks_cost (const CleaveNode *node)
{
  double n_bytes = 0;

  if (cleave_node_is_source (node) ||
      (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN | CLEAVE_OP_ROW_MAJOR)) != 0)
    return 0;
  if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0)
    return cleave_cost_of_node (node);
  for (guint r = 0; r < node->n_results; r++)
    n_bytes += (double) cleave_tensor_type_n_bytes (&node->results[r].type);
  return CLEAVE_COST_OF_STEP + cleave_cost_of_hot_bytes (n_bytes);
}

double *
cleave_ranks_find_heights (const CleaveGraph *graph, const GPtrArray *order)
{
  double *height = g_new0 (double, graph->n_ids + 1);

  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];
      double below = 0;

      for (guint r = 0; r < node->n_results; r++)
        for (const CleaveOperand *use = node->results[r].first_use; use != NULL;
             use = use->next_use)
          if (use->node != NULL)
            below = MAX (below, height[use->node->id]);
      height[node->id] = below + cleave_ranks_cost (node);
    }
  return height;
}

double
cleave_ranks_cost_of_message (const CleaveMessage *message)
{
  return CLEAVE_RANKS_COST_OF_MESSAGE + cleave_cost_of_rows ((double) message->n_bytes);
}
