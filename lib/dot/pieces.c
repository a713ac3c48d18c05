/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "pieces.h"

#include "../ir/graph-private.h"

static gboolean
is_same (const CleaveDimMap *map, guint dim)
{
  return map->from == dim && map->shift == 0 && map->block == 1 && map->stride == 1 &&
         map->offset == 0 && map->window == 1;
}

/* Whether a part of the node's result is computed from the same part of the operand. */
static gboolean
is_same_part (const CleaveNode *node, guint operand)
{
  g_auto (CleaveNodeCall) call;
  const CleaveCall *c = cleave_node_call_init (&call, node);
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if (node->op->maps == NULL ||
      !cleave_shape_equal (&c->operands[operand].shape, &c->results[0].shape))
    return FALSE;
  node->op->maps (c, operand, map);
  for (guint d = 0; d < c->results[0].shape.rank; d++)
    if (!is_same (&map[d], d))
      return FALSE;
  return TRUE;
}

/* The place of a part in an Assemble of pieces.  One that has views among its parts does not put a
 * whole together: it adds rows of neighbours to a piece. */
static const CleaveRange *
get_place (const CleaveOperand *use)
{
  const CleaveAssembleAttrs *attrs = use->node->attrs;

  for (guint i = 0; i < use->node->n_operands; i++)
    if ((cleave_node_operand_result (use->node, i)->node->op->flags & CLEAVE_OP_VIEW) != 0)
      return NULL;
  return &g_array_index (attrs->ranges, CleaveRange, use->index);
}

/* What a use says of the value: its place in an Assemble, or that of the piece made of it element
 * by element. */
static const CleaveRange *
get_range (const CleaveOperand *use, const CleaveOp *assemble, const CleaveRange *ranges)
{
  const CleaveNode *node = use->node;

  if (node == NULL)
    return NULL;
  if (node->op == assemble)
    return get_place (use);
  return ranges[node->id].rank > 0 && is_same_part (node, use->index) ? &ranges[node->id] : NULL;
}

static gboolean
can_be_piece (const CleaveNode *node, const CleaveOp *assemble)
{
  return node->n_operands > 0 && node->op != assemble && (node->op->flags & CLEAVE_OP_VIEW) == 0;
}

CleaveRange *
cleave_pieces_find (const CleaveGraph *graph,
                    const GPtrArray *order,
                    const CleaveDotOptions *options)
{
  const CleaveOp *assemble = cleave_op_lookup ("Assemble");
  CleaveRange *ranges = g_new0 (CleaveRange, graph->n_ids + 1);

  for (guint i = 0; i < options->n_pieces; i++)
    ranges[options->pieces[i].node->id] = options->pieces[i].range;
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];
      const CleaveRange *range = NULL;

      if (!can_be_piece (node, assemble) || ranges[node->id].rank > 0)
        continue;
      for (const CleaveOperand *use = node->results[0].first_use; use != NULL && range == NULL;
           use = use->next_use)
        range = get_range (use, assemble, ranges);
      if (range != NULL)
        ranges[node->id] = *range;
    }
  return ranges;
}
