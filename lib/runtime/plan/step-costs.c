/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the time of a step. Also finds the earlier step that a thread should run immediately
 * before a given step. The given step reads or overwrites the earlier step's result, which is then
 * still in the cache. */

#include "step-costs.h"

#include "../../memory/cost.h"

/* Returns whether a step is an element-wise node that reads the result of the step before it. */
static gboolean
goes_on (const CleaveStorage *storage, guint index)
{
  const CleaveNode *node = g_array_index (storage->steps, CleaveStep, index).node;

  for (guint i = 0; (node->op->flags & CLEAVE_OP_IN_PLACE) != 0 && i < node->n_operands; i++)
    if (node->operands[i].result != NULL &&
        cleave_storage_assignment (storage, node->operands[i].result)->ready + 1 == index)
      return TRUE;
  return FALSE;
}

guint
cleave_step_find_along (const CleaveStorage *storage, guint index)
{
  const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, index);
  const CleaveAssignment *assignment;

  if (step->kind != CLEAVE_STEP_COMPUTE)
    return G_MAXUINT;
  if (index > 0 && goes_on (storage, index))
    return index - 1;
  assignment = cleave_storage_assignment (storage, &step->node->results[0]);
  for (guint i = 0; i < step->node->n_operands; i++)
    {
      const CleaveResult *operand = step->node->operands[i].result;
      const CleaveAssignment *from =
          operand == NULL ? NULL : cleave_storage_assignment (storage, operand);

      if (from != NULL && from->ready != CLEAVE_NEVER &&
          from->location.root == assignment->location.root &&
          from->location.offset == assignment->location.offset &&
          g_array_index (storage->steps, CleaveStep, from->ready).kind == CLEAVE_STEP_COMPUTE)
        return from->ready;
    }
  return G_MAXUINT;
}

static double
count_box_bytes (const CleaveStorage *storage, const CleaveStep *step)
{
  const CleaveRange *box = &g_array_index (storage->boxes, CleaveRange, step->box);

  return (double) cleave_range_n_elements (box) *
         (double) cleave_element_size (step->node->results[0].type.element);
}

double
cleave_step_estimate_cost (const CleaveStorage *storage, guint index, gboolean goes_along)
{
  const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, index);

  if (step->kind == CLEAVE_STEP_JOIN)
    return 0;
  if (step->node == NULL)
    return CLEAVE_COST_OF_STEP;
  if (goes_along)
    return CLEAVE_COST_OF_STEP + cleave_cost_of_elements (step->node) +
           cleave_cost_of_hot_bytes (
               (double) cleave_tensor_type_n_bytes (&step->node->results[0].type));
  if (step->kind != CLEAVE_STEP_COMPUTE)
    return CLEAVE_COST_OF_STEP + cleave_cost_of_bytes (count_box_bytes (storage, step));
  return cleave_cost_of_node (step->node);
}

double
cleave_step_estimate_time (const CleaveStorage *storage, guint index, GHashTable *read)
{
  const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, index);

  if (step->kind == CLEAVE_STEP_JOIN)
    return 0;
  if (step->node == NULL)
    return cleave_cost_of_copy (0);
  if (cleave_step_find_along (storage, index) != G_MAXUINT)
    return cleave_cost_along (step->node);
  if (step->kind != CLEAVE_STEP_COMPUTE)
    return cleave_cost_of_copy (count_box_bytes (storage, step));
  return cleave_cost_of_piece (step->node, read);
}
