/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which steps follow: those that come right after a step on its thread, wait for no other, and
 * read and write element by element what lies as the result of that step does.  Each part of it
 * then goes through all of them while it is in the cache.  Nothing else changes: not the order in
 * which an element comes about, not where it lies.
 *
 * The first of them may be stages: the step does them itself, in registers.  What they make on a
 * detour is never stored, so that they wait for no memory.
 *
 * A step that is done early, part by part, must not overwrite what those that it overtakes still
 * read, nor read what they have not yet written. */

#include "../program-private.h"

/* Each that follows is held against all before it; more would gain nothing. */
#define MAX_FOLLOWERS 64

typedef struct
{
  CleaveProgram *program;
  const CleaveStorage *storage;
  const guint *sequence; /* of one thread: n steps */
  guint n;
  CleaveFollower *followers; /* of each of them: itself as one */
  gboolean *is_stage;        /* of all steps */
} Finding;

/* A step and those that follow it. */
typedef struct
{
  CleaveTask *head;
  guint first; /* its step */
  guint along; /* how it goes when it does stages */
  guint n_followers;
  const CleaveFollower *followers;
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
are_apart (const CleaveView *a, const CleaveView *b)
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
lie_alike (const CleaveView *a, const CleaveView *b)
{
  if (!cleave_tensor_type_equal (&a->type, &b->type))
    return FALSE;
  for (guint d = 0; d < a->type.shape.rank; d++)
    if (a->type.shape.dim[d] != 1 && a->stride[d] != b->stride[d])
      return FALSE;
  return TRUE;
}

static gboolean
are_same (const CleaveView *a, const CleaveView *b)
{
  return a->data == b->data && lie_alike (a, b);
}

/* Whether part by part, `site` reads what a step before it, with `result`, writes of that part. */
static gboolean
reads_in_step (const CleaveSite *site, const CleaveView *result, gboolean *reads)
{
  for (guint i = 0; i < site->call.n_operands; i++)
    {
      const CleaveView *operand = &site->operands[i];

      if (are_same (operand, result))
        *reads = TRUE;
      else if (!are_apart (operand, result))
        return FALSE;
    }
  return are_same (&site->results[0], result) || are_apart (&site->results[0], result);
}

/* Whether `before` has read all that `result` overwrites, part by part.  A head that is no follower
 * by nature may read any part at any time. */
static gboolean
is_overtaken (const CleaveSite *before, const CleaveView *result, gboolean by_elements)
{
  for (guint i = 0; i < before->call.n_operands; i++)
    if (!are_apart (&before->operands[i], result) &&
        !(by_elements && are_same (&before->operands[i], result)))
      return FALSE;
  return TRUE;
}

static gboolean
goes_by_elements (const CleaveKernelFamily *family)
{
  return family->run_part != NULL || family->by_elements;
}

static gboolean
can_follow (const Group *group, const CleaveTask *task)
{
  const CleaveTask *head = group->head;
  const CleaveView *result = task->site.results;
  gboolean reads = FALSE;

  if (task->kind != CLEAVE_STEP_COMPUTE || task->family == NULL || task->family->run_part == NULL ||
      !lie_alike (result, &head->site.results[0]) ||
      !reads_in_step (&task->site, &head->site.results[0], &reads) ||
      !is_overtaken (&head->site, result, goes_by_elements (head->family)))
    return FALSE;
  for (guint i = 0; i < group->n_followers; i++)
    {
      const CleaveSite *site = group->followers[i].site;

      if (!reads_in_step (&task->site, &site->results[0], &reads) ||
          !is_overtaken (site, result, TRUE))
        return FALSE;
    }
  return reads;
}

static gboolean
can_lead (const CleaveTask *task)
{
  return task->kind == CLEAVE_STEP_COMPUTE && task->site.call.n_results == 1 &&
         task->family != NULL && task->family->tells != NULL && task->family->tells (task->state);
}

static gboolean
waits (const CleaveSchedule *schedule, guint step)
{
  return schedule->first_wait[step + 1] > schedule->first_wait[step];
}

static const CleaveHome *
find_home (const Finding *f, guint step)
{
  const CleaveNode *node = g_array_index (f->storage->steps, CleaveStep, step).node;

  return cleave_storage_home (f->storage, &node->results[0]);
}

/* The other operand of a stage is y, of before a detour, a single value or lies alike. */
static gboolean
find_w (const CleaveView *y, const CleaveView *so_far, const CleaveView *w, CleaveEpilogue *stage)
{
  stage->w_is_before = are_same (w, y) && !are_same (w, so_far);
  stage->w_is_one = !stage->w_is_before && cleave_shape_n_elements (&w->type.shape) == 1;
  return stage->w_is_before || (are_apart (w, y) && (stage->w_is_one || lie_alike (w, y)));
}

/* What a step is as a stage of what is `so_far` in registers, either the head's y or something on a
 * detour from it. */
static gboolean
find_stage (const Group *group, const CleaveView *so_far, CleaveFollower *follower)
{
  const CleaveSite *site = follower->site;
  const CleaveView *y = &group->head->site.results[0];
  CleaveEpilogue *stage = &follower->stage;
  gboolean has_w = site->call.n_operands == 2;

  if (follower->family->stage == NULL || site->call.n_operands < 1)
    return FALSE;
  *stage = (CleaveEpilogue){ .v = has_w && !are_same (&site->operands[0], so_far) };
  stage->w = has_w ? 1 - stage->v : 0;
  if (!are_same (&site->operands[stage->v], so_far) || !lie_alike (&site->results[0], y) ||
      (has_w && !find_w (y, so_far, &site->operands[stage->w], stage)))
    return FALSE;
  stage->begins_detour = so_far == y && !are_same (&site->results[0], y);
  stage->op = follower->family->stage (follower->state, site, stage->v, stage);
  if (stage->op == CLEAVE_STAGE_NORMALISE)
    return stage->c == group->along;
  return stage->op != CLEAVE_STAGE_NONE && site->call.n_operands <= 2;
}

/* Whether step `next`, which takes it as its operand `v`, is all that reads what a step makes. */
static gboolean
is_passed_on (const Finding *f, guint step, guint next, guint v)
{
  const CleaveResult *result = find_home (f, step)->result;
  const CleaveNode *node = g_array_index (f->storage->steps, CleaveStep, next).node;
  const CleaveOperand *use = result->first_use;

  return use != NULL && use->next_use == NULL && use == &node->operands[v];
}

static CleaveFollower
make_follower (CleaveTask *task)
{
  return (CleaveFollower){ .family = task->family, .state = task->state, .site = &task->site };
}

/* How many steps from the i-th of a sequence on, as stages, make of y what overwrites y; 0: none.
 * They need no memory of their own, so they wait for values alone. */
static guint
find_stages (const Finding *f, const Group *group, guint i)
{
  const CleaveView *y = &group->head->site.results[0], *so_far = y;
  guint home = find_home (f, group->first)->place.root;

  for (guint n = 0; i + n < f->n && group->n_followers + n < MAX_FOLLOWERS; n++)
    {
      guint step = f->sequence[i + n];
      CleaveTask *task = &f->program->tasks[step];
      CleaveFollower *follower = &f->followers[i + n];

      if (task->kind != CLEAVE_STEP_COMPUTE || task->family == NULL ||
          cleave_schedule_needs (f->program->schedule, step))
        return 0;
      *follower = make_follower (task);
      if (!find_stage (group, so_far, follower) ||
          (n > 0 && !is_passed_on (f, f->sequence[i + n - 1], step, follower->stage.v)))
        return 0;
      so_far = &task->site.results[0];
      if (are_same (so_far, y))
        return find_home (f, step)->place.root == home ? n + 1 : 0;
    }
  return 0;
}

static gboolean
does_stages (const CleaveTask *head, guint *along)
{
  return head->family->does_stages != NULL &&
         head->family->does_stages (head->state, &head->site, along) &&
         is_overtaken (&head->site, &head->site.results[0], goes_by_elements (head->family));
}

static Group
begin_group (const Finding *f, guint i)
{
  CleaveTask *head = &f->program->tasks[f->sequence[i]];

  head->site.followers = &f->followers[i] + 1;
  return (Group){ .head = head, .first = f->sequence[i], .followers = head->site.followers };
}

/* The stages of step `i` of a sequence; returns how many. */
static guint
add_stages (const Finding *f, guint i)
{
  CleaveSite *site = &f->program->tasks[f->sequence[i]].site;
  Group group = begin_group (f, i);
  guint n;

  if (!can_lead (group.head) || !does_stages (group.head, &group.along))
    return 0;
  while ((n = find_stages (f, &group, i + 1 + group.n_followers)) > 0)
    group.n_followers += n;
  site->n_stages = group.n_followers;
  for (n = 1; n <= site->n_stages; n++)
    f->is_stage[f->sequence[i + n]] = TRUE;
  return site->n_stages;
}

static gboolean
has_detour (const CleaveSite *site)
{
  for (guint i = 0; i < site->n_stages; i++)
    if (site->followers[i].stage.begins_detour)
      return TRUE;
  return FALSE;
}

/* Those that follow step `i` of a sequence, its stages first; returns how many.  What leads stages
 * itself goes along with its first, unless they are a detour. */
static guint
add_followers (const Finding *f, guint i)
{
  Group group = begin_group (f, i);

  if (!can_lead (group.head))
    return 0;
  group.n_followers = group.head->site.n_stages;
  for (guint next = i + 1 + group.n_followers; next < f->n && group.n_followers < MAX_FOLLOWERS;
       next++)
    {
      CleaveTask *task = &f->program->tasks[f->sequence[next]];

      if (waits (f->program->schedule, f->sequence[next]) || has_detour (&task->site) ||
          !can_follow (&group, task))
        break;
      task->site.n_stages = 0;
      f->followers[next] = make_follower (task);
      group.n_followers++;
    }
  for (guint n = 1; n <= group.n_followers; n++)
    f->program->tasks[f->sequence[i + n]].follows = TRUE;
  group.head->site.n_followers = group.n_followers;
  return group.n_followers;
}

typedef guint (*Add) (const Finding *f, guint i);

static void
add_all (CleaveProgram *program, const CleaveStorage *storage, gboolean *is_stage, Add add)
{
  const CleaveSchedule *schedule = program->schedule;
  CleaveFollower *followers = program->followers;

  for (guint t = 0; t < schedule->n_threads; followers += schedule->n_sequence[t++])
    {
      const Finding f = { program,   storage, schedule->sequence[t], schedule->n_sequence[t],
                          followers, is_stage };

      for (guint i = 0; i < f.n; i++)
        i += add (&f, i);
    }
}

void
cleave_program_find_followers (CleaveProgram *program,
                               const CleaveMaking *making,
                               const CleaveArena *arena)
{
  g_autofree gboolean *is_stage = g_new0 (gboolean, program->n_tasks + 1);

  program->followers = g_new0 (CleaveFollower, program->n_tasks + 1);
  add_all (program, making->storage, is_stage, add_stages);
  cleave_arena_add_waits (arena, making->storage, making->graph, is_stage, program->schedule);
  add_all (program, making->storage, is_stage, add_followers);
}
