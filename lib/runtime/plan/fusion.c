/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the fused consumers of each step (the head). A head and its consumers form a group.
 * Consumers are steps right after the head on the same thread that wait for no other thread.
 * Consumers compute element by element, and their results have the layout of the head's result. All
 * consumers process a part of the head's result while the part is in the cache. The order of
 * operations for each element and all addresses stay the same.
 *
 * The first consumers may be epilogue ops, which the head's kernel applies in registers. The kernel
 * never stores the intermediate values of an expression pattern, so the steps of the pattern do not
 * wait for memory.
 *
 * A consumer that runs part by part starts before the other steps between the head and the
 * consumer. So the consumer must not overwrite memory that these steps still read, and must not
 * read memory that these steps still write. */

#include "../program-private.h"

/* Limit on the consumers of a head. Each consumer is checked against all consumers before it, and
 * further consumers save no time. */
#define MAX_CONSUMERS 64

typedef struct
{
  CleaveProgram *program;
  const CleaveStorage *storage;
  const guint *sequence; /* the steps of one thread, in the order in which the thread runs them */
  guint n;
  /* indexed like `sequence`: the description of the step as a fused consumer */
  CleaveFusedConsumer *fused;
  gboolean *is_epilogue_op; /* indexed by step: TRUE if the step is an epilogue op */
} Finding;

/* A head and its consumers. y is the head's result. */
typedef struct
{
  CleaveTask *head;
  guint first; /* number of the head's step */
  guint along; /* dimension of y in which a normalization must have its channels; CLEAVE_ALONG_NONE:
                  the head's kernel cannot apply normalizations */
  gboolean is_overlaid; /* y overlays an operand, and the head reads each part of the operand before
                           it overwrites the part */
  guint n_fused;
  const CleaveFusedConsumer *fused;
} Group;

static gint64
count_bytes (const CleaveView *view)
{
  gint64 n = 1;

  if (view->data == NULL || cleave_shape_n_elements (&view->type.shape) == 0)
    return 0;
  for (guint d = 0; d < view->type.shape.rank; d++)
    n += (view->type.shape.dim[d] - 1) * view->stride[d];
  return n * (gint64) cleave_element_size (view->type.element);
}

static gboolean
are_disjoint (const CleaveView *a, const CleaveView *b)
{
  const char *a_begin = a->data, *b_begin = b->data;
  gint64 n_a = count_bytes (a), n_b = count_bytes (b);

  for (guint d = 0; d < MAX (a->type.shape.rank, b->type.shape.rank); d++)
    if ((d < a->type.shape.rank && a->stride[d] < 0) ||
        (d < b->type.shape.rank && b->stride[d] < 0))
      return FALSE;
  return n_a == 0 || n_b == 0 || a_begin + n_a <= b_begin || b_begin + n_b <= a_begin;
}

static gboolean
have_same_layout (const CleaveView *a, const CleaveView *b)
{
  if (!cleave_view_type_fits (&a->type, &b->type))
    return FALSE;
  for (guint d = 0; d < a->type.shape.rank; d++)
    if (a->type.shape.dim[d] != 1 && a->stride[d] != b->stride[d])
      return FALSE;
  return TRUE;
}

static gboolean
are_same (const CleaveView *a, const CleaveView *b)
{
  return a->data == b->data && have_same_layout (a, b);
}

/* Returns whether a consumer, `instance`, may use `result`, which an earlier step of its group
 * writes part by part. The consumer runs for each part after the part is written. It must use only
 * this part, or no part of `result`. Sets `reads` to TRUE if the consumer reads `result`. */
static gboolean
reads_in_step (const CleaveKernelInstance *instance, const CleaveView *result, gboolean *reads)
{
  for (guint i = 0; i < instance->call.n_operands; i++)
    {
      const CleaveView *operand = &instance->operands[i];

      if (are_same (operand, result))
        *reads = TRUE;
      else if (!are_disjoint (operand, result))
        return FALSE;
    }
  return are_same (&instance->results[0], result) || are_disjoint (&instance->results[0], result);
}

/* Returns whether a later step may write `result` part by part, while an earlier step, `before`,
 * still runs. Each operand of `before` must be disjoint from `result`. If `by_elements` is TRUE,
 * `before` reads each element before the later step overwrites the element, so an operand may also
 * be the same memory as `result`. */
static gboolean
reads_before (const CleaveKernelInstance *before, const CleaveView *result, gboolean by_elements)
{
  for (guint i = 0; i < before->call.n_operands; i++)
    if (!are_disjoint (&before->operands[i], result) &&
        !(by_elements && are_same (&before->operands[i], result)))
      return FALSE;
  return TRUE;
}

static gboolean
goes_by_elements (const CleaveKernelFamily *family)
{
  return family->run_part != NULL || family->by_elements;
}

/* Returns whether a consumer may write `result`. If `result` overlays an operand of the head, the
 * head must read each element before the consumer overwrites that element. */
static gboolean
head_reads_first (const Group *group, const CleaveView *result)
{
  const CleaveTask *head = group->head;

  return (group->is_overlaid && are_same (result, &head->instance.results[0])) ||
         reads_before (&head->instance, result, goes_by_elements (head->family));
}

static gboolean
can_fuse (const Group *group, const CleaveTask *task)
{
  const CleaveTask *head = group->head;
  const CleaveView *result = task->instance.results;
  gboolean reads = FALSE;

  if (task->kind != CLEAVE_STEP_COMPUTE || task->family == NULL || task->family->run_part == NULL ||
      !have_same_layout (result, &head->instance.results[0]) ||
      !reads_in_step (&task->instance, &head->instance.results[0], &reads) ||
      !head_reads_first (group, result))
    return FALSE;
  for (guint i = 0; i < group->n_fused; i++)
    {
      const CleaveKernelInstance *instance = group->fused[i].instance;

      if (!reads_in_step (&task->instance, &instance->results[0], &reads) ||
          !reads_before (instance, result, TRUE))
        return FALSE;
    }
  return reads;
}

static gboolean
can_lead (const CleaveTask *task)
{
  return task->kind == CLEAVE_STEP_COMPUTE && task->instance.call.n_results == 1 &&
         task->family != NULL && task->family->reports_progress != NULL &&
         task->family->reports_progress (task->state);
}

static const CleaveAssignment *
find_assignment (const Finding *f, guint step)
{
  const CleaveNode *node = g_array_index (f->storage->steps, CleaveStep, step).node;

  return cleave_storage_assignment (f->storage, &node->results[0]);
}

/* Returns whether w can be the second operand of an epilogue op, and sets the fields of the op that
 * describe w. The operand w can be the value y with which an expression pattern began, a single
 * element, or a value with the layout of y. */
static gboolean
find_w (const CleaveView *y,
        const CleaveView *so_far,
        const CleaveView *w,
        CleaveEpilogueOp *epilogue_op)
{
  epilogue_op->w_is_before = are_same (w, y) && !are_same (w, so_far);
  epilogue_op->w_is_one =
      !epilogue_op->w_is_before && cleave_shape_n_elements (&w->type.shape) == 1;
  return epilogue_op->w_is_before ||
         (are_disjoint (w, y) && (epilogue_op->w_is_one || have_same_layout (w, y)));
}

/* Describes a step as an epilogue op on `so_far`, the value in registers. `so_far` is y or an
 * intermediate value of an expression pattern. An intermediate value is not stored, so its layout
 * may differ from the layout of y. Returns FALSE if the step cannot be an epilogue op. */
static gboolean
find_epilogue_op (const Group *group, const CleaveView *so_far, CleaveFusedConsumer *consumer)
{
  const CleaveKernelInstance *instance = consumer->instance;
  const CleaveView *y = &group->head->instance.results[0];
  CleaveEpilogueOp *epilogue_op = &consumer->epilogue_op;
  gboolean has_w = instance->call.n_operands == 2;

  if (consumer->family->epilogue_op == NULL || instance->call.n_operands < 1)
    return FALSE;
  *epilogue_op = (CleaveEpilogueOp){ .v = has_w && !are_same (&instance->operands[0], so_far) };
  epilogue_op->w = has_w ? 1 - epilogue_op->v : 0;
  if (!are_same (&instance->operands[epilogue_op->v], so_far) ||
      !cleave_tensor_type_equal (&instance->results[0].type, &y->type) ||
      (has_w && !find_w (y, so_far, &instance->operands[epilogue_op->w], epilogue_op)))
    return FALSE;
  epilogue_op->begins_pattern = so_far == y && !are_same (&instance->results[0], y);
  epilogue_op->op =
      consumer->family->epilogue_op (consumer->state, instance, epilogue_op->v, epilogue_op);
  if (epilogue_op->op == CLEAVE_EPILOGUE_NORMALIZE) /* the normalized channels must lie along
                                                       `along`, and the result must have the layout
                                                       of y */
    return epilogue_op->c == group->along && have_same_layout (&instance->results[0], y);
  return epilogue_op->op != CLEAVE_EPILOGUE_NONE && instance->call.n_operands <= 2;
}

/* Returns whether exactly one step reads the result of `step`: step `next`, as its operand `v`. */
static gboolean
is_passed_on (const Finding *f, guint step, guint next, guint v)
{
  const CleaveResult *result = find_assignment (f, step)->result;
  const CleaveNode *node = g_array_index (f->storage->steps, CleaveStep, next).node;
  const CleaveOperand *use = result->first_use;

  return use != NULL && use->next_use == NULL && use == &node->operands[v];
}

static CleaveFusedConsumer
make_consumer (CleaveTask *task)
{
  return (CleaveFusedConsumer){ .family = task->family,
                                .state = task->state,
                                .instance = &task->instance };
}

/* Finds steps that the head's kernel can apply as epilogue ops, from index i of `sequence` on. The
 * last of these steps is the first step whose result overwrites y, the head's result. The steps
 * before the last step compute intermediate values of an expression pattern. Returns the number of
 * steps. Example: the pattern y * clip (y + 3) has 3 steps, an Add, a Clip and a Mul. Returns 0 if
 * one of the steps cannot be an epilogue op, or if no step overwrites y. */
static guint
find_epilogue (const Finding *f, const Group *group, guint i)
{
  const CleaveView *y = &group->head->instance.results[0], *so_far = y;
  guint assignment = find_assignment (f, group->first)->location.root;

  for (guint n = 0; i + n < f->n && group->n_fused + n < MAX_CONSUMERS; n++)
    {
      guint step = f->sequence[i + n];
      CleaveTask *task = &f->program->tasks[step];
      CleaveFusedConsumer *consumer = &f->fused[i + n];

      if (task->kind != CLEAVE_STEP_COMPUTE || task->family == NULL ||
          cleave_waits_has (&f->program->schedule->needs, step))
        return 0;
      *consumer = make_consumer (task);
      if (!find_epilogue_op (group, so_far, consumer) ||
          (n > 0 && !is_passed_on (f, f->sequence[i + n - 1], step, consumer->epilogue_op.v)))
        return 0;
      so_far = &task->instance.results[0];
      if (are_same (so_far, y))
        return find_assignment (f, step)->location.root == assignment ? n + 1 : 0;
    }
  return 0;
}

static gboolean
does_epilogue (Group *group)
{
  const CleaveTask *head = group->head;

  return head->family->does_epilogue != NULL &&
         head->family->does_epilogue (head->state, &head->instance, &group->along) &&
         head_reads_first (group, &head->instance.results[0]);
}

static Group
begin_group (const Finding *f, guint i)
{
  CleaveTask *head = &f->program->tasks[f->sequence[i]];
  const CleaveStep *step = &g_array_index (f->storage->steps, CleaveStep, f->sequence[i]);

  head->instance.fused = &f->fused[i] + 1;
  return (Group){ .head = head,
                  .first = f->sequence[i],
                  .is_overlaid = step->kind == CLEAVE_STEP_COMPUTE &&
                                 cleave_storage_is_overlaid (f->storage, step->node),
                  .fused = head->instance.fused };
}

/* Finds the epilogue ops that the kernel of step `i` of `sequence` applies, and adds them to the
 * step. Returns the number of epilogue ops. */
static guint
add_epilogue (const Finding *f, guint i)
{
  CleaveKernelInstance *instance = &f->program->tasks[f->sequence[i]].instance;
  Group group = begin_group (f, i);
  guint n;

  if (!can_lead (group.head) || !does_epilogue (&group))
    return 0;
  while ((n = find_epilogue (f, &group, i + 1 + group.n_fused)) > 0)
    group.n_fused += n;
  instance->n_epilogue_ops = group.n_fused;
  for (n = 1; n <= instance->n_epilogue_ops; n++)
    f->is_epilogue_op[f->sequence[i + n]] = TRUE;
  return instance->n_epilogue_ops;
}

static gboolean
has_pattern (const CleaveKernelInstance *instance)
{
  for (guint i = 0; i < instance->n_epilogue_ops; i++)
    if (instance->fused[i].epilogue_op.begins_pattern)
      return TRUE;
  return FALSE;
}

/* Finds the fused consumers of step `i` of `sequence`, the head, and adds them to the head. The
 * first consumers are the head's epilogue ops. Returns the number of consumers. A step that becomes
 * a consumer loses its own epilogue ops; the steps of these ops may become consumers of the head,
 * too. A step whose epilogue ops contain an expression pattern cannot be a consumer. */
static guint
add_fused (const Finding *f, guint i)
{
  Group group = begin_group (f, i);

  if (!can_lead (group.head))
    return 0;
  group.n_fused = group.head->instance.n_epilogue_ops;
  for (guint next = i + 1 + group.n_fused; next < f->n && group.n_fused < MAX_CONSUMERS; next++)
    {
      CleaveTask *task = &f->program->tasks[f->sequence[next]];

      if (cleave_waits_has (&f->program->waits, f->sequence[next]) ||
          has_pattern (&task->instance) || !can_fuse (&group, task))
        break;
      task->instance.n_epilogue_ops = 0;
      f->fused[next] = make_consumer (task);
      group.n_fused++;
    }
  for (guint n = 1; n <= group.n_fused; n++)
    f->program->tasks[f->sequence[i + n]].is_fused = TRUE;
  group.head->instance.n_fused = group.n_fused;
  return group.n_fused;
}

typedef guint (*Add) (const Finding *f, guint i);

static void
add_all (CleaveProgram *program, const CleaveStorage *storage, gboolean *is_epilogue_op, Add add)
{
  const CleaveSchedule *schedule = program->schedule;
  CleaveFusedConsumer *fused = program->fused;

  for (guint t = 0; t < schedule->n_threads; fused += schedule->n_sequence[t++])
    {
      const Finding f = { program, storage,       schedule->sequence[t], schedule->n_sequence[t],
                          fused,   is_epilogue_op };

      for (guint i = 0; i < f.n; i++)
        i += add (&f, i);
    }
}

void
cleave_program_fuse (CleaveProgram *program, const CleaveMaking *making, const CleaveArena *arena)
{
  g_autofree gboolean *is_epilogue_op = g_new0 (gboolean, program->n_tasks + 1);

  program->fused = g_new0 (CleaveFusedConsumer, program->n_tasks + 1);
  add_all (program, making->storage, is_epilogue_op, add_epilogue);
  program->waits = cleave_arena_find_waits (arena, making->storage, making->graph, is_epilogue_op,
                                            program->schedule);
  add_all (program, making->storage, is_epilogue_op, add_fused);
}
