/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Decides which views may be copied to save memory (materialized.h). */

#include "materialized.h"

#include "../ir/memory.h"

/* If a join has more readers than this, they are not examined, so that the total cost stays
 * linear. */
#define MAX_READERS 16

/* The copies of the views of one value may take at most this many times the bytes of the value. If
 * the copies would take more bytes, no view of the value is copied. Tiles copy some rows more than
 * once: with 1, a video network needs 6 % more memory. Without a limit, a U-net needs 5 % more, and
 * the cost volume of stereo matching is copied ten times. */
#define MAX_COPIED 2

/* Returns the last position at which the reader `node` of a value needs the value in memory. If
 * `node` is a join, its buffer may contain the value: returns the position of the join's last
 * reader, or CLEAVE_NEVER if the join has more than MAX_READERS readers. For any other node,
 * returns the position of the node. */
static guint
last_reader (const guint *position, const CleaveNode *node)
{
  guint last = position[node->id];

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0)
    return last;
  if (node->results[0].n_uses > MAX_READERS)
    return CLEAVE_NEVER;
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    last = use->node == NULL ? last : MAX (last, position[use->node->id]);
  return last;
}

gboolean
cleave_storage_is_for_joins (const CleaveNode *view)
{
  if (view == NULL || (view->op->flags & CLEAVE_OP_VIEW) == 0 || view->n_results != 1)
    return FALSE;
  for (const CleaveOperand *use = view->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node == NULL || (use->node->op->flags & CLEAVE_OP_JOIN) == 0)
      return FALSE;
  return view->results[0].n_uses > 0;
}

/* Returns the position after which all remaining readers of a value are views that only joins read.
 * Returns CLEAVE_NEVER if copies of these views would take too many bytes (MAX_COPIED). */
static guint
find_joins_only (const guint *position, const CleaveResult *x)
{
  const gint64 n_bytes = cleave_tensor_type_n_bytes (&x->type);
  gint64 n_copied = 0;
  guint last = position[x->node->id];

  for (const CleaveOperand *use = x->first_use; use != NULL && last != CLEAVE_NEVER;
       use = use->next_use)
    if (use->node == NULL)
      return CLEAVE_NEVER;
    else if (!cleave_storage_is_for_joins (use->node))
      last = MAX (last, last_reader (position, use->node));
    else
      n_copied += cleave_tensor_type_n_bytes (&use->node->results[0].type);
  return n_copied > MAX_COPIED * n_bytes ? CLEAVE_NEVER : last;
}

static gboolean
has_view_for_joins (const GPtrArray *order)
{
  for (guint i = 0; i < order->len; i++)
    if (cleave_storage_is_for_joins (order->pdata[i]))
      return TRUE;
  return FALSE;
}

guint *
cleave_storage_find_done (const CleaveGraph *graph, const GPtrArray *order, const guint *position)
{
  guint *done;

  if (!has_view_for_joins (order))
    return NULL;
  done = CLEAVE_NEW (guint, graph->n_ids + 1);
  for (guint i = 0; i < order->len; i++)
    {
      const CleaveNode *node = order->pdata[i];

      done[node->id] = node->n_results != 1 || cleave_node_is_input (node) ||
                               cleave_node_is_fixed (node) ||
                               (node->op->flags & CLEAVE_OP_VIEW) != 0
                           ? CLEAVE_NEVER
                           : find_joins_only (position, &node->results[0]);
    }
  return done;
}

guint
cleave_storage_materialize_after (const guint *done, const CleaveNode *view)
{
  return done != NULL && cleave_storage_is_for_joins (view) && view->operands[0].result != NULL
             ? done[view->operands[0].result->node->id]
             : CLEAVE_NEVER;
}

gboolean
cleave_storage_is_materialized (const CleaveStorage *storage, const CleaveNode *view)
{
  guint at = cleave_storage_position (storage, view);
  guint after = cleave_storage_materialize_after (storage->done, view);

  if (after == CLEAVE_NEVER || after > at)
    return FALSE;
  for (const CleaveOperand *use = view->results[0].first_use; use != NULL; use = use->next_use)
    if (cleave_storage_position (storage, use->node) <= at + 1)
      return FALSE;
  return TRUE;
}
