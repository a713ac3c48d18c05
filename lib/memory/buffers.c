/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Over 400 lines: which values share a buffer is one decision, whose parts ask each other. */

#include "buffers.h"

#include <string.h>

#include "../ir/memory.h"

/* Staged parts must bring the peak down to this; and how often the search is repeated.  Without the
 * first search 11 of 480 random graphs take up to 15 % more; a second one gained nothing. */
#define WORTH_COPIES 0.95
#define MAX_ROUNDS 3
/* Peaks are lowered one after the other, until the next one stays.  Nets for microcontrollers have
 * two such peaks. */
#define MAX_OVERLAYS 8
/* Steps from a value to what comes of it. */
#define MAX_DETOUR 8

/* Ops whose results are views, most often. */
#define LIES_IN_OPERAND (CLEAVE_OP_VIEW | CLEAVE_OP_BROADCAST)

/* Buffers are assigned in three walks.  Forwards: a view lies in its operand's buffer, every other
 * value has a buffer of its own.  Backwards, from results to operands: a part moves into its join,
 * and an operand that dies moves to where the result that overwrites it will lie.  Forwards again:
 * views follow their operands. */

struct _CleaveOrderFacts
{
  CleaveGraphFacts *graph; /* until all storages are made */
  CleaveNode *const *nodes;
  guint n_nodes, n_values;
  guint *position, *done, *first_value;
  GPtrArray *joins;
  CleaveMemoryOrder *orders;
  CleaveAssignment *first[2]; /* after the first walk, without and with what is materialised; NULL:
                                 not known */
  CleavePool *strides;        /* of those */
};

static guint
value_index (const CleaveStorage *storage, const CleaveResult *result)
{
  return cleave_storage_first_value (storage, result->node) + result->index;
}

/* Lets it lie so, with strides of its own.  What comes one after the other lies alike mostly. */
static void
lie (CleaveStorage *storage, CleaveAssignment *assignment, const CleaveLocation *location)
{
  guint rank = assignment->result->type.shape.rank;
  gsize n_bytes = rank * sizeof *location->stride;

  if (storage->stride == NULL || storage->rank != rank ||
      memcmp (storage->stride, location->stride, n_bytes) != 0)
    {
      storage->stride = cleave_pool_copy (storage->strides, location->stride, n_bytes);
      storage->rank = rank;
    }
  assignment->location = (CleaveLocation){ location->root, location->offset, storage->stride };
}

/* Whether the result is the operand's memory under another shape; and its location. */
static gboolean
find_alias (const CleaveStorage *storage,
            const CleaveNode *node,
            CleaveMemoryOrder order,
            CleaveLocation *location,
            gint64 *stride)
{
  const CleaveResult *x = node->n_operands == 0 ? NULL : node->operands[0].result;
  const CleaveTensorType *type = &node->results[0].type;
  const CleaveAssignment *assignment;

  if ((node->op->flags & CLEAVE_OP_ROW_MAJOR) == 0 || x == NULL ||
      x->type.element != type->element ||
      cleave_shape_n_elements (&x->type.shape) != cleave_shape_n_elements (&type->shape))
    return FALSE;
  assignment = cleave_storage_assignment (storage, x);
  *location = (CleaveLocation){ assignment->location.root, assignment->location.offset, stride };
  return cleave_location_reshape (&x->type.shape, assignment->location.stride, &type->shape,
                                  stride) &&
         cleave_memory_order_fits (order, &type->shape, stride);
}

/* A value may lie in a join, whose readers are looked at for each of its parts; if there are more
 * than these they are not, so that cost stays linear. */
#define MAX_READERS 16

/* The last node that reads a value's memory through this one: itself, or, of a join, in which the
 * value may lie, those that read that. */
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

/* The position after which joins alone read a value, through views. */
static guint
find_done (const guint *position, const CleaveResult *x)
{
  guint last = position[x->node->id];

  for (const CleaveOperand *use = x->first_use; use != NULL && last != CLEAVE_NEVER;
       use = use->next_use)
    if (use->node == NULL)
      return CLEAVE_NEVER;
    else if (!cleave_storage_is_for_joins (use->node))
      last = MAX (last, last_reader (position, use->node));
  return last;
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
                           : find_done (position, &node->results[0]);
    }
  return done;
}

guint
cleave_storage_materialise_after (const guint *done, const CleaveNode *view)
{
  return done != NULL && cleave_storage_is_for_joins (view) && view->operands[0].result != NULL
             ? done[view->operands[0].result->node->id]
             : CLEAVE_NEVER;
}

/* Whether a few rows of a value that is otherwise done are materialised for later readers,
 * so that the whole of it need not stay. */
static gboolean
is_materialised (const CleaveStorage *storage, const CleaveNode *view)
{
  guint at = cleave_storage_position (storage, view);
  guint after = cleave_storage_materialise_after (storage->done, view);

  if (after == CLEAVE_NEVER || after > at)
    return FALSE;
  for (const CleaveOperand *use = view->results[0].first_use; use != NULL; use = use->next_use)
    if (cleave_storage_position (storage, use->node) <= at + 1)
      return FALSE;
  return TRUE;
}

/* Of an op that is a VIEW or a BROADCAST.  FALSE: the result is no view all the same (a Slice that
 * runs backwards). */
static gboolean
lie_in_operand (CleaveStorage *storage, CleaveNode *node, CleaveAssignment *assignment)
{
  const CleaveViewFacts *view =
      cleave_graph_facts_of_view (storage->of_graph, node, assignment->result->index);
  const CleaveAssignment *operand;
  gint64 stride[CLEAVE_MAX_RANK];
  CleaveLocation location;

  if (!view->is_view || (storage->materialises && is_materialised (storage, node)))
    return FALSE;
  operand = cleave_storage_assignment (storage, node->operands[0].result);
  location = cleave_location_view (&operand->location, view->dims,
                                   node->operands[0].result->type.shape.rank, stride);
  lie (storage, assignment, &location);
  assignment->base = operand->base;
  return TRUE;
}

/* The location of a join whose operands, views of one value, lie there as they do in it: nothing is
 * left to join.  So of a Reshape that was cut, and is there whole for others. */
static gboolean
find_joined (const CleaveStorage *storage,
             const CleaveNode *node,
             CleaveMemoryOrder order,
             CleaveLocation *location)
{
  const CleaveShape *shape = &node->results[0].type.shape;
  const CleaveAssignment *first;
  const CleaveRange *ranges;

  if ((node->op->flags & CLEAVE_OP_JOIN) == 0 || node->n_operands < 2 ||
      cleave_node_is_fixed (node))
    return FALSE;
  first = cleave_storage_assignment (storage, node->operands[0].result);
  if (first->base == (guint) (first - storage->assignments))
    return FALSE;
  ranges = cleave_storage_join_facts (storage, node)->ranges;
  *location = first->location;
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveAssignment *assignment =
          cleave_storage_assignment (storage, node->operands[i].result);
      CleaveLocation part = cleave_location_part (location, &ranges[i]);

      if (assignment->base != first->base || assignment->location.offset != part.offset ||
          !cleave_strides_equal (&assignment->result->type.shape, assignment->location.stride,
                                 location->stride))
        return FALSE;
    }
  return cleave_memory_order_fits (order, shape, location->stride);
}

static void
find_first_assignment (CleaveStorage *storage,
                       CleaveNode *node,
                       guint index,
                       CleaveMemoryOrder order)
{
  guint value = cleave_storage_first_value (storage, node) + index;
  CleaveAssignment *assignment = &storage->assignments[value];
  CleaveTensor *constant = cleave_node_get_constant (node);
  const CleaveShape *shape = &node->results[index].type.shape;
  gint64 stride[CLEAVE_MAX_RANK];
  CleaveLocation location = { value, 0, stride };

  *assignment = (CleaveAssignment){ .result = &node->results[index],
                                    .base = value,
                                    .deadline = CLEAVE_NEVER,
                                    .whole = CLEAVE_NEVER,
                                    .copied = CLEAVE_NEVER,
                                    .ready = CLEAVE_NEVER };
  if ((node->op->flags & LIES_IN_OPERAND) != 0 && lie_in_operand (storage, node, assignment))
    return;
  if (index == 0 && find_alias (storage, node, order, &location, stride))
    {
      assignment->base = cleave_storage_assignment (storage, node->operands[0].result)->base;
      storage->assignments[assignment->base].flags |= CLEAVE_ASSIGNMENT_ALIASED;
    }
  else if (find_joined (storage, node, order, &location))
    {
      assignment->base = cleave_storage_assignment (storage, node->operands[0].result)->base;
      storage->assignments[assignment->base].flags |= CLEAVE_ASSIGNMENT_ALIASED;
    }
  else if (constant != NULL)
    {
      assignment->flags = CLEAVE_ASSIGNMENT_CONSTANT;
      location = (CleaveLocation){ value, 0, cleave_tensor_get_strides (constant) };
    }
  else if (cleave_node_is_fixed (node))
    {
      assignment->flags = CLEAVE_ASSIGNMENT_CONSTANT; /* as it will be worked out */
      cleave_memory_order_strides (CLEAVE_ROW_MAJOR, shape, stride);
      location = (CleaveLocation){ value, 0, stride };
    }
  else
    {
      assignment->flags = cleave_node_is_input (node) ? CLEAVE_ASSIGNMENT_INPUT : 0;
      if (storage->materialises && is_materialised (storage, node))
        assignment->flags |= CLEAVE_ASSIGNMENT_MATERIALISED;
      cleave_memory_order_strides (order, shape, stride);
      location = (CleaveLocation){ value, 0, stride };
    }
  lie (storage, assignment, &location);
}

static void
note_uses (CleaveStorage *storage, const CleaveNode *node)
{
  for (guint i = 0; i < node->n_operands && !cleave_node_is_fixed (node); i++)
    if (node->operands[i].result != NULL)
      {
        guint base = cleave_storage_assignment (storage, node->operands[i].result)->base;

        storage->assignments[base].last =
            MAX (storage->assignments[base].last, cleave_storage_position (storage, node));
      }
}

static gboolean
is_staged (const CleaveStorage *storage, const CleaveAssignment *assignment)
{
  return storage->staged != NULL && storage->staged[assignment - storage->assignments];
}

/* Whether `assignment` can lie at `location`: it is nowhere else yet, and the strides suit those
 * who make and read it. */
static gboolean
can_move (const CleaveStorage *storage,
          const CleaveAssignment *assignment,
          const CleaveLocation *location,
          const CleaveMemoryOrder *orders)
{
  const CleaveShape *shape = &assignment->result->type.shape;
  guint value = (guint) (assignment - storage->assignments);

  return !is_staged (storage, assignment) && assignment->base == value &&
         (assignment->flags & (CLEAVE_ASSIGNMENT_CONSTANT | CLEAVE_ASSIGNMENT_MOVED)) == 0 &&
         cleave_memory_order_fits (orders[value], shape, location->stride) &&
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

/* Whether a part may be written where it belongs although others overlap it there: only one of them
 * may. */
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

/* The last join that has a staged part is what it is copied into, once: joins before
 * that are boxes of it. */
static void
join_to (CleaveAssignment *assignment, guint whole, guint part)
{
  assignment->whole = whole;
  assignment->part = part;
}

static void
move_parts (CleaveStorage *storage,
            CleaveAssignment *whole,
            const CleaveJoinFacts *facts,
            const CleaveMemoryOrder *orders)
{
  CleaveNode *node = whole->result->node;
  const CleaveRange *ranges = facts->ranges;
  gboolean overlap = facts->overlap;

  for (guint i = 0; i < node->n_operands; i++)
    {
      CleaveAssignment *assignment = cleave_storage_assignment (storage, node->operands[i].result);
      CleaveLocation location = cleave_location_part (&whole->location, &ranges[i]);

      if (is_staged (storage, assignment) && !overlap && assignment->whole == CLEAVE_NEVER)
        join_to (assignment, value_index (storage, whole->result), i);
      if ((assignment->flags & (CLEAVE_ASSIGNMENT_INPUT | CLEAVE_ASSIGNMENT_MATERIALISED)) != 0 ||
          !can_move (storage, assignment, &location, orders) ||
          assignment->last >= whole->deadline || (overlap && !is_free (storage, whole, ranges, i)))
        continue;
      move (assignment, &location, whole->deadline);
      join_to (assignment, value_index (storage, whole->result), i);
    }
}

/* If all parts already lie in one later join as they do in this one, or are to be copied there,
 * this one is a box of that: its range. */
static gboolean
find_box (const CleaveStorage *storage,
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
settle_join (CleaveStorage *storage, CleaveNode *node, const CleaveMemoryOrder *orders)
{
  CleaveAssignment *whole = cleave_storage_assignment (storage, &node->results[0]);
  const CleaveJoinFacts *facts = cleave_storage_join_facts (storage, node);
  CleaveRange box;

  if (whole->base != value_index (storage, whole->result)) /* its operands are there already */
    return;
  if ((whole->flags & CLEAVE_ASSIGNMENT_MOVED) == 0 &&
      find_box (storage, whole, facts->ranges, &box))
    {
      const CleaveAssignment *outer =
          &storage
               ->assignments[cleave_storage_assignment (storage, node->operands[0].result)->whole];
      CleaveLocation location = cleave_location_part (&outer->location, &box);

      if (can_move (storage, whole, &location, orders) && whole->last < outer->deadline)
        {
          move (whole, &location, outer->deadline);
          whole->flags |= CLEAVE_ASSIGNMENT_BOX;
          return;
        }
    }
  move_parts (storage, whole, facts, orders);
}

/* Another operand must not be a view of x: it would be overwritten while it is read. */
static gboolean
is_read_otherwise (const CleaveStorage *storage, const CleaveNode *node, const CleaveAssignment *x)
{
  for (guint i = 0; i < node->n_operands; i++)
    if (node->operands[i].result != NULL && node->operands[i].result != x->result &&
        cleave_storage_assignment (storage, node->operands[i].result)->base == x->base)
      return TRUE;
  return FALSE;
}

/* Whether a part of x could only be copied into it if x were overwritten by `node`: because it is
 * read later, or lies with the others in a later join. */
static gboolean
has_parts_that_stay (const CleaveStorage *storage,
                     const CleaveNode *node,
                     const CleaveAssignment *x)
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
  return find_box (storage, x, ranges, &box);
}

/* A part of an earlier join lies there, or it would have to be copied to where its neighbours read
 * it. */
static gboolean
is_part (const CleaveAssignment *x)
{
  for (const CleaveOperand *use = x->result->first_use; use != NULL; use = use->next_use)
    if (use->node != NULL && (use->node->op->flags & CLEAVE_OP_JOIN) != 0)
      return TRUE;
  return FALSE;
}

/* Whether `node` is all that comes of another in the end, element by element. */
static gboolean
leads_to (const CleaveNode *other, const CleaveNode *node)
{
  for (guint i = 0; i < MAX_DETOUR && other != node; i++)
    {
      if (other == NULL || (other->op->flags & CLEAVE_OP_IN_PLACE) == 0 ||
          other->results[0].n_uses != 1)
        return FALSE;
      other = other->results[0].first_use->node;
    }
  return other == node;
}

/* Whether x, that others read as well, would occupy the memory of something much larger until
 * `node` overwrites it. */
static gboolean
holds_more (const CleaveStorage *storage, const CleaveNode *node, const CleaveAssignment *x)
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
can_overwrite (const CleaveStorage *storage,
               const CleaveNode *node,
               guint operand,
               const CleaveMemoryOrder *orders)
{
  const CleaveAssignment *y = cleave_storage_assignment (storage, &node->results[0]);
  const CleaveResult *x = node->operands[operand].result;
  const CleaveAssignment *assignment = x == NULL ? NULL : cleave_storage_assignment (storage, x);

  return x != NULL && assignment->last == cleave_storage_position (storage, node) &&
         cleave_view_type_fits (&x->type, &y->result->type) &&
         !holds_more (storage, node, assignment) &&
         can_move (storage, assignment, &y->location, orders) &&
         !is_read_otherwise (storage, node, assignment) &&
         !has_parts_that_stay (storage, node, assignment) && !is_part (assignment);
}

/* Whether t comes of x element by element, as clip (x + 3) does. */
static gboolean
comes_of (const CleaveResult *t, const CleaveResult *x)
{
  for (guint i = 0; i < MAX_DETOUR && t != x; i++)
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

/* If one candidate was computed from another, the result reuses the earlier one: the kernel that
 * made it can then fuse all that follows. */
static void
settle_in_place (CleaveStorage *storage, CleaveNode *node, const CleaveMemoryOrder *orders)
{
  const CleaveAssignment *y = cleave_storage_assignment (storage, &node->results[0]);
  CleaveResult *best = NULL;

  for (guint i = 0; i < node->n_operands; i++)
    if (can_overwrite (storage, node, i, orders) &&
        (best == NULL || comes_of (best, node->operands[i].result)))
      best = node->operands[i].result;
  if (best != NULL)
    move (cleave_storage_assignment (storage, best), &y->location,
          cleave_storage_position (storage, node));
}

static void
settle (CleaveStorage *storage, CleaveNode *node, const CleaveMemoryOrder *orders)
{
  if (node->n_results == 0 || node->n_operands == 0 || (node->op->flags & CLEAVE_OP_VIEW) != 0 ||
      cleave_node_is_fixed (node))
    return;
  if (node->op->flags & CLEAVE_OP_JOIN)
    settle_join (storage, node, orders);
  else if (node->op->flags & CLEAVE_OP_IN_PLACE)
    settle_in_place (storage, node, orders);
  else if (storage->overlaid != NULL && storage->overlaid[cleave_storage_position (storage, node)])
    cleave_storage_overlay (storage, node);
}

/* Views of what was moved follow it. */
static void
follow (CleaveStorage *storage, CleaveAssignment *assignment)
{
  CleaveNode *node = assignment->result->node;
  const CleaveAssignment *operand;

  if (assignment->base == (guint) (assignment - storage->assignments) ||
      (storage->assignments[assignment->base].flags & CLEAVE_ASSIGNMENT_MOVED) == 0)
    return;
  if ((node->op->flags & LIES_IN_OPERAND) != 0 && lie_in_operand (storage, node, assignment))
    return;
  operand = cleave_storage_assignment (storage, node->operands[0].result);
  assignment->location.root = operand->location.root;
  assignment->location.offset = operand->location.offset; /* the strides are those it had */
}

guint *
cleave_order_positions (const CleaveGraph *graph, const GPtrArray *order)
{
  guint *position = CLEAVE_NEW (guint, graph->n_ids + 1);

  for (guint i = 0; i < order->len; i++)
    position[((const CleaveNode *) order->pdata[i])->id] = i;
  return position;
}

static void
number (CleaveOrderFacts *facts)
{
  facts->first_value = CLEAVE_NEW (guint, facts->n_nodes + 1);
  facts->joins = g_ptr_array_new ();
  for (guint i = 0; i < facts->n_nodes; i++)
    {
      facts->first_value[i] = facts->n_values;
      facts->n_values += facts->nodes[i]->n_results;
      if ((facts->nodes[i]->op->flags & CLEAVE_OP_JOIN) != 0)
        g_ptr_array_add (facts->joins, facts->nodes[i]);
    }
  facts->first_value[facts->n_nodes] = facts->n_values;
}

static void
copy_orders (CleaveOrderFacts *facts)
{
  facts->orders = CLEAVE_NEW (CleaveMemoryOrder, facts->n_values);
  for (guint i = 0; i < facts->n_nodes; i++)
    {
      const CleaveMemoryOrder *orders =
          cleave_graph_facts_of_orders (facts->graph, facts->nodes[i]);

      for (guint r = 0; r < facts->nodes[i]->n_results; r++)
        facts->orders[facts->first_value[i] + r] = orders[r];
    }
}

static CleaveOrderFacts *
order_facts_new (const CleaveGraph *graph, CleaveGraphFacts *of_graph, const GPtrArray *order)
{
  CleaveOrderFacts *facts = g_atomic_rc_box_new0 (CleaveOrderFacts);

  facts->graph = of_graph;
  facts->nodes = (CleaveNode *const *) order->pdata;
  facts->n_nodes = order->len;
  facts->position = cleave_order_positions (graph, order);
  facts->done = cleave_storage_find_done (graph, order, facts->position);
  facts->strides = cleave_pool_new ();
  number (facts);
  copy_orders (facts);
  return facts;
}

static void
order_facts_clear (gpointer data)
{
  CleaveOrderFacts *facts = data;

  g_free (facts->position);
  g_free (facts->done);
  g_free (facts->first_value);
  g_ptr_array_unref (facts->joins);
  g_free (facts->orders);
  cleave_pool_free (facts->strides);
  for (guint i = 0; i < G_N_ELEMENTS (facts->first); i++)
    g_free (facts->first[i]);
}

static void
order_facts_unref (CleaveOrderFacts *facts)
{
  g_atomic_rc_box_release_full (facts, order_facts_clear);
}

/* No more storages are made of them. */
static void
order_facts_finish (CleaveOrderFacts *facts)
{
  facts->graph = NULL;
  for (guint i = 0; i < G_N_ELEMENTS (facts->first); i++)
    g_clear_pointer (&facts->first[i], g_free);
  order_facts_unref (facts);
}

/* The first walk. */
static void
find_first_assignments (CleaveStorage *storage, const CleaveGraph *graph)
{
  for (guint i = 0; i < storage->n_nodes; i++)
    {
      for (guint r = 0; r < storage->nodes[i]->n_results; r++)
        find_first_assignment (storage, storage->nodes[i], r,
                               storage->orders[storage->first_value[i] + r]);
      note_uses (storage, storage->nodes[i]);
    }
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    {
      const CleaveResult *y = cleave_operand_get_result (cleave_graph_get_output (graph, i));

      storage->assignments[cleave_storage_assignment (storage, y)->base].last = storage->n_nodes;
    }
}

/* The same for all storages, but for what is materialised: kept where there is something to choose.
 */
static void
begin_assignments (CleaveStorage *storage, const CleaveGraph *graph)
{
  CleaveOrderFacts *facts = storage->facts;
  CleaveAssignment **first = &facts->first[storage->materialises ? 1 : 0];
  const gsize n_bytes = facts->n_values * sizeof **first;

  storage->assignments = CLEAVE_NEW (CleaveAssignment, storage->n_values);
  if (*first == NULL)
    {
      storage->strides = facts->strides;
      find_first_assignments (storage, graph);
      storage->stride = NULL;
      if (facts->joins->len > 0)
        {
          *first = CLEAVE_NEW (CleaveAssignment, storage->n_values);
          memcpy (*first, storage->assignments, n_bytes);
        }
    }
  else if (n_bytes > 0)
    memcpy (storage->assignments, *first, n_bytes);
  storage->strides = cleave_pool_new ();
}

static void
find_assignments (CleaveStorage *storage, const CleaveGraph *graph)
{
  begin_assignments (storage, graph);
  for (guint i = storage->n_nodes; i-- > 0;)
    settle (storage, storage->nodes[i], storage->orders);
  for (guint v = 0; v < storage->n_values; v++)
    follow (storage, &storage->assignments[v]);
}

/* Which values are staged, and which results are laid over operands; NULL: none. */
typedef struct
{
  gboolean *staged, *overlaid;
} Choices;

static void
choices_clear (Choices *choices)
{
  g_clear_pointer (&choices->staged, g_free);
  g_clear_pointer (&choices->overlaid, g_free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Choices, choices_clear)

static Choices
copy_choices (const Choices *choices, const CleaveStorage *storage)
{
  return (Choices){ g_memdup2 (choices->staged, (storage->n_values + 1) * sizeof (gboolean)),
                    g_memdup2 (choices->overlaid, (storage->n_nodes + 1) * sizeof (gboolean)) };
}

static CleaveStorage *
storage_new (const CleaveGraph *graph,
             CleaveOrderFacts *facts,
             gboolean materialises,
             const Choices *choices)
{
  CleaveStorage *storage = g_new0 (CleaveStorage, 1);

  storage->facts = g_atomic_rc_box_acquire (facts);
  storage->of_graph = facts->graph;
  storage->n_nodes = facts->n_nodes;
  storage->n_values = facts->n_values;
  storage->nodes = facts->nodes;
  storage->position = facts->position;
  storage->done = facts->done;
  storage->first_value = facts->first_value;
  storage->joins = facts->joins;
  storage->orders = facts->orders;
  storage->materialises = materialises;
  storage->staged = choices == NULL ? NULL : choices->staged;
  storage->overlaid = choices == NULL ? NULL : choices->overlaid;
  find_assignments (storage, graph);
  storage->staged = storage->overlaid = NULL; /* they are the caller's */
  cleave_storage_add_steps (storage, graph);
  storage->of_graph = NULL;
  return storage;
}

static gboolean
has_materialised (const CleaveStorage *storage)
{
  for (guint i = 0; i < storage->n_nodes && storage->done != NULL; i++)
    if (is_materialised (storage, storage->nodes[i]))
      return TRUE;
  return FALSE;
}

/* Views as views, or some of them as copies if that lowers the peak. */
static CleaveStorage *
choose_views (const CleaveGraph *graph, CleaveOrderFacts *facts, gint64 hopeless)
{
  g_autoptr (CleaveStorage) views = storage_new (graph, facts, FALSE, NULL);
  g_autoptr (CleaveStorage) materialises = NULL;

  if (cleave_storage_get_peak (views) > hopeless || !has_materialised (views))
    return g_steal_pointer (&views);
  materialises = storage_new (graph, facts, TRUE, NULL);
  if (cleave_storage_get_peak (materialises) < cleave_storage_get_peak (views))
    return g_steal_pointer (&materialises);
  return g_steal_pointer (&views);
}

/* What may bring the peak down. */
typedef enum { STAGE_PARTS, STAGE_WINDOWS, OVERLAY } Means;

static gboolean
choose_more (const CleaveStorage *storage, Means means, Choices *choices)
{
  switch (means)
    {
    case STAGE_PARTS:
      return cleave_storage_find_staged (storage, &choices->staged);
    case STAGE_WINDOWS:
      return cleave_storage_find_windows (storage, &choices->staged);
    case OVERLAY:
      return cleave_storage_find_overlays (storage, &choices->overlaid);
    }
  return FALSE;
}

/* What is to be reached, and whether it may be: three of four storages would be made for nothing.
 */
static gboolean
is_worth (const CleaveStorage *best,
          Means means,
          const Choices *choices,
          const Choices *more,
          double *enough)
{
  const double peak = (double) cleave_storage_get_peak (best);

  *enough = means == OVERLAY ? peak - 1 : WORTH_COPIES * peak;
  return means == OVERLAY ||
         (double) cleave_storage_bound_staged (best, choices->staged, more->staged) <= *enough;
}

/* Chooses more where that brings the peak down to so much of it: FALSE: nothing more. */
static gboolean
improve (CleaveStorage **best, Choices *choices, Means means, const CleaveGraph *graph)
{
  g_auto (Choices) more = copy_choices (choices, *best);
  g_autoptr (CleaveStorage) other = NULL;
  double enough;

  if (!choose_more (*best, means, &more) || !is_worth (*best, means, choices, &more, &enough))
    return FALSE;
  other = storage_new (graph, (*best)->facts, (*best)->materialises, &more);
  if ((double) cleave_storage_get_peak (other) > enough)
    return FALSE;
  cleave_storage_free (*best);
  *best = g_steal_pointer (&other);
  choices_clear (choices);
  *choices = more;
  more = (Choices){ NULL, NULL };
  return TRUE;
}

/* Stages parts, and lays results over operands, where that lowers the peak. */
static CleaveStorage *
lower_peak (CleaveStorage *storage, const CleaveGraph *graph)
{
  g_autoptr (CleaveStorage) best = storage;
  g_auto (Choices) choices = { NULL, NULL };

  for (guint round = 0; round < MAX_ROUNDS && improve (&best, &choices, STAGE_PARTS, graph);
       round++)
    ;
  improve (&best, &choices, STAGE_WINDOWS, graph);
  for (guint round = 0; round < MAX_OVERLAYS && improve (&best, &choices, OVERLAY, graph); round++)
    ;
  return g_steal_pointer (&best);
}

/* Without copies that only memory asks for, unless they lower the peak. */
CleaveStorage *
cleave_storage_new_within (const CleaveGraph *graph,
                           CleaveGraphFacts *of_graph,
                           const GPtrArray *order,
                           gint64 hopeless)
{
  CleaveOrderFacts *facts = order_facts_new (graph, of_graph, order);
  CleaveStorage *storage = choose_views (graph, facts, hopeless);

  if (cleave_storage_get_peak (storage) <= hopeless)
    storage = lower_peak (storage, graph);
  order_facts_finish (facts);
  return storage;
}

CleaveStorage *
cleave_storage_new_like (const CleaveGraph *graph,
                         CleaveGraphFacts *of_graph,
                         const GPtrArray *order,
                         const CleaveStorage *like)
{
  CleaveOrderFacts *facts;
  CleaveStorage *storage;

  if (!like->materialises)
    return cleave_storage_new_within (graph, of_graph, order, G_MAXINT64);
  facts = order_facts_new (graph, of_graph, order);
  storage = lower_peak (storage_new (graph, facts, TRUE, NULL), graph);
  order_facts_finish (facts);
  return storage;
}

CleaveStorage *
cleave_storage_new_staged (const CleaveGraph *graph,
                           const GPtrArray *order,
                           const CleaveStorage *like)
{
  g_autoptr (CleaveGraphFacts) of_graph = NULL;
  g_auto (Choices) choices = { NULL, NULL };
  CleaveOrderFacts *facts;
  CleaveStorage *storage;

  if (!cleave_storage_find_waiting (like, &choices.staged))
    return NULL;
  of_graph = cleave_graph_facts_new (graph);
  facts = order_facts_new (graph, of_graph, order);
  storage = storage_new (graph, facts, like->materialises, &choices);
  order_facts_finish (facts);
  return storage;
}

CleaveStorage *
cleave_storage_new (const CleaveGraph *graph, const GPtrArray *order)
{
  g_autoptr (CleaveGraphFacts) facts = cleave_graph_facts_new (graph);

  return cleave_storage_new_within (graph, facts, order, G_MAXINT64);
}

void
cleave_storage_free (CleaveStorage *storage)
{
  if (storage == NULL)
    return;
  g_free (storage->assignments);
  cleave_pool_free (storage->strides);
  g_free (storage->buffer);
  g_free (storage->live);
  g_free (storage->live_apart);
  g_clear_pointer (&storage->lap_edges, g_array_unref);
  g_clear_pointer (&storage->lap_moves, g_array_unref);
  g_array_unref (storage->steps);
  g_array_unref (storage->boxes);
  g_array_unref (storage->buffers);
  order_facts_unref (storage->facts);
  g_free (storage);
}
