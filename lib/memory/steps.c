/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the list of the steps of a run; input is the final assignment of each value. Finds the
 * buffers that the steps use, and the peak (buffers.h). */

#include "buffers.h"

#include "../ir/align.h"
#include "../ir/memory.h"
#include "../ir/node-queries.h"

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

/* Calls `visit` for each value that a step reads or writes. Inline, since it runs for every step
 * of every candidate assignment. */
static inline void
visit_step (const CleaveStorage *storage,
            const CleaveGraph *graph,
            const CleaveStep *step,
            CleaveStepVisit visit,
            gpointer data)
{
  CleaveNode *node = step->node;

  switch (step->kind)
    {
    case CLEAVE_STEP_JOIN: /* a JOIN step reads and writes no memory */
      return;
    case CLEAVE_STEP_STORE:
      visit (cleave_storage_assignment (
                 storage, cleave_operand_get_result (cleave_graph_get_output (graph, step->index))),
             FALSE, data);
      return;
    case CLEAVE_STEP_COPY:
      visit (cleave_storage_assignment (storage, node->operands[step->index].result), FALSE, data);
      break;
    case CLEAVE_STEP_LOAD:
    case CLEAVE_STEP_COMPUTE:
      for (guint i = 0; i < node->n_operands; i++)
        if (node->operands[i].result != NULL)
          visit (cleave_storage_assignment (storage, node->operands[i].result), FALSE, data);
      break;
    }
  for (guint r = 0; r < node->n_results; r++)
    visit (cleave_storage_assignment (storage, &node->results[r]), TRUE, data);
}

void
cleave_storage_visit (const CleaveStorage *storage,
                      const CleaveGraph *graph,
                      const CleaveStep *step,
                      CleaveStepVisit visit,
                      gpointer data)
{
  visit_step (storage, graph, step, visit, data);
}

typedef struct
{
  CleaveStorage *storage;
  guint step;
} Touch;

/* Returns whether a value is an input that stays in the caller's memory: the graph excludes inputs
 * from the arena, and no node overwrites the input. */
static gboolean
stays_with_caller (const CleaveAssignment *assignment)
{
  const CleaveNode *node = assignment->result->node;

  return node->graph->exclude_inputs && cleave_node_is_input (node) &&
         assignment->deadline == CLEAVE_NEVER;
}

/* Returns the end of a dense value, in bytes from the beginning of its buffer. */
static gint64
find_end (const CleaveAssignment *assignment)
{
  return cleave_tensor_type_n_bytes (&assignment->result->type) +
         assignment->location.offset *
             (gint64) cleave_element_size (assignment->result->type.element);
}

/* Returns the end of a value with any strides, in bytes from the beginning of its buffer. */
static gint64
find_reach (const CleaveAssignment *assignment)
{
  const CleaveShape *shape = &assignment->result->type.shape;
  gint64 end = assignment->location.offset + 1;

  for (guint d = 0; d < shape->rank; d++)
    end += MAX ((shape->dim[d] - 1) * assignment->location.stride[d], 0);
  return end * (gint64) cleave_element_size (assignment->result->type.element);
}

static void
add_buffer (CleaveStorage *storage, guint root, guint step)
{
  CleaveBuffer buffer = { .value = root, .first = step, .last = step };

  if (!stays_with_caller (&storage->assignments[root]))
    buffer.n_bytes =
        cleave_align_up (cleave_tensor_type_n_bytes (&storage->assignments[root].result->type),
                         CLEAVE_BUFFER_ALIGNMENT);
  storage->buffer[root] = storage->buffers->len;
  g_array_append_val (storage->buffers, buffer);
}

static void
touch (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Touch *at = data;
  CleaveStorage *storage = at->storage;
  guint root = assignment->location.root;
  CleaveBuffer *buffer;

  if (storage->assignments[root].flags & CLEAVE_ASSIGNMENT_CONSTANT)
    return;
  if (storage->buffer[root] == CLEAVE_NEVER)
    add_buffer (storage, root, at->step);
  buffer = &g_array_index (storage->buffers, CleaveBuffer, storage->buffer[root]);
  buffer->last = at->step;
  if ((assignment->flags & CLEAVE_ASSIGNMENT_OVERLAID) != 0)
    buffer->n_bytes =
        MAX (buffer->n_bytes, cleave_align_up (find_end (assignment), CLEAVE_BUFFER_ALIGNMENT));
  if ((assignment->flags & CLEAVE_ASSIGNMENT_LAPPED) != 0)
    buffer->n_bytes =
        MAX (buffer->n_bytes, cleave_align_up (find_reach (assignment), CLEAVE_BUFFER_ALIGNMENT));
}

static void
find_buffers (CleaveStorage *storage, const CleaveGraph *graph)
{
  storage->buffer = CLEAVE_NEW (guint, storage->n_values);
  for (guint v = 0; v < storage->n_values; v++)
    storage->buffer[v] = CLEAVE_NEVER;
  for (guint s = 0; s < storage->steps->len; s++)
    {
      Touch at = { storage, s };

      visit_step (storage, graph, &g_array_index (storage->steps, CleaveStep, s), touch, &at);
    }
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

static void
find_live (CleaveStorage *storage)
{
  gint64 *live = CLEAVE_NEW0 (gint64, storage->steps->len + 1);

  for (guint i = 0; i < storage->buffers->len; i++)
    {
      const CleaveBuffer *buffer = &g_array_index (storage->buffers, CleaveBuffer, i);

      live[buffer->first] += buffer->n_bytes;
      live[buffer->last + 1] -= buffer->n_bytes;
    }
  for (guint s = 0; s < storage->steps->len; s++)
    {
      live[s] += s == 0 ? 0 : live[s - 1];
      storage->peak = MAX (storage->peak, live[s]);
    }
  storage->live = live;
}

void
cleave_storage_measure (CleaveStorage *storage, const CleaveGraph *graph)
{
  g_clear_pointer (&storage->buffer, g_free);
  g_clear_pointer (&storage->live, g_free);
  g_array_set_size (storage->buffers, 0);
  storage->peak = 0;
  find_buffers (storage, graph);
  find_live (storage);
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

gint64 *
cleave_storage_get_live (const CleaveStorage *storage)
{
  gint64 *live = CLEAVE_NEW0 (gint64, storage->n_nodes + 1);

  for (guint s = 0; s < storage->steps->len; s++)
    {
      const CleaveNode *node = g_array_index (storage->steps, CleaveStep, s).node;

      if (node != NULL)
        {
          guint i = cleave_storage_position (storage, node);

          live[i] = MAX (live[i], storage->live[s]);
        }
    }
  return live;
}
