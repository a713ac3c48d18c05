/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds broadcasts that take no memory: all readers of the broadcast read by strides
 * (broadcasts.h). */

#include "broadcasts.h"

/* Examine at most this many readers of a broadcast, so that the total cost stays linear. A
 * broadcast with more readers is stored in memory. */
#define MAX_READERS 256

/* Returns whether all readers of a value read it by strides. If `through_views`, a reader that is a
 * view is replaced by the readers of the view. */
static gboolean
is_read_by_strides (const CleaveResult *result, gboolean through_views)
{
  if (result->n_uses > MAX_READERS)
    return FALSE;
  for (const CleaveOperand *use = result->first_use; use != NULL; use = use->next_use)
    if (use->node == NULL ||
        ((use->node->op->flags & CLEAVE_OP_BY_STRIDES) == 0 &&
         !(through_views && (use->node->op->flags & CLEAVE_OP_VIEW) != 0 &&
           use->node->n_results == 1 && is_read_by_strides (&use->node->results[0], FALSE))))
      return FALSE;
  return TRUE;
}

gboolean
cleave_node_is_broadcast (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call = { 0 };

  return (node->op->flags & CLEAVE_OP_BROADCAST) != 0 && !cleave_node_is_fixed (node) &&
         is_read_by_strides (&node->results[0], TRUE) &&
         cleave_call_is_broadcast (cleave_node_call_init (&call, node));
}

const CleaveResult *
cleave_result_without_broadcast (const CleaveResult *result)
{
  return cleave_node_is_broadcast (result->node) ? result->node->operands[0].result : result;
}
