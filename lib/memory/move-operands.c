/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The second walk of buffer assignment (assignments.h), from results to operands: moves operands
 * into the buffers of joins and of results that overwrite them. */

#include "assignments.h"

/* Follow at most this many element-wise nodes from one value to another. */
#define MAX_CHAIN 8

static guint
value_index (const CleaveStorage *storage, const CleaveResult *result)
{
  return cleave_storage_first_value (storage, result->node) + result->index;
}

static gboolean
is_staged (const CleaveStorage *storage, const CleaveAssignment *assignment)
{
  return storage->staged != NULL && storage->staged[assignment - storage->assignments];
}

/* Returns whether a value can move to `location`: the value has not moved yet, and the producer and
 * all readers of the value can use the strides of `location`. */
static gboolean
can_move (const CleaveStorage *storage,
          const CleaveAssignment *assignment,
          const CleaveLocation *location)
{
  const CleaveShape *shape = &assignment->result->type.shape;
  guint value = (guint) (assignment - storage->assignments);

  return !is_staged (storage, assignment) && assignment->base == value &&
         (assignment->flags & (CLEAVE_ASSIGNMENT_CONSTANT | CLEAVE_ASSIGNMENT_MOVED)) == 0 &&
         cleave_memory_order_fits (storage->orders[value], shape, location->stride) &&
         ((assignment->flags & CLEAVE_ASSIGNMENT_ALIASED) == 0 ||
          cleave_strides_equal (shape, location->stride, assignment->location.stride));
}

static void
move (CleaveAssignment *assignment, const CleaveLocation *location, guint deadline)
{
  assignment->flags |= CLEAVE_ASSIGNMENT_MOVED;
  assignment->location = *location;
  assignment->deadline = deadline;
}

/* Returns whether operand `part` of a join may be computed in the join's buffer. If several
 * operands overlap, only one of these operands may be computed in the buffer. */
static gboolean
is_free (const CleaveStorage *storage,
         const CleaveAssignment *whole,
         const CleaveRange *ranges,
         guint part)
{
  const CleaveNode *node = whole->result->node;
  guint value = (guint) (whole - storage->assignments);

  for (guint i = 0; i < part; i++)
    {
      const CleaveAssignment *other = cleave_storage_assignment (storage, node->operands[i].result);
      CleaveRange both = cleave_range_intersect (&ranges[i], &ranges[part]);

      if (other->whole == value && other->part == i && !cleave_range_is_empty (&both))
        return FALSE;
    }
  return TRUE;
}

/* Marks a value as operand `part` of the join `whole`, in the assignment of the value. A staged
 * operand of several joins is copied only into the last join, since the buffer of the last join
 * contains the other joins. */
static void
join_to (CleaveAssignment *assignment, guint whole, guint part)
{
  assignment->whole = whole;
  assignment->part = part;
}

/* If `operand`, an operand of a join, is a view that gives a value another shape, returns this
 * value. In the example below, this is `boxes`. Returns NULL if `operand` is no such view, or if
 * the value cannot be stored in the join's buffer.
 *
 *     boxes [1, 3, 40, 40, 85] -Reshape-> [1, 4800, 85] -Concat-> [1, 6300, 85] */
static CleaveAssignment *
find_reshaped (const CleaveStorage *storage,
               const CleaveAssignment *operand,
               const CleaveLocation *location)
{
  CleaveAssignment *base = &storage->assignments[operand->base];
  const CleaveLocation moved = { location->root, location->offset, base->location.stride };

  return base != operand && base->result->type.element == operand->result->type.element &&
                 cleave_shape_n_elements (&base->result->type.shape) ==
                     cleave_shape_n_elements (&operand->result->type.shape) &&
                 base->location.root == operand->location.root &&
                 base->location.offset == operand->location.offset &&
                 cleave_strides_equal (&operand->result->type.shape, operand->location.stride,
                                       location->stride) &&
                 (base->flags & (CLEAVE_ASSIGNMENT_INPUT | CLEAVE_ASSIGNMENT_MATERIALIZED)) == 0 &&
                 can_move (storage, base, &moved)
             ? base
             : NULL;
}

/* Moves an operand of a join that gives a value another shape, together with this value, into the
 * join's buffer. Returns FALSE if this is not possible. Also returns FALSE if the value is a small
 * part of the join, and its node runs before position `first`: the move would allocate the join's
 * buffer much earlier. With such moves, a fitted stereo network would take 1.6 times the memory. */
static gboolean
move_reshaped_part (CleaveStorage *storage,
                    CleaveAssignment *whole,
                    guint part,
                    const CleaveRange *range,
                    guint first)
{
  CleaveAssignment *operand =
      cleave_storage_assignment (storage, whole->result->node->operands[part].result);
  const CleaveLocation location = cleave_location_part (&whole->location, range);
  CleaveAssignment *base = find_reshaped (storage, operand, &location);
  const CleaveAssignment there = { .result = operand->result, .location = location };

  if (base == NULL || base->last >= whole->deadline ||
      (cleave_storage_is_small_part (storage, &there) &&
       cleave_storage_position (storage, base->result->node) < first))
    return FALSE;
  move (base, &(CleaveLocation){ location.root, location.offset, base->location.stride },
        whole->deadline);
  operand->flags |= CLEAVE_ASSIGNMENT_MOVED;
  join_to (operand, value_index (storage, whole->result), part);
  return TRUE;
}

/* Returns the position of the first node that computes an operand in the buffer of the join
 * `whole`. Returns CLEAVE_NEVER if no operand is in the buffer yet. */
static guint
find_first_part (const CleaveStorage *storage, const CleaveAssignment *whole)
{
  const CleaveNode *node = whole->result->node;
  guint first = CLEAVE_NEVER;

  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveAssignment *operand =
          cleave_storage_assignment (storage, node->operands[i].result);

      if ((operand->flags & CLEAVE_ASSIGNMENT_MOVED) != 0 &&
          operand->whole == value_index (storage, whole->result))
        first = MIN (first, cleave_storage_position (
                                storage, storage->assignments[operand->base].result->node));
    }
  return first;
}

static void
move_parts (CleaveStorage *storage, CleaveAssignment *whole, const CleaveJoinFacts *facts)
{
  CleaveNode *node = whole->result->node;
  const CleaveRange *ranges = facts->ranges;
  gboolean overlap = facts->overlap;
  guint first;

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveAssignment *assignment = cleave_storage_assignment (storage, node->operands[i].result);
      CleaveLocation location = cleave_location_part (&whole->location, &ranges[i]);

      if (!overlap && move_reshaped_part (storage, whole, i, &ranges[i], CLEAVE_NEVER))
        continue;
      if (is_staged (storage, assignment) && !overlap && assignment->whole == CLEAVE_NEVER)
        join_to (assignment, value_index (storage, whole->result), i);
      if ((assignment->flags & (CLEAVE_ASSIGNMENT_INPUT | CLEAVE_ASSIGNMENT_MATERIALIZED)) != 0 ||
          !can_move (storage, assignment, &location) || assignment->last >= whole->deadline ||
          (overlap && !is_free (storage, whole, ranges, i)))
        continue;
      move (assignment, &location, whole->deadline);
      join_to (assignment, value_index (storage, whole->result), i);
    }
  /* from the first part on, the join's buffer is in use, so small parts can be moved, too */
  first = overlap ? CLEAVE_NEVER : find_first_part (storage, whole);
  for (guint i = 0; i < node->n_operands && first != CLEAVE_NEVER; i++)
    move_reshaped_part (storage, whole, i, &ranges[i], first);
}

/* Returns whether all operands of a join also belong to one later join, at the same relative
 * positions. The earlier join then is a box of the later join. Sets `box` to the range of the
 * earlier join in the later join. */
static gboolean
find_place (const CleaveStorage *storage,
            const CleaveAssignment *whole,
            const CleaveRange *ranges,
            CleaveRange *box)
{
  const CleaveNode *node = whole->result->node;
  guint in = cleave_storage_assignment (storage, node->operands[0].result)->whole;
  const CleaveRange *outer;

  for (guint i = 0; i < node->n_operands; i++)
    if (in == CLEAVE_NEVER ||
        cleave_storage_assignment (storage, node->operands[i].result)->whole != in)
      return FALSE;
  outer = cleave_storage_join_facts (storage, storage->assignments[in].result->node)->ranges;
  *box = cleave_range_whole (&whole->result->type.shape);
  for (guint i = 0; i < node->n_operands; i++)
    for (guint d = 0; d < box->rank; d++)
      {
        const CleaveAssignment *part =
            cleave_storage_assignment (storage, node->operands[i].result);
        gint64 shift = outer[part->part].dim[d].begin - ranges[i].dim[d].begin;

        if (i == 0)
          box->dim[d] = (CleaveSpan){ box->dim[d].begin + shift, box->dim[d].end + shift };
        else if (shift != box->dim[d].begin)
          return FALSE;
      }
  return TRUE;
}

static void
move_into_join (CleaveStorage *storage, CleaveNode *node)
{
  CleaveAssignment *whole = cleave_storage_assignment (storage, &node->results[0]);
  const CleaveJoinFacts *facts = cleave_storage_join_facts (storage, node);
  CleaveRange box;

  if (whole->base != value_index (storage, whole->result)) /* the join is a view, so its operands
                                                            * already are at the offsets that the
                                                            * join gives them */
    return;
  if ((whole->flags & CLEAVE_ASSIGNMENT_MOVED) == 0 &&
      find_place (storage, whole, facts->ranges, &box))
    {
      const CleaveAssignment *outer =
          &storage
               ->assignments[cleave_storage_assignment (storage, node->operands[0].result)->whole];
      CleaveLocation location = cleave_location_part (&outer->location, &box);

      if (can_move (storage, whole, &location) && whole->last < outer->deadline)
        {
          move (whole, &location, outer->deadline);
          whole->flags |= CLEAVE_ASSIGNMENT_INNER_JOIN;
          return;
        }
    }
  move_parts (storage, whole, facts);
}

/* Returns whether another operand of `node` is a view of x. A result that is written over x would
 * overwrite that operand while the kernel reads it. */
static gboolean
is_read_through_view (const CleaveStorage *storage,
                      const CleaveNode *node,
                      const CleaveAssignment *x)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && node->operands[i].result != x->result &&
        cleave_storage_assignment (storage, node->operands[i].result)->base == x->base)
      return TRUE;
  return FALSE;
}

/* Returns whether x is a join with operands that could not lie in the buffer of x if `node`
 * overwrote this buffer. These operands would have to be copied. This is so if `node` or a later
 * node reads an operand of x, or if all operands of x also belong to one later join. */
static gboolean
has_parts_to_copy (const CleaveStorage *storage, const CleaveNode *node, const CleaveAssignment *x)
{
  const CleaveNode *join = x->result->node;
  const CleaveRange *ranges;
  CleaveRange box;

  if ((join->op->flags & CLEAVE_OP_JOIN) == 0 || join->n_operands == 0)
    return FALSE;
  for (guint i = 0; i < join->n_operands; i++)
    {
      const CleaveAssignment *part = cleave_storage_assignment (storage, join->operands[i].result);

      if ((part->flags &
           (CLEAVE_ASSIGNMENT_MOVED | CLEAVE_ASSIGNMENT_CONSTANT | CLEAVE_ASSIGNMENT_INPUT)) == 0 &&
          part->last >= cleave_storage_position (storage, node))
        return TRUE;
    }
  ranges = cleave_storage_join_facts (storage, join)->ranges;
  return find_place (storage, x, ranges, &box);
}

/* Returns whether a join reads x. Then x should move into the buffer of the join. If `node`
 * overwrote x, the join would need a copy of x. */
static gboolean
is_read_by_join (const CleaveAssignment *x)
{
  for (const CleaveOperand *use = x->result->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && (use->node->op->flags & CLEAVE_OP_JOIN) != 0)
      return TRUE;
  return FALSE;
}

/* Returns whether `other` is `node`, or whether a chain of element-wise nodes leads from `other` to
 * `node`. Each node of the chain has one reader. */
static gboolean
leads_to (const CleaveNode *other, const CleaveNode *node)
{
  for (guint i = 0; i < MAX_CHAIN && other != node; i++)
    {
      if (other == NULL || (other->op->flags & CLEAVE_OP_IN_PLACE) == 0 ||
          other->results[0].n_uses != 1)
        return FALSE;
      other = other->results[0].first_use->node;
    }
  return other == node;
}

/* Returns whether moving x into the buffer of the result of `node` would allocate a much larger
 * buffer earlier. This is so if two conditions hold. The result is a small part of a join's buffer.
 * And x has a reader from which no chain of element-wise nodes leads to `node` (leads_to()). */
static gboolean
allocates_earlier (const CleaveStorage *storage, const CleaveNode *node, const CleaveAssignment *x)
{
  if (!cleave_storage_is_small_part (storage,
                                     cleave_storage_assignment (storage, &node->results[0])))
    return FALSE;
  for (const CleaveOperand *use = x->result->first_use; use != NULL; use = use->next_use)
    if (!leads_to (use->node, node))
      return TRUE;
  return FALSE;
}

static gboolean
can_overwrite (const CleaveStorage *storage, const CleaveNode *node, guint operand)
{
  const CleaveAssignment *y = cleave_storage_assignment (storage, &node->results[0]);
  const CleaveResult *x = node->operands[operand].result;
  const CleaveAssignment *assignment = x == NULL ? NULL : cleave_storage_assignment (storage, x);

  return x != NULL && assignment->last == cleave_storage_position (storage, node) &&
         cleave_view_type_fits (&x->type, &y->result->type) &&
         !allocates_earlier (storage, node, assignment) &&
         can_move (storage, assignment, &y->location) &&
         !is_read_through_view (storage, node, assignment) &&
         !has_parts_to_copy (storage, node, assignment) && !is_read_by_join (assignment);
}

/* Returns whether a chain of element-wise nodes computes t from x. Example: t = clip (x + 3). */
static gboolean
is_computed_from (const CleaveResult *t, const CleaveResult *x)
{
  for (guint i = 0; i < MAX_CHAIN && t != x; i++)
    {
      const CleaveNode *node = t->node;
      const CleaveResult *from = NULL;

      if ((node->op->flags & CLEAVE_OP_IN_PLACE) == 0)
        return FALSE;
      for (guint k = 0; k < node->n_operands; k++)
        if (node->operands[k].result != NULL &&
            (node->operands[k].result == x ||
             (from == NULL && cleave_view_type_fits (&node->operands[k].result->type, &x->type))))
          from = node->operands[k].result;
      if (from == NULL)
        return FALSE;
      t = from;
    }
  return t == x;
}

/* Moves one operand that dies into the buffer of the result: the first operand that can move.
 * Exception: if element-wise nodes compute this operand from another operand that can move, moves
 * the other operand, such as x for x * clip (x + 3). All nodes of the chain then write the same
 * buffer, so one kernel can run the chain. */
static void
move_in_place (CleaveStorage *storage, CleaveNode *node)
{
  const CleaveAssignment *y = cleave_storage_assignment (storage, &node->results[0]);
  CleaveResult *best = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    if (can_overwrite (storage, node, i) &&
        (best == NULL || is_computed_from (best, node->operands[i].result)))
      best = node->operands[i].result;
  if (best != NULL)
    move (cleave_storage_assignment (storage, best), &y->location,
          cleave_storage_position (storage, node));
}

void
cleave_storage_move_operands (CleaveStorage *storage, CleaveNode *node)
{
  if (node->n_results == 0 || node->n_operands == 0 || (node->op->flags & CLEAVE_OP_VIEW) != 0 ||
      cleave_node_is_fixed (node))
    return;
  if (node->op->flags & CLEAVE_OP_JOIN)
    move_into_join (storage, node);
  else if (node->op->flags & CLEAVE_OP_IN_PLACE)
    move_in_place (storage, node);
  else if (storage->overlaid != NULL && storage->overlaid[cleave_storage_position (storage, node)])
    cleave_storage_overlay (storage, node);
}
