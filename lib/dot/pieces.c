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

/* Letters */

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

/* Whoever reads it as its data, and keeps the number of dimensions. */
static const CleaveNode *
get_data_user (const CleaveNode *node)
{
  for (const CleaveOperand *use = node->results[0].first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && get_data_producer (use->node) == node)
      return use->node;
  return NULL;
}

/* How far to look: past a norm, an activation, a slice. */
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

/* Places */

/* The place of a part in a join, as the maps of that have it. */
static void
get_mapped_place (const CleaveOperand *use, CleavePiecePlace *place)
{
  g_auto (CleaveNodeCall) call;
  const CleaveCall *c = cleave_node_call_init (&call, use->node);
  const CleaveShape *part = &c->operands[use->index].shape;
  CleaveDimMap map[CLEAVE_MAX_RANK];

  place->whole = c->results[0].shape;
  place->range.rank = place->whole.rank;
  use->node->op->maps (c, use->index, map);
  for (guint d = 0; d < part->rank; d++)
    {
      place->range.dim[d].begin = -map[d].offset;
      place->range.dim[d].end = part->dim[d] - map[d].offset;
    }
}

/* A Concat of channels is what a model does; one of rows is what a file has of an Assemble. */
static gboolean
cuts_rows (const CleavePiecePlace *place, const char *letters)
{
  for (guint d = 0; d < place->whole.rank; d++)
    if (place->range.dim[d].end - place->range.dim[d].begin != place->whole.dim[d] &&
        (letters == NULL || strchr ("DHW", letters[d]) == NULL))
      return FALSE;
  return TRUE;
}

/* Each part of a join looks at all parts: at more than this, a Concat is none of pieces. */
#define MAX_PARTS 256

/* The place of a part in a join of pieces.  One that has views among its parts does not put a whole
 * together: it adds rows of neighbours to a piece. */
static gboolean
get_place (const CleaveOperand *use, const CleaveOp *assemble, CleavePiecePlace *place)
{
  const CleaveNode *join = use->node;

  if (join->op != assemble && join->n_operands > MAX_PARTS)
    return FALSE;
  for (guint i = 0; i < join->n_operands; i++)
    if (cleave_node_operand_result (join, i) == NULL ||
        (cleave_node_operand_result (join, i)->node->op->flags & CLEAVE_OP_VIEW) != 0)
      return FALSE;
  if (join->op->maps == NULL)
    return FALSE;
  get_mapped_place (use, place);
  return join->op == assemble || cuts_rows (place, cleave_node_find_letters (join));
}

/* What a use says of the value: its place in an Assemble, or that of the piece made of it element
 * by element. */
static gboolean
find_place (const CleaveOperand *use,
            const CleaveOp *assemble,
            const CleavePiecePlace *places,
            CleavePiecePlace *place)
{
  const CleaveNode *node = use->node;

  if (node == NULL)
    return FALSE;
  if ((node->op->flags & CLEAVE_OP_JOIN) != 0)
    return get_place (use, assemble, place);
  if (places[node->id].range.rank == 0 || !is_same_part (node, use->index))
    return FALSE;
  *place = places[node->id];
  return TRUE;
}

static gboolean
can_be_piece (const CleaveNode *node, const CleaveOp *assemble)
{
  return node->n_operands > 0 && node->op != assemble && (node->op->flags & CLEAVE_OP_VIEW) == 0;
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
      CleavePiecePlace place;
      gboolean found = FALSE;

      if (!can_be_piece (node, assemble) || places[node->id].range.rank > 0)
        continue;
      for (const CleaveOperand *use = node->results[0].first_use; use != NULL && !found;
           use = use->next_use)
        found = find_place (use, assemble, places, &place);
      if (found)
        places[node->id] = place;
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
 * @range: its part of the result of the whole node
 * @whole: the shape of that result
 *
 * Writes which part of the whole a piece is as drawings do: `H 43:86`, the dimensions that are cut
 * by their letters, or as `dim 2` where there are none.
 *
 * Returns: (transfer full) (nullable): the text; %NULL if nothing is cut
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
