/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "copy-kept.h"

#include "../../lib/ir/graph-private.h"
#include "../../lib/memory/walks.h"

/* What more nodes read is not looked at, so that cost stays linear. */
#define MAX_READERS 32

typedef struct
{
  CleaveGraph *graph;
  const CleaveFitPieces *pieces;
  guint *position; /* by id, in the order in which most pieces run */
} Copying;

/* Whether a node joins pieces of the same part, as far as can be told. */
static gboolean
is_join (const Copying *copying, const CleaveNode *node, const CleaveResult *value)
{
  guint part;

  if (node == NULL || (node->op->flags & CLEAVE_OP_JOIN) == 0)
    return FALSE;
  part = cleave_fit_pieces_part (copying->pieces, node);
  return (part == CLEAVE_FIT_SHARED ||
          part == cleave_fit_pieces_part (copying->pieces, value->node));
}

/* Of several; NULL: there are not. */
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
  guint part = cleave_fit_pieces_part (copying->pieces, node);

  return part != CLEAVE_FIT_NO_PART && part != CLEAVE_FIT_SHARED && node->n_results == 1 &&
         node->results[0].n_uses <= MAX_READERS &&
         (node->op->flags & (CLEAVE_OP_VIEW | CLEAVE_OP_JOIN)) == 0;
}

static void
copy (const Copying *copying, CleaveResult *value)
{
  const CleaveNode *first = find_first_join (copying, value);
  const CleaveRange whole = cleave_range_whole (&value->type.shape);
  CleaveResult *kept = NULL;
  CleaveOperand *next;

  for (CleaveOperand *use = value->first_use; use != NULL && first != NULL; use = next)
    {
      next = use->next_use;
      if (!is_join (copying, use->node, value) || use->node == first)
        continue;
      if (kept == NULL)
        kept = cleave_graph_add_slice_range (copying->graph, use->node->name, value, &whole, NULL);
      cleave_operand_set (use, kept);
    }
}

void
cleave_copy_kept (CleaveGraph *graph, const CleaveFitPieces *pieces)
{
  g_autoptr (GPtrArray) order = cleave_walk_depth_first (graph, NULL);
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
