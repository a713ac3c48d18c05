/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the list of the steps of a run; input is the final assignment of each value
 * (buffers.h). */

#include "buffers.h"

#include "../ir/memory.h"
#include "../ir/node-queries.h"
#include "visit-step.h"

/* An input of more than LOAD_BYTES bytes is loaded in up to MAX_LOADS parts, so that several
 * threads can load it. */
#define LOAD_BYTES (128 << 10)
#define MAX_LOADS 8

static guint
add_step (CleaveStorage *storage, CleaveStepKind kind, CleaveNode *node, guint index)
{
  CleaveStep step = { .kind = kind, .node = node, .index = index };

  g_array_append_val (storage->steps, step);
  return storage->steps->len - 1;
}

static guint
add_box_step (CleaveStorage *storage,
              CleaveStepKind kind,
              CleaveNode *node,
              guint index,
              const CleaveRange *box)
{
  guint step = add_step (storage, kind, node, index);

  g_array_index (storage->steps, CleaveStep, step).box = storage->boxes->len;
  g_array_append_val (storage->boxes, *box);
  return step;
}

static void
add_copy (CleaveStorage *storage, CleaveNode *node, guint operand, const CleaveRange *box)
{
  if (cleave_range_is_empty (box))
    return;
  add_box_step (storage, CLEAVE_STEP_COPY, node, operand, box);
  storage->copied_bytes +=
      cleave_range_n_elements (box) * (gint64) cleave_element_size (node->results[0].type.element);
}

static gboolean
is_in_place (const CleaveStorage *storage, const CleaveNode *node, guint operand)
{
  const CleaveAssignment *assignment =
      cleave_storage_assignment (storage, node->operands[operand].result);

  return (assignment->flags & CLEAVE_ASSIGNMENT_MOVED) != 0 &&
         assignment->whole == cleave_storage_first_value (storage, node) &&
         assignment->part == operand;
}

/* Adds steps that copy the elements of `box` that lie outside the ranges in `taken`, so that no
 * element is written twice. */
static void
add_copies_of_rest (
    CleaveStorage *storage, CleaveNode *node, guint operand, const CleaveRange *box, GArray *taken)
{
  g_autoptr (GArray) rest =
      cleave_range_subtract_all (box, (const CleaveRange *) taken->data, taken->len);

  for (guint i = 0; i < rest->len; i++)
    add_copy (storage, node, operand, &g_array_index (rest, CleaveRange, i));
}

/* Adds the step that copies a staged operand into its join's buffer, unless an earlier join has
 * added this step. Returns FALSE if the operand is not staged for this join. */
static gboolean
copy_once (CleaveStorage *storage, CleaveNode *node, guint operand, const CleaveRange *range)
{
  CleaveAssignment *assignment =
      cleave_storage_assignment (storage, node->operands[operand].result);
  const CleaveAssignment *y = cleave_storage_assignment (storage, &node->results[0]);

  if ((assignment->flags & CLEAVE_ASSIGNMENT_MOVED) != 0 || assignment->whole == CLEAVE_NEVER)
    return FALSE;
  if ((y->flags & CLEAVE_ASSIGNMENT_INNER_JOIN) == 0 &&
      (assignment->whole != cleave_storage_first_value (storage, node) ||
       assignment->part != operand))
    return FALSE;
  if (assignment->copied != CLEAVE_NEVER || cleave_range_is_empty (range))
    return TRUE;
  add_copy (storage, node, operand, range);
  assignment->copied = storage->steps->len - 1;
  return TRUE;
}

static void
add_join (CleaveStorage *storage, CleaveNode *node)
{
  const CleaveJoinFacts *facts = cleave_storage_join_facts (storage, node);
  const CleaveRange *ranges = facts->ranges;
  g_autoptr (GArray) taken = NULL;

  if (facts->overlap)
    taken = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  for (guint i = 0; i < node->n_operands && facts->overlap; i++)
    if (is_in_place (storage, node, i))
      g_array_append_val (taken, ranges[i]);
  for (guint i = 0; i < node->n_operands; i++)
    if (is_in_place (storage, node, i) || copy_once (storage, node, i, &ranges[i]))
      continue;
    else if (!facts->overlap)
      add_copy (storage, node, i, &ranges[i]);
    else
      {
        add_copies_of_rest (storage, node, i, &ranges[i], taken);
        g_array_append_val (taken, ranges[i]);
      }
}

/* Adds steps that copy the staged operands of an inner join (CLEAVE_ASSIGNMENT_INNER_JOIN): the
 * join's result is a box of the result of a later join. All other operands of the inner join are
 * already in the buffer of the later join. */
static void
add_box (CleaveStorage *storage, CleaveNode *node)
{
  const CleaveRange *ranges = cleave_storage_join_facts (storage, node)->ranges;

  for (guint i = 0; i < node->n_operands; i++)
    copy_once (storage, node, i, &ranges[i]);
}

/* Returns whether the result of a node is a view of its operand. */
static gboolean
is_view (const CleaveStorage *storage, const CleaveNode *node)
{
  guint value = cleave_storage_first_value (storage, node);

  return node->n_results > 0 && storage->assignments[value].base != value;
}

static void
add_node (CleaveStorage *storage, CleaveNode *node)
{
  CleaveAssignment *assignments = &storage->assignments[cleave_storage_first_value (storage, node)];
  guint ready;

  if (cleave_node_is_source (node))
    return;
  if (is_view (storage, node))
    ready = cleave_storage_assignment (storage, node->operands[0].result)->ready;
  else if ((node->op->flags & CLEAVE_OP_JOIN) != 0 && node->n_operands > 0)
    {
      if (assignments->flags & CLEAVE_ASSIGNMENT_INNER_JOIN)
        add_box (storage, node);
      else
        add_join (storage, node);
      ready = add_step (storage, CLEAVE_STEP_JOIN, node, 0);
    }
  else
    {
      ready = add_step (storage, CLEAVE_STEP_COMPUTE, node, 0);
      if (node->op->flags & (CLEAVE_OP_ROW_MAJOR | CLEAVE_OP_VIEW))
        storage->copied_bytes += cleave_tensor_type_n_bytes (&node->results[0].type);
    }
  for (guint r = 0; r < node->n_results; r++)
    assignments[r].ready = ready;
}

void
cleave_storage_visit (const CleaveStorage *storage,
                      const CleaveGraph *graph,
                      const CleaveStep *step,
                      CleaveStepVisit visit,
                      gpointer data)
{
  cleave_visit_step (storage, graph, step, visit, data);
}

/* Returns the outermost dimension with at least `extent` elements. If no dimension has so large an
 * extent, returns dimension 0. */
static guint
find_outermost (const CleaveShape *shape, gint64 extent)
{
  for (guint d = 0; d < shape->rank; d++)
    if (shape->dim[d] >= extent)
      return d;
  return 0;
}

/* Adds the steps that load an input. Returns the index of the step that completes the input. */
static guint
add_loads (CleaveStorage *storage, const CleaveResult *input, guint index)
{
  const CleaveShape *shape = &input->type.shape;
  gint64 n = CLAMP (cleave_tensor_type_n_bytes (&input->type) / LOAD_BYTES, 1, MAX_LOADS);
  CleaveRange box = cleave_range_whole (shape);
  guint d = find_outermost (shape, n), load = 0;

  n = shape->rank == 0 ? 1 : CLAMP (shape->dim[d], 1, n);
  for (gint64 i = 0; i < n; i++)
    {
      if (n > 1)
        box.dim[d] = (CleaveSpan){ shape->dim[d] * i / n, shape->dim[d] * (i + 1) / n };
      load = add_box_step (storage, CLEAVE_STEP_LOAD, input->node, index, &box);
    }
  return n == 1 ? load : add_step (storage, CLEAVE_STEP_JOIN, input->node, 0);
}

/* Loads inputs first and stores outputs last: the caller may access an input or an output at any
 * time, so its buffer must be in use during the whole run. */
void
cleave_storage_add_steps (CleaveStorage *storage, const CleaveGraph *graph)
{
  storage->steps = g_array_sized_new (FALSE, FALSE, sizeof (CleaveStep), storage->n_nodes);
  cleave_memory_populate (storage->steps->data, storage->n_nodes * sizeof (CleaveStep));
  storage->boxes = g_array_new (FALSE, FALSE, sizeof (CleaveRange));
  storage->buffers = g_array_new (FALSE, FALSE, sizeof (CleaveBuffer));
  for (guint i = 0; i < cleave_graph_get_n_inputs (graph); i++)
    {
      CleaveResult *input = cleave_graph_get_input (graph, i);

      cleave_storage_assignment (storage, input)->ready = add_loads (storage, input, i);
    }
  for (guint i = 0; i < storage->n_nodes; i++)
    add_node (storage, storage->nodes[i]);
  for (guint i = 0; i < cleave_graph_get_n_outputs (graph); i++)
    add_step (storage, CLEAVE_STEP_STORE, NULL, i);
  cleave_storage_measure (storage, graph);
}
