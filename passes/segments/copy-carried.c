/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds pieces that several joins of one segment read. Adds a Slice of the piece for every join
 * after the first, and lets this join read the Slice. The first join still reads the piece. In the
 * names of pieces.h, a part is a segment of a plan. If several segments share a join
 * (CLEAVE_SHARED_PART), this join counts as a join of each of these segments. */

#include "copy-carried.h"

#include "../../lib/ir/graph-private.h"
#include "../../lib/memory/node-orders.h"

/* Skip values with more readers than this, so that the time of the pass is linear in the size of
 * the graph. */
#define MAX_READERS 32

typedef struct
{
  CleaveGraph *graph;
  const CleaveSegmentPieces *pieces;
  guint *position; /* indexed by node id: position in a depth-first order; most pieces run in this
                      order */
} Copying;

/* Returns whether `node` is a join in the same segment as `value`. A join that several segments
 * share is in each of these segments. */
static gboolean
is_join (const Copying *copying, const CleaveNode *node, const CleaveResult *value)
{
  guint part;

  if (node == NULL || (node->op->flags & CLEAVE_OP_JOIN) == 0)
    return FALSE;
  part = cleave_segment_pieces_part (copying->pieces, node);
  return (part == CLEAVE_SHARED_PART ||
          part == cleave_segment_pieces_part (copying->pieces, value->node));
}

/* Among the joins that read `value`, returns the join that runs first. Returns NULL if fewer than
 * two joins read `value`. */
static const CleaveNode *
find_first_join (const Copying *copying, const CleaveResult *value)
{
  const CleaveNode *first = NULL;
  guint n = 0;

  for (const CleaveOperand *use = value->first_use; use != NULL; use = use->next_use)
    if (is_join (copying, use->node, value))
      {
        n++;
        if (first == NULL || copying->position[use->node->id] < copying->position[first->id])
          first = use->node;
      }
  return n < 2 ? NULL : first;
}

static gboolean
may_be_copied (const Copying *copying, const CleaveNode *node)
{
  guint part = cleave_segment_pieces_part (copying->pieces, node);

  return part != CLEAVE_NO_PART && part != CLEAVE_SHARED_PART && node->n_results == 1 &&
         node->results[0].n_uses <= MAX_READERS &&
         (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) == 0;
}

static void
copy (const Copying *copying, CleaveResult *value)
{
  const CleaveNode *first = find_first_join (copying, value);
  const CleaveRange whole = cleave_range_whole (&value->type.shape);
  CleaveResult *carried = NULL;
  CleaveOperand *next;

  for (CleaveOperand *use = value->first_use; use != NULL && first != NULL; use = next)
    {
      next = use->next_use;
      if (!is_join (copying, use->node, value) || use->node == first)
        continue;
      if (carried == NULL)
        carried =
            cleave_graph_add_slice_range (copying->graph, use->node->name, value, &whole, NULL);
      cleave_operand_set (use, carried);
    }
}

void
cleave_copy_carried (CleaveGraph *graph, const CleaveSegmentPieces *pieces)
{
  g_autoptr (GPtrArray) order = cleave_order_depth_first (graph, NULL);
  g_autofree guint *position = g_new0 (guint, graph->n_ids + 1);
  const Copying copying = { graph, pieces, position };

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  for (guint i = 0; i < order->len; i++)
    {
      CleaveNode *node = order->pdata[i];

      if (may_be_copied (&copying, node))
        copy (&copying, &node->results[0]);
    }
}
