/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Groups adjacent STORE steps whose outputs are parts of one value. A group stores row by row, and
 * so reads each row of the value once, from begin to end. A step that stores one part alone also
 * fetches bytes of the neighboring parts, which share its cache lines. */

#include "../program-private.h"

/* Limit on the number of outputs that are stored together: the size of the arrays in
 * cleave_program_store_together(). */
#define MAX_TOGETHER 256

static const CleaveView *
source_of (const CleaveTask *task)
{
  return &task->instance.operands[0];
}

/* Returns whether two values can be parts of one value: same element type, rank and strides. */
static gboolean
are_parts (const CleaveView *a, const CleaveView *b)
{
  if (a->type.element != b->type.element || a->type.shape.rank != b->type.shape.rank)
    return FALSE;
  for (guint d = 0; d < a->type.shape.rank; d++)
    if (a->stride[d] != b->stride[d])
      return FALSE;
  return TRUE;
}

static gboolean
can_join (const CleaveProgram *program, guint head, guint step)
{
  const CleaveTask *a = &program->tasks[head], *b = &program->tasks[step];

  return a->kind == CLEAVE_STEP_STORE && b->kind == CLEAVE_STEP_STORE && a->streams &&
         !cleave_waits_has (&program->waits, step) && are_parts (source_of (a), source_of (b));
}

static void
group_sequence (CleaveProgram *program, const guint *sequence, guint n)
{
  for (guint i = 0, next; i < n; i = next)
    {
      CleaveTask *head = &program->tasks[sequence[i]];

      for (next = i + 1; next < n && next - i < MAX_TOGETHER; next++)
        {
          if (!can_join (program, sequence[i], sequence[next]))
            break;
          program->tasks[sequence[next]].is_fused = TRUE;
        }
      head->together = &sequence[i];
      head->n_together = next - i;
    }
}

void
cleave_program_group_stores (CleaveProgram *program)
{
  const CleaveSchedule *schedule = program->schedule;

  for (guint t = 0; t < schedule->n_threads; t++)
    group_sequence (program, schedule->sequence[t], schedule->n_sequence[t]);
}

void
cleave_program_store_together (const CleaveProgram *program, const CleaveTask *head)
{
  const CleaveView *to[MAX_TOGETHER], *from[MAX_TOGETHER];
  guint n = 0;

  for (guint i = 0; i < head->n_together; i++)
    {
      const CleaveTask *task = &program->tasks[head->together[i]];
      const CleaveBinding *output = &program->outputs[task->index];

      if (output->direct || cleave_tensor_type_n_bytes (&output->type) == 0)
        continue;
      to[n] = &output->view;
      from[n++] = source_of (task);
    }
  cleave_view_stream_parts (to, from, n);
}
