/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Lets steps use a bound tensor directly if the tensor has the strides that the program uses for
 * the value. Then no LOAD or STORE step copies the value. No node may overwrite an input that is
 * used directly. An output that is used directly must have a buffer of its own. */

#include "program-private.h"

typedef struct
{
  CleaveProgram *program;
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets;    /* indexed by buffer: byte offset in the arena */
  CleaveBinding **bindings; /* indexed by buffer: the binding whose bound tensor may replace the
                               buffer; NULL: none */
  /* indexed by buffer: TRUE if a lap moved another value into the buffer (cleave_storage_lap()). A
   * bound tensor may have no room for the moved value, so it does not replace the buffer. */
  gboolean *is_shared;
} Finding;

static guint
buffer_of (const Finding *f, const CleaveAssignment *assignment)
{
  return f->storage->buffer[assignment->location.root];
}

/* Finds the buffers into which a lap moved another value. */
static void
find_shared (const Finding *f)
{
  for (guint v = 0; v < f->storage->n_values; v++)
    {
      const CleaveAssignment *assignment = &f->storage->assignments[v];

      if ((assignment->flags & CLEAVE_ASSIGNMENT_LAPPED) != 0 &&
          buffer_of (f, assignment) != CLEAVE_NEVER)
        f->is_shared[buffer_of (f, assignment)] = TRUE;
    }
}

static void
claim (const Finding *f, const CleaveAssignment *assignment, CleaveBinding *binding)
{
  const CleaveTensorType *type = &assignment->result->type;
  guint buffer = buffer_of (f, assignment);

  f->bindings[buffer] = binding;
  binding->memory = f->program->arena + f->offsets[buffer];
  for (guint d = 0; d < type->shape.rank; d++)
    binding->stride[d] = assignment->location.stride[d];
}

/* Lets the bound tensor of an input replace the input's buffer, with two exceptions. An input that
 * a node overwrites keeps a buffer in the arena, since this buffer was made for the node's result.
 * An input that shares its buffer with another value because of a lap also keeps its buffer in the
 * arena. */
static void
claim_inputs (const Finding *f)
{
  for (guint i = 0; i < f->program->n_inputs; i++)
    {
      CleaveResult *input = cleave_graph_get_input (f->graph, i);
      const CleaveAssignment *assignment = cleave_storage_assignment (f->storage, input);

      if (assignment == &f->storage->assignments[assignment->location.root] &&
          !f->is_shared[buffer_of (f, assignment)])
        claim (f, assignment, &f->program->inputs[i]);
    }
}

/* Lets the bound tensor of an output replace the output's buffer under two conditions. The output
 * must fill the buffer, and neither an input, an earlier output nor a lap may use the buffer. */
static void
claim_outputs (const Finding *f)
{
  for (guint i = 0; i < f->program->n_outputs; i++)
    {
      CleaveResult *output = cleave_operand_get_result (cleave_graph_get_output (f->graph, i));
      const CleaveAssignment *assignment = cleave_storage_assignment (f->storage, output);
      const CleaveAssignment *root = &f->storage->assignments[assignment->location.root];
      guint buffer = buffer_of (f, assignment);

      if (buffer != CLEAVE_NEVER && (root->flags & CLEAVE_ASSIGNMENT_INPUT) == 0 &&
          f->bindings[buffer] == NULL && !f->is_shared[buffer] &&
          assignment->location.offset == 0 &&
          cleave_tensor_type_n_bytes (&output->type) ==
              cleave_tensor_type_n_bytes (&root->result->type))
        claim (f, assignment, &f->program->outputs[i]);
    }
}

static void
add_patch (const Finding *f, const CleaveResult *value, gpointer *data)
{
  const CleaveAssignment *assignment =
      value == NULL ? NULL : cleave_storage_assignment (f->storage, value);
  guint buffer = assignment == NULL ? CLEAVE_NEVER : buffer_of (f, assignment);
  CleavePatch patch = { data, *data };

  if (buffer == CLEAVE_NEVER || f->bindings[buffer] == NULL)
    return;
  if (f->bindings[buffer]->patches == NULL)
    f->bindings[buffer]->patches = g_array_new (FALSE, FALSE, sizeof (CleavePatch));
  g_array_append_val (f->bindings[buffer]->patches, patch);
}

/* If the task is a row copy, adds a patch (CleavePatch) for each of its two addresses. The copy
 * reads from the address of `from`, and writes to the address of the result of `node`. */
static void
add_row_patches (const Finding *f,
                 const CleaveResult *from,
                 const CleaveNode *node,
                 CleaveTask *task)
{
  if (task->rows.n_rows == 0)
    return;
  add_patch (f, from, (gpointer *) &task->rows.from);
  add_patch (f, &node->results[0], (gpointer *) &task->rows.to);
}

static void
add_patches (const Finding *f, const CleaveStep *step, CleaveTask *task)
{
  const CleaveNode *node = step->node;

  switch (step->kind)
    {
    case CLEAVE_STEP_LOAD:
      add_patch (f, &node->results[0], &task->instance.results[0].data);
      break;
    case CLEAVE_STEP_STORE:
      add_patch (f, cleave_operand_get_result (cleave_graph_get_output (f->graph, step->index)),
                 &task->instance.operands[0].data);
      break;
    case CLEAVE_STEP_COPY:
      add_patch (f, node->operands[step->index].result, &task->instance.operands[0].data);
      add_patch (f, &node->results[0], &task->instance.results[0].data);
      add_row_patches (f, node->operands[step->index].result, node, task);
      break;
    case CLEAVE_STEP_COMPUTE:
      for (guint i = 0; i < node->n_operands; i++)
        add_patch (f, node->operands[i].result, &task->instance.operands[i].data);
      for (guint r = 0; r < node->n_results; r++)
        add_patch (f, &node->results[r], &task->instance.results[r].data);
      if (node->n_operands > 0)
        add_row_patches (f, node->operands[0].result, node, task);
      break;
    case CLEAVE_STEP_JOIN:
      break;
    }
}

void
cleave_program_find_bindings (CleaveProgram *program,
                              const CleaveStorage *storage,
                              const CleaveGraph *graph,
                              const gint64 *offsets)
{
  g_autofree CleaveBinding **bindings = g_new0 (CleaveBinding *, storage->buffers->len + 1);
  g_autofree gboolean *is_shared = g_new0 (gboolean, storage->buffers->len + 1);
  Finding f = { program, storage, graph, offsets, bindings, is_shared };

  find_shared (&f);
  claim_inputs (&f);
  claim_outputs (&f);
  for (guint s = 0; s < program->n_tasks; s++)
    add_patches (&f, &g_array_index (storage->steps, CleaveStep, s), &program->tasks[s]);
}

/* Returns whether steps can use the bound tensor instead of the value's memory in the arena: the
 * tensor is aligned to its element size and has the value's strides. */
static gboolean
can_replace_memory (const CleaveBinding *binding)
{
  gsize size = cleave_element_size (binding->type.element);

  return binding->patches != NULL && (gsize) binding->view.data % size == 0 &&
         cleave_strides_equal (&binding->type.shape, binding->stride, binding->view.stride);
}

void
cleave_binding_apply (CleaveBinding *binding)
{
  binding->direct = can_replace_memory (binding);
  for (guint i = 0; binding->patches != NULL && i < binding->patches->len; i++)
    {
      const CleavePatch *patch = &g_array_index (binding->patches, CleavePatch, i);
      gint64 offset = patch->own - binding->memory;

      *patch->data = binding->direct ? (char *) binding->view.data + offset : patch->own;
    }
}
