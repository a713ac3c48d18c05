/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Runs the first and the third of the three walks that assign buffers (assignments.h). The first
 * walk lets views share the buffers of their operands. The third walk moves the views of moved
 * operands. */

#include "assignments.h"

#include <string.h>

#include "../ir/memory.h"
#include "materialized.h"
#include "order-facts.h"

/* The flags of ops whose results are views of operand 0, if strides can express the result. */
#define LIES_IN_OPERAND (CLEAVE_OP_VIEW | CLEAVE_OP_BROADCAST)

/* Sets a location, with a copy of its strides. Consecutive locations with equal strides share one
 * copy. */
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

/* Returns whether a result is a view of operand 0 with another shape, such as a Reshape. Sets
 * `location` and `stride`. */
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

/* Sets the location of a result of a VIEW or BROADCAST op. Returns FALSE if the result cannot be a
 * view: for example, the result of a Slice with a negative step. */
static gboolean
lie_in_operand (CleaveStorage *storage, CleaveNode *node, CleaveAssignment *assignment)
{
  const CleaveViewFacts *view =
      cleave_graph_facts_of_view (storage->of_graph, node, assignment->result->index);
  const CleaveAssignment *operand;
  gint64 stride[CLEAVE_MAX_RANK];
  CleaveLocation location;

  if (!view->is_view || (storage->materializes && cleave_storage_is_materialized (storage, node)))
    return FALSE;
  operand = cleave_storage_assignment (storage, node->operands[0].result);
  location = cleave_location_view (&operand->location, view->dims,
                                   node->operands[0].result->type.shape.rank, stride);
  lie (storage, assignment, &location);
  assignment->base = operand->base;
  return TRUE;
}

/* Returns whether a join needs no copy and no memory, since its operands already form the result in
 * memory. The operands are views of one value, each at the offset that the join gives it. Sets
 * `location` to the location of the join. Example: a join assembles the pieces of a Reshape for a
 * node that reads the whole result of the Reshape. */
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

/* Returns the flags of a node's assignments: whether its results are constants, inputs of the
 * graph, or views that are copied to separate buffers. Call this function only for results that
 * share no buffer with an operand. */
static CleaveAssignmentFlags
find_flags (const CleaveStorage *storage, CleaveNode *node)
{
  CleaveAssignmentFlags flags = cleave_node_is_input (node) ? CLEAVE_ASSIGNMENT_INPUT : 0;

  if (cleave_node_is_fixed (node))
    return CLEAVE_ASSIGNMENT_CONSTANT;
  if (storage->materializes && cleave_storage_is_materialized (storage, node))
    flags |= CLEAVE_ASSIGNMENT_MATERIALIZED;
  return flags;
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
  if ((index == 0 && find_alias (storage, node, order, &location, stride)) ||
      find_joined (storage, node, order, &location))
    {
      assignment->base = cleave_storage_assignment (storage, node->operands[0].result)->base;
      storage->assignments[assignment->base].flags |= CLEAVE_ASSIGNMENT_ALIASED;
    }
  else if (constant != NULL)
    {
      assignment->flags = CLEAVE_ASSIGNMENT_CONSTANT;
      location = (CleaveLocation){ value, 0, cleave_tensor_get_strides (constant) };
    }
  else
    {
      assignment->flags = find_flags (storage, node);
      cleave_memory_order_strides (cleave_node_is_fixed (node) ? CLEAVE_ROW_MAJOR : order, shape,
                                   stride);
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

/* Lets a view follow its base to another buffer: computes the location of the view again, from the
 * new location of its operand. The third walk of assignments.h calls this function. Does nothing if
 * the value is no view, or if move-operands.c did not move the base. */
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
  assignment->location.offset = operand->location.offset; /* only the offset changes: the view keeps
                                                           * its strides */
}

/* Lets each view share the buffer of its operand, and gives every other value a buffer of its own.
 * This is the first of the three walks over the nodes that assignments.h describes. */
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

/* Sets the assignments to the result of find_first_assignments(). Calls this function, or copies
 * its result from `facts` if an earlier CleaveStorage of the same order has saved it there. Saves
 * the result only if the graph has joins: buffers.c makes few storages of a graph without joins. */
static void
begin_assignments (CleaveStorage *storage, const CleaveGraph *graph)
{
  CleaveOrderFacts *facts = storage->facts;
  CleaveAssignment **first = &facts->first[storage->materializes ? 1 : 0];
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

void
cleave_storage_find_assignments (CleaveStorage *storage, const CleaveGraph *graph)
{
  begin_assignments (storage, graph);
  for (guint i = storage->n_nodes; i-- > 0;)
    cleave_storage_move_operands (storage, storage->nodes[i]);
  for (guint v = 0; v < storage->n_values; v++)
    follow (storage, &storage->assignments[v]);
}
