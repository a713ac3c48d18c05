/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The steps work on the tensors that are bound, where these lie as the program would lay them out:
 * such an input is not brought in, such an output not brought out.  An input must be one that
 * nobody overwrites; an output has its buffer to itself. */

#include "program-private.h"

typedef struct
{
  CleaveProgram *program;
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets;  /* of each buffer */
  CleaveBorder **borders; /* of each buffer: the one whose tensor may take its place, or NULL */
} Finding;

static guint
buffer_of (const Finding *f, const CleaveHome *home)
{
  return f->storage->buffer[home->place.root];
}

static void
claim (const Finding *f, const CleaveHome *home, CleaveBorder *border)
{
  const CleaveTensorType *type = &home->result->type;
  guint buffer = buffer_of (f, home);

  f->borders[buffer] = border;
  border->memory = f->program->arena + f->offsets[buffer];
  for (guint d = 0; d < type->shape.rank; d++)
    border->stride[d] = home->place.stride[d];
}

/* Inputs that lie in a buffer of their own: what overwrites one has it moved into its own. */
static void
claim_inputs (const Finding *f)
{
  for (guint i = 0; i < f->program->n_inputs; i++)
    {
      CleaveResult *input = cleave_graph_get_input (f->graph, i);
      const CleaveHome *home = cleave_storage_home (f->storage, input);

      if (home == &f->storage->homes[home->place.root])
        claim (f, home, &f->program->inputs[i]);
    }
}

/* Outputs that are all of a buffer which is no input's and not yet another output's. */
static void
claim_outputs (const Finding *f)
{
  for (guint i = 0; i < f->program->n_outputs; i++)
    {
      CleaveResult *output = cleave_operand_get_result (cleave_graph_get_output (f->graph, i));
      const CleaveHome *home = cleave_storage_home (f->storage, output);
      const CleaveHome *root = &f->storage->homes[home->place.root];
      guint buffer = buffer_of (f, home);

      if (buffer != CLEAVE_NEVER && (root->flags & CLEAVE_HOME_INPUT) == 0 &&
          f->borders[buffer] == NULL && home->place.offset == 0 &&
          cleave_tensor_type_n_bytes (&output->type) ==
              cleave_tensor_type_n_bytes (&root->result->type))
        claim (f, home, &f->program->outputs[i]);
    }
}

static void
add_patch (const Finding *f, const CleaveResult *value, CleaveView *view)
{
  const CleaveHome *home = value == NULL ? NULL : cleave_storage_home (f->storage, value);
  guint buffer = home == NULL ? CLEAVE_NEVER : buffer_of (f, home);
  CleavePatch patch = { &view->data, view->data };

  if (buffer == CLEAVE_NEVER || f->borders[buffer] == NULL)
    return;
  if (f->borders[buffer]->patches == NULL)
    f->borders[buffer]->patches = g_array_new (FALSE, FALSE, sizeof (CleavePatch));
  g_array_append_val (f->borders[buffer]->patches, patch);
}

static void
add_patches (const Finding *f, const CleaveStep *step, CleaveTask *task)
{
  const CleaveNode *node = step->node;

  switch (step->kind)
    {
    case CLEAVE_STEP_LOAD:
      add_patch (f, &node->results[0], task->site.results);
      break;
    case CLEAVE_STEP_STORE:
      add_patch (f, cleave_operand_get_result (cleave_graph_get_output (f->graph, step->index)),
                 task->site.operands);
      break;
    case CLEAVE_STEP_COPY:
      add_patch (f, node->operands[step->index].result, task->site.operands);
      add_patch (f, &node->results[0], task->site.results);
      break;
    case CLEAVE_STEP_COMPUTE:
      for (guint i = 0; i < node->n_operands; i++)
        add_patch (f, node->operands[i].result, &task->site.operands[i]);
      for (guint r = 0; r < node->n_results; r++)
        add_patch (f, &node->results[r], &task->site.results[r]);
      break;
    case CLEAVE_STEP_JOIN:
      break;
    }
}

void
cleave_program_find_borders (CleaveProgram *program,
                             const CleaveStorage *storage,
                             const CleaveGraph *graph,
                             const gint64 *offsets)
{
  g_autofree CleaveBorder **borders = g_new0 (CleaveBorder *, storage->buffers->len + 1);
  Finding f = { program, storage, graph, offsets, borders };

  claim_inputs (&f);
  claim_outputs (&f);
  for (guint s = 0; s < program->n_tasks; s++)
    add_patches (&f, &g_array_index (storage->steps, CleaveStep, s), &program->tasks[s]);
}

/* Whether the tensor can take the place of the program's own memory. */
static gboolean
is_alike (const CleaveBorder *border)
{
  gsize size = cleave_element_size (border->type.element);

  return border->patches != NULL && (gsize) border->view.data % size == 0 &&
         cleave_strides_equal (&border->type.shape, border->stride, border->view.stride);
}

void
cleave_border_apply (CleaveBorder *border)
{
  border->direct = is_alike (border);
  for (guint i = 0; border->patches != NULL && i < border->patches->len; i++)
    {
      const CleavePatch *patch = &g_array_index (border->patches, CleavePatch, i);
      gint64 offset = patch->own - border->memory;

      *patch->data = border->direct ? (char *) border->view.data + offset : patch->own;
    }
}
