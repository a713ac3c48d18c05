/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Which steps follow: those that come right after a step on its thread, wait for no other, and
 * read and write element by element what lies as the result of that step does.  Each part of it
 * then goes through all of them while it is in the cache.  Nothing else changes: not the order in
 * which an element comes about, not where it lies, not what a step waits for.
 *
 * A step that is done early, part by part, must not overwrite what those that it overtakes still
 * read, nor read what they have not yet written. */

#include "program-private.h"

/* Each that follows is held against all before it; more would gain nothing. */
#define MAX_FOLLOWERS 64

/* A step and those that follow it. */
typedef struct
{
  CleaveTask *head;
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

/* What a follower is as a stage: it overwrites what the head makes, which is one of its operands,
 * and any other is a single value or lies alike. */
static gboolean
find_stage (const CleaveSite *head, CleaveFollower *follower)
{
  const CleaveSite *site = follower->site;
  const CleaveView *y = &head->results[0];
  CleaveStage *stage = &follower->stage;
  guint n = site->call.n_operands, v = 0;

  if (follower->family->stage == NULL || n < 1 || n > 2 || !are_same (&site->results[0], y))
    return FALSE;
  if (!are_same (&site->operands[0], y))
    v = n - 1;
  *stage = (CleaveStage){ .v = v, .w = n - 1 - v };
  if (!are_same (&site->operands[v], y))
    return FALSE;
  if (n == 2)
    {
      const CleaveView *w = &site->operands[stage->w];

      stage->w_is_one = cleave_shape_n_elements (&w->type.shape) == 1;
      if (are_same (w, y) || (!stage->w_is_one && !lie_alike (w, y)))
        return FALSE;
    }
  stage->op = follower->family->stage (follower->state, site, v, stage);
  return stage->op != CLEAVE_STAGE_NONE;
}

static guint
count_stages (const CleaveTask *task, CleaveFollower *followers, guint n)
{
  guint i = 0;

  if (n == 0 || task->family->does_stages == NULL ||
      !task->family->does_stages (task->state, &task->site))
    return 0;
  while (i < n && find_stage (&task->site, &followers[i]))
    i++;
  return i;
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

/* Those that follow step `i` of a sequence; returns how many. */
static guint
add_followers (
    CleaveProgram *program, const guint *sequence, guint n, guint i, CleaveFollower *followers)
{
  Group group = { .head = &program->tasks[sequence[i]], .followers = followers };

  if (!can_lead (group.head))
    return 0;
  for (i++; i < n && group.n_followers < MAX_FOLLOWERS && !waits (program->schedule, sequence[i]);
       i++)
    {
      CleaveTask *task = &program->tasks[sequence[i]];

      if (!can_follow (&group, task))
        break;
      task->follows = TRUE;
      followers[group.n_followers++] =
          (CleaveFollower){ .family = task->family, .state = task->state, .site = &task->site };
    }
  group.head->site.n_followers = group.n_followers;
  group.head->site.followers = followers;
  group.head->site.n_stages = count_stages (group.head, followers, group.n_followers);
  return group.n_followers;
}

void
cleave_program_find_followers (CleaveProgram *program)
{
  const CleaveSchedule *schedule = program->schedule;
  CleaveFollower *next;

  next = program->followers = g_new0 (CleaveFollower, program->n_tasks + 1);
  for (guint t = 0; t < schedule->n_threads; t++)
    for (guint i = 0; i < schedule->n_sequence[t]; i++)
      {
        guint n = add_followers (program, schedule->sequence[t], schedule->n_sequence[t], i, next);

        next += n;
        i += n;
      }
}
