/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the part of the whole result that each node of a split graph computes (pieces.h). */

#include "pieces.h"

#include "../ir/graph-private.h"
#include "../ir/join.h"

static gboolean
is_same (const CleaveDimMap *map, guint dim)
{
  return map->from == dim && map->shift == 0 && map->block == 1 && map->stride == 1 &&
         map->offset == 0 && map->window == 1;
}

/* Returns whether a range of the result is computed from the same range of the operand, as in an
 * element-wise op. */
static gboolean
is_same_part (const CleaveCall *call, guint operand)
{
  CleaveDimMap map[CLEAVE_MAX_RANK];

  if (call->op->maps == NULL ||
      !cleave_shape_equal (&call->operands[operand].shape, &call->results[0].shape))
    return FALSE;
  call->op->maps (call, operand, map);
  for (guint d = 0; d < call->results[0].shape.rank; d++)
    if (!is_same (&map[d], d))
      return FALSE;
  return TRUE;
}

/* The functions below find the dimension names of a node. */

static const char *
get_own_letters (const CleaveNode *node)
{
  g_auto (CleaveNodeCall) call;
  const CleaveCall *c = cleave_node_call_init (&call, node);

  return node->op->layout == NULL ? NULL : node->op->layout (c);
}

static const CleaveNode *
get_data_producer (const CleaveNode *node)
{
  const CleaveResult *value = node->n_operands == 0 ? NULL : cleave_node_operand_result (node, 0);

  return value == NULL || value->type.shape.rank != node->results[0].type.shape.rank ? NULL
                                                                                     : value->node;
}

/* Returns a consumer that reads the node's result as its operand 0 and has a result of the same
 * rank; NULL if there is none. */
static const CleaveNode *
get_data_user (const CleaveNode *node)
{
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && get_data_producer (use->node) == node)
      return use->node;
  return NULL;
}

/* Search for dimension names up to this many nodes above and below a node: enough for a norm, an
 * activation and a slice. */
#define MAX_STEPS 8

const char *
cleave_node_find_letters (const CleaveNode *node)
{
  const CleaveNode *up = node, *down = node;
  const char *letters = NULL;

  for (guint i = 0; i < MAX_STEPS && letters == NULL && (up != NULL || down != NULL); i++)
    {
      letters = up == NULL ? NULL : get_own_letters (up);
      if (letters == NULL && down != NULL)
        letters = get_own_letters (down);
      up = up == NULL ? NULL : get_data_producer (up);
      down = down == NULL ? NULL : get_data_user (down);
    }
  return letters;
}

/* The functions below find, for each node that computes a part of the result of a split node, the
 * range of this part in the whole result. */

/* Returns whether a join cuts its result only along spatial dimensions to get the part at `place`.
 * In an ONNX file, a Concat along rows stands for an Assemble. A Concat along channels was in the
 * model before the split, so its operands are no pieces. */
static gboolean
cuts_rows (const CleavePiecePlace *place, const char *letters)
{
  for (guint d = 0; d < place->whole.rank; d++)
    if (place->range.dim[d].end - place->range.dim[d].begin != place->whole.dim[d] &&
        (letters == NULL || strchr ("DHW", letters[d]) == NULL))
      return FALSE;
  return TRUE;
}

/* Returns whether a join assembles pieces, and not rows of neighboring pieces. A join of rows has
 * views among its operands; a join of pieces has none. */
static gboolean
joins_pieces (const CleaveNode *join)
{
  if ((join->op->flags & CLEAVE_OP_JOIN) == 0 || join->op->maps == NULL)
    return FALSE;
  for (guint i = 0; i < join->n_operands; i++)
    if (cleave_node_operand_result (join, i) == NULL ||
        (cleave_node_operand_result (join, i)->node->op->flags & CLEAVE_OP_VIEW) != 0)
      return FALSE;
  return TRUE;
}

static gboolean
can_be_piece (const CleaveNode *node, const CleaveOp *assemble)
{
  return node->n_operands > 0 && node->op != assemble && (node->op->flags & CLEAVE_OP_VIEW) == 0;
}

static void
note_place (const CleaveOperand *use,
            const CleaveOp *assemble,
            const CleavePiecePlace *place,
            CleavePiecePlace *places)
{
  const CleaveNode *piece = use->result->node;

  if (can_be_piece (piece, assemble) && places[piece->id].range.rank == 0)
    places[piece->id] = *place;
}

/* Sets places[id] for the nodes that compute the operands of a join, since each operand is a part
 * of the join's result. Computes the ranges of all operands at once, since a join may have many
 * operands. */
static void
note_parts (const CleaveNode *join, const CleaveOp *assemble, CleavePiecePlace *places)
{
  g_autofree CleaveRange *ranges = cleave_join_ranges (join);
  const char *letters = join->op == assemble ? NULL : cleave_node_find_letters (join);

  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleavePiecePlace place = { ranges[i], join->results[0].type.shape };

      if (join->op == assemble || cuts_rows (&place, letters))
        note_place (&join->operands[i], assemble, &place, places);
    }
}

/* Sets places[id] for the nodes that compute some operands of `node`, which is a piece. Each of
 * these operands is read as in an element-wise op: `node` computes each range of its result from
 * the same range of the operand. So the operand is a piece with the same place as `node`. */
static void
note_operands (const CleaveNode *node, const CleaveOp *assemble, CleavePiecePlace *places)
{
  g_auto (CleaveNodeCall) call;
  const CleaveCall *c = cleave_node_call_init (&call, node);

  for (guint i = 0; i < node->n_operands; i++)
    if (cleave_node_operand_result (node, i) != NULL && is_same_part (c, i))
      note_place (&node->operands[i], assemble, &places[node->id], places);
}

CleavePiecePlace *
cleave_pieces_find (const CleaveGraph *graph,
                    const GPtrArray *order,
                    const CleaveDotOptions *options)
{
  const CleaveOp *assemble = cleave_op_lookup ("Assemble");
  CleavePiecePlace *places = g_new0 (CleavePiecePlace, graph->n_ids + 1);

  for (guint i = 0; i < options->n_pieces; i++)
    places[options->pieces[i].node->id] =
        (CleavePiecePlace){ options->pieces[i].range, options->pieces[i].whole };
  for (guint i = order->len; i-- > 0;)
    {
      const CleaveNode *node = order->pdata[i];

      if (joins_pieces (node))
        note_parts (node, assemble, places);
      else if (places[node->id].range.rank > 0)
        note_operands (node, assemble, places);
    }
  return places;
}

char *
cleave_piece_place_to_string (const CleavePiecePlace *place, const char *letters)
{
  const CleaveRange *range = &place->range;
  g_autoptr (GString) text = g_string_new (NULL);

  for (guint d = 0; d < range->rank; d++)
    {
      const CleaveSpan *span = &range->dim[d];

      if (place->whole.rank == range->rank && span->begin == 0 && span->end == place->whole.dim[d])
        continue;
      if (text->len > 0)
        g_string_append (text, ", ");
      if (letters != NULL && strlen (letters) == range->rank)
        g_string_append_c (text, letters[d]);
      else
        g_string_append_printf (text, "dim %u", d);
      g_string_append_printf (text, " %" G_GINT64_FORMAT ":%" G_GINT64_FORMAT, span->begin,
                              span->end);
    }
  return text->len == 0 ? NULL : g_string_free (g_steal_pointer (&text), FALSE);
}

/**
 * cleave_dot_range_to_string:
 * @node: a piece
 * @range: the part of the result of the whole node that the piece computes
 * @whole: the shape of that result
 *
 * Formats the range of the whole that a piece computes, as drawings show it: `H 43:86`. Only
 * dimensions that are cut are shown. A dimension without a name is shown as `dim 2`.
 *
 * Returns: (transfer full) (nullable): the text; %NULL if nothing is cut
 *
 * Since: 0.1
 */
char *
cleave_dot_range_to_string (const CleaveNode *node,
                            const CleaveRange *range,
                            const CleaveShape *whole)
{
  CleavePiecePlace place;

  g_return_val_if_fail (node != NULL, NULL);
  g_return_val_if_fail (cleave_range_is_legal (range) && cleave_shape_is_legal (whole), NULL);
  place = (CleavePiecePlace){ *range, *whole };
  return cleave_piece_place_to_string (&place, cleave_node_find_letters (node));
}
