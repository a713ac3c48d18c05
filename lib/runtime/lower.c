/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes the tasks of a program: finds the views of each step in the arena, and prepares its
 * kernel. */

#include "../ir/memory.h"
#include "constants.h"
#include "program-private.h"
#include "quantized-tiles.h"
#include "shared-calls.h"
#include "task-copies.h"
#include "through-scratch.h"

typedef struct
{
  CleaveProgram *program;
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const gint64 *offsets; /* indexed by buffer: byte offset in the arena */
  gboolean reference;
  gint64 output_bytes;
  CleaveConstants *constants;
  CleaveSharedCalls *shared;
  const CleaveNode *join; /* the join whose ranges are in `parts` */
  CleaveRange *parts;     /* indexed by operand of `join`: the operand's range in the join */
} Preparing;

static char *
find_memory (const Preparing *p, guint root)
{
  return p->program->arena + p->offsets[p->storage->buffer[root]];
}

static CleaveView
make_view (const Preparing *p, const CleaveAssignment *assignment)
{
  CleaveView view = { .type = assignment->result->type };
  gint64 size = (gint64) cleave_element_size (view.type.element);
  CleaveTensor *constant = cleave_constants_get (p->constants, assignment->result);

  if (constant != NULL)
    return cleave_view_tensor (
        constant); /* a constant is only read, so its view may refer to the constant itself */
  if (cleave_node_is_fixed (assignment->result->node))
    return view; /* no memory for the constant: the view has no data, and cleave_constants_check()
                    reports the error */
  view.data = find_memory (p, assignment->location.root) + assignment->location.offset * size;
  for (guint d = 0; d < view.type.shape.rank; d++)
    view.stride[d] = assignment->location.stride[d];
  return view;
}

/* Returns the view of a value that a step reads at run time. If the value is constant, the program
 * keeps the constant. */
static CleaveView
view_read (const Preparing *p, const CleaveResult *value)
{
  const CleaveAssignment *assignment = cleave_storage_assignment (p->storage, value);

  cleave_constants_keep (p->constants, value, p->program->constants);
  return make_view (p, assignment);
}

/* Returns the memory order in which a step needs operand `operand`, if the operand is a constant in
 * another memory order. Returns 0 if the step can read the constant in its own memory order. */
static CleaveMemoryOrder
find_order (const Preparing *p, const CleaveNode *node, guint operand)
{
  const CleaveResult *x = node->operands[operand].result;
  CleaveMemoryOrder order =
      p->storage->orders[cleave_storage_first_value (p->storage, x->node) + x->index];
  CleaveTensor *constant = cleave_constants_get (p->constants, x);

  return p->reference || constant == NULL || !cleave_memory_order_matters (node, operand) ||
                 cleave_memory_order_fits (order, &x->type.shape,
                                           cleave_tensor_get_strides (constant))
             ? 0
             : order;
}

static void
put_in_order (const CleaveTensor *base, gconstpointer data, gpointer to)
{
  CleaveView from = cleave_view_tensor (base), view = { .data = to, .type = from.type };

  cleave_memory_order_strides (*(const CleaveMemoryOrder *) data, &view.type.shape, view.stride);
  cleave_view_copy (&view, &from);
}

/* Returns a view of a copy of the constant in memory order `order`. All slices of one base share
 * one copy. */
static CleaveView
view_in_order (const Preparing *p, CleaveTensor *constant, CleaveMemoryOrder order)
{
  g_autofree char *key = g_strdup_printf ("order %x", order);
  CleaveRange range;
  CleaveTensor *base = cleave_tensor_get_base (constant, &range);
  CleaveView view = { .type = *cleave_tensor_get_type (base) };

  view.data = (gpointer) cleave_weights_get (p->program->weights, base, key,
                                             (gsize) cleave_tensor_type_n_bytes (&view.type),
                                             put_in_order, &order);
  cleave_memory_order_strides (order, &view.type.shape, view.stride);
  return cleave_view_slice (&view, &range);
}

static CleaveView
view_operand (const Preparing *p, const CleaveNode *node, guint operand)
{
  const CleaveResult *x = node->operands[operand].result;
  CleaveMemoryOrder order = find_order (p, node, operand);

  return order == 0 ? make_view (p, cleave_storage_assignment (p->storage, x))
                    : view_in_order (p, cleave_constants_get (p->constants, x), order);
}

static void
prepare_node (const Preparing *p, const CleaveNode *node, CleaveKernelInstance *instance)
{
  CleaveTensorType *operands = g_new0 (CleaveTensorType, node->n_operands);
  CleaveTensorType *results = g_new0 (CleaveTensorType, node->n_results);

  instance->operands = g_new0 (CleaveView, node->n_operands + node->n_results);
  instance->results = instance->operands + node->n_operands;
  instance->constants = g_new0 (CleaveTensor *, node->n_operands);
  for (guint i = 0; i < node->n_operands; i++)
    {
      const CleaveResult *operand = node->operands[i].result;

      if (operand == NULL)
        continue;
      instance->operands[i] = view_operand (p, node, i);
      operands[i] = instance->operands[i].type;
      instance->constants[i] = cleave_constants_get (p->constants, operand);
    }
  for (guint r = 0; r < node->n_results; r++)
    {
      instance->results[r] =
          make_view (p, cleave_storage_assignment (p->storage, &node->results[r]));
      results[r] = instance->results[r].type;
    }
  instance->call = (CleaveCall){ .op = node->op,
                                 .attrs = cleave_attrs_copy (node->op, node->attrs),
                                 .n_operands = node->n_operands,
                                 .n_results = node->n_results,
                                 .operands = operands,
                                 .results = results };
}

/* Returns the range of a COPY step's operand in its join. The copies of one join are consecutive
 * steps, so the ranges of a join are computed once. */
static const CleaveRange *
find_part (Preparing *p, const CleaveStep *step)
{
  if (p->join != step->node)
    {
      g_free (p->parts);
      p->parts = cleave_join_ranges (step->node);
      p->join = step->node;
    }
  return &p->parts[step->index];
}

static void
prepare_join_copy (Preparing *p, const CleaveStep *step, CleaveTask *task)
{
  const CleaveRange *box = &g_array_index (p->storage->boxes, CleaveRange, step->box);
  CleaveView from = view_read (p, step->node->operands[step->index].result);
  CleaveView to = make_view (p, cleave_storage_assignment (p->storage, &step->node->results[0]));
  CleaveRange range = cleave_range_relative (box, find_part (p, step));

  from = cleave_view_slice (&from, &range);
  to = cleave_view_slice (&to, box);
  cleave_task_set_copy (task, &from, &to);
}

/* Returns whether at least one result of the call has elements. */
static gboolean
has_elements (const CleaveCall *call)
{
  for (guint r = 0; r < call->n_results; r++)
    if (cleave_shape_n_elements (&call->results[r].shape) > 0)
      return TRUE;
  return FALSE;
}

/* Returns the kernel family of a call; NULL: the reference kernel. A call whose results are empty
 * uses the reference kernel, since fast kernels divide by extents. An op without `compute` is a
 * quantized group: check_kernels() has already refused every other op without `compute`. */
static const CleaveKernelFamily *
find_family (const Preparing *p, const CleaveCall *call)
{
  if (call->op->compute == NULL)
    return &cleave_kernel_quantized_tiles;
  return p->reference || !has_elements (call) ? NULL : cleave_kernel_find (call);
}

/* Returns whether the kernel computes the result row by row, and reads the rows of its operand in
 * the same order. */
static gboolean
goes_by_rows (const CleaveTask *task)
{
  const CleaveKernelFamily *family = task->family;

  if (family == &cleave_kernel_quantized_tiles)
    return cleave_quantized_tiles_are_rows (task->state);
  return family != NULL && family->reports_progress != NULL &&
         family->reports_progress (task->state);
}

static void
find_kernel (const Preparing *p, const CleaveNode *node, CleaveTask *task, gsize *n_scratch)
{
  const CleaveKernelFamily *family = find_family (p, &task->instance.call);
  gboolean shares =
      !cleave_storage_is_overlaid (p->storage, node) && cleave_shared_calls_serve (task);

  if (shares && cleave_shared_calls_take (p->shared, node, task, n_scratch))
    return;
  if (family != NULL &&
      family->prepare (&task->instance, p->program->weights, &task->state, n_scratch))
    task->family = family;
  else
    task->state = NULL; /* if `prepare` returned FALSE, it has freed the state */
  if (cleave_storage_is_overlaid (p->storage, node) && !goes_by_rows (task))
    cleave_task_go_through_scratch (task, n_scratch);
  if (shares)
    cleave_shared_calls_add (p->shared, node, task, *n_scratch);
}

/* Makes the program keep the constants that the kernel reads at run time. If the kernel reads only
 * a packed copy of an operand, sets the operand's data pointer to NULL. */
static void
keep_operands (const Preparing *p, const CleaveNode *node, CleaveTask *task)
{
  const CleaveKernelFamily *family = task->family;

  for (guint i = 0; i < node->n_operands; i++)
    {
      if (node->operands[i].result == NULL)
        continue;
      if (family != NULL && family->reads != NULL && !family->reads (task->state, i))
        task->instance.operands[i].data = NULL;
      else if (find_order (p, node, i) == 0)
        view_read (p, node->operands[i].result);
    }
  g_clear_pointer (&task->instance.constants, g_free);
}

static gint64
count_outputs (const CleaveProgram *program)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < program->n_outputs; i++)
    n_bytes += cleave_tensor_type_n_bytes (&program->outputs[i].type);
  return n_bytes;
}

/* Returns whether a step uses stores that bypass the cache. A COPY step uses these stores if the
 * result of its join is large. LOAD and STORE steps use them if all outputs of the program together
 * are large, even if the step itself copies few bytes. */
static gboolean
is_large (const Preparing *p, const CleaveStep *step)
{
  gint64 n_bytes = p->output_bytes;

  if (step->kind == CLEAVE_STEP_COPY)
    n_bytes = cleave_tensor_type_n_bytes (&step->node->results[0].type);
  return n_bytes >= CLEAVE_STREAM_BYTES;
}

static gsize
prepare_task (Preparing *p, const CleaveStep *step, CleaveTask *task)
{
  gsize n_scratch = 0;
  CleaveView view;

  task->kind = step->kind;
  task->index = step->index;
  task->streams = is_large (p, step);
  switch (step->kind)
    {
    case CLEAVE_STEP_LOAD:
      view = view_read (p, &step->node->results[0]);
      task->part = g_memdup2 (&g_array_index (p->storage->boxes, CleaveRange, step->box),
                              sizeof (CleaveRange));
      view = cleave_view_slice (&view, task->part);
      task->name = g_strdup (p->program->inputs[step->index].name);
      task->instance.results = g_memdup2 (&view, sizeof view);
      break;
    case CLEAVE_STEP_STORE:
      view = view_read (
          p, cleave_operand_get_result (cleave_graph_get_output (p->graph, step->index)));
      task->name = g_strdup (p->program->outputs[step->index].name);
      task->instance.operands = g_memdup2 (&view, sizeof view);
      break;
    case CLEAVE_STEP_COPY:
      prepare_join_copy (p, step, task);
      task->name = g_strdup (step->node->name);
      break;
    case CLEAVE_STEP_COMPUTE:
      prepare_node (p, step->node, &task->instance);
      task->name = g_strdup (step->node->name);
      find_kernel (p, step->node, task, &n_scratch);
      keep_operands (p, step->node, task);
      if (!p->reference)
        cleave_task_find_rows (task);
      break;
    case CLEAVE_STEP_JOIN:
      break;
    }
  return n_scratch;
}

static gint64
count_constants (const GPtrArray *constants)
{
  gint64 n_bytes = 0;

  for (guint i = 0; i < constants->len; i++)
    n_bytes += cleave_tensor_type_n_bytes (cleave_tensor_get_type (constants->pdata[i]));
  return n_bytes;
}

static gboolean
make_scratch (CleaveProgram *program, const gsize *n_scratch, GError **error)
{
  guint n_threads = program->schedule->n_threads;
  g_autofree gsize *most = g_new0 (gsize, n_threads);

  for (guint s = 0; s < program->n_tasks; s++)
    most[program->schedule->thread[s]] = MAX (most[program->schedule->thread[s]], n_scratch[s]);
  program->scratch = g_new0 (char *, n_threads);
  for (guint t = 0; t < n_threads; t++)
    if (most[t] > 0)
      {
        program->scratch[t] = cleave_memory_try ((gint64) most[t], CLEAVE_BUFFER_ALIGNMENT,
                                                 "kernels' scratch", error);
        if (program->scratch[t] == NULL)
          return FALSE;
        program->stats.scratch_bytes += (gint64) most[t];
      }
  return TRUE;
}

gboolean
cleave_program_prepare (CleaveProgram *program,
                        const CleaveMaking *making,
                        const CleaveArena *arena,
                        GError **error)
{
  const CleaveStorage *storage = making->storage;
  g_autoptr (CleaveConstants) constants =
      cleave_constants_new (storage, making->graph, program->weights, making->given);
  g_autoptr (CleaveSharedCalls) shared = cleave_shared_calls_new ();
  Preparing p = { .program = program,
                  .storage = storage,
                  .graph = making->graph,
                  .offsets = arena->offsets,
                  .reference = making->reference,
                  .output_bytes = count_outputs (program),
                  .constants = constants,
                  .shared = shared };
  g_autofree gsize *n_scratch = NULL;

  program->n_tasks = storage->steps->len;
  program->tasks = g_aligned_alloc0 (program->n_tasks, sizeof (CleaveTask), CLEAVE_CACHE_LINE);
  n_scratch = g_new0 (gsize, program->n_tasks + 1);
  for (guint s = 0; s < program->n_tasks; s++)
    {
      const CleaveStep *step = &g_array_index (storage->steps, CleaveStep, s);

      n_scratch[s] = prepare_task (&p, step, &program->tasks[s]);
      if (!cleave_constants_check (constants, error))
        break;
      cleave_constants_end_step (constants, step);
      program->stats.n_steps += step->kind != CLEAVE_STEP_JOIN;
    }
  g_free (p.parts);
  if (!cleave_constants_check (constants, NULL) ||
      !cleave_weights_check (program->weights, error) || !make_scratch (program, n_scratch, error))
    return FALSE;
  if (making->measures)
    return TRUE;
  cleave_program_fuse (program, making, arena);
  cleave_program_group_stores (program);
  cleave_program_find_footprints (program);
  cleave_program_find_bindings (program, storage, making->graph, arena->offsets);
  program->stats.weight_bytes =
      count_constants (program->constants) + cleave_weights_get_n_bytes (program->weights);
  return TRUE;
}
