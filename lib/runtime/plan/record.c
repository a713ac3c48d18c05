/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Copies the schedule and the offsets of a memory plan into a record, and makes a plan from a
 * record. A record may come from a damaged file, so each number is checked before it is used. */

#include "record.h"

#include "../../ir/error.h"
#include "../../ir/max-threads.h"
#include "../../memory/ordering.h"
#include "dependencies.h"
#include "schedule.h"

#include <stdlib.h>

void
cleave_record_init (CleaveRecord *record, const CleaveMemoryPlan *plan)
{
  const CleaveSchedule *schedule = plan->schedule;
  gsize n = schedule->n_steps, n_buffers = plan->storage->buffers->len;

  *record = (CleaveRecord){
    .n_threads = schedule->n_threads,
    .n_steps = schedule->n_steps,
    .n_buffers = (guint) n_buffers,
    .order = g_memdup2 (schedule->order, n * sizeof (guint)),
    .thread = g_memdup2 (schedule->thread, n * sizeof (guint)),
    .begins = g_memdup2 (schedule->begins, n * sizeof (double)),
    .ends = g_memdup2 (schedule->ends, n * sizeof (double)),
    .offsets = g_memdup2 (plan->arena.offsets, n_buffers * sizeof (gint64)),
    .n_bytes = plan->arena.n_bytes,
  };
}

void
cleave_record_clear (CleaveRecord *record)
{
  g_clear_pointer (&record->order, g_free);
  g_clear_pointer (&record->thread, g_free);
  g_clear_pointer (&record->begins, g_free);
  g_clear_pointer (&record->ends, g_free);
  g_clear_pointer (&record->offsets, g_free);
}

/* Returns whether each step runs once, on an existing thread, after all its predecessors. Sets
 * position[s] to the index of step s in the order. */
static gboolean
is_schedule (const CleaveRecord *record, const CleaveDependencies *needs, guint *position)
{
  for (guint i = 0; i < record->n_steps; i++)
    position[i] = G_MAXUINT;
  for (guint i = 0; i < record->n_steps; i++)
    {
      guint step = record->order[i];

      if (step >= record->n_steps || position[step] != G_MAXUINT ||
          record->thread[step] >= record->n_threads)
        return FALSE;
      for (guint p = needs->begin[step]; p < needs->begin[step + 1]; p++)
        if (position[needs->preds[p]] == G_MAXUINT)
          return FALSE;
      position[step] = i;
    }
  return TRUE;
}

static CleaveSchedule *
restore_schedule (const CleaveRecord *record,
                  const CleaveStorage *storage,
                  const CleaveGraph *graph,
                  GError **error)
{
  g_auto (CleaveDependencies) needs = { 0 };
  g_autofree guint *position = g_new (guint, record->n_steps + 1);
  CleaveScheduleTask task = { .n_steps = record->n_steps };

  cleave_dependencies_init (&needs, storage, graph);
  if (!is_schedule (record, &needs, position))
    {
      cleave_fail (error, CLEAVE_ERROR_MODEL, "the schedule does not fit this graph");
      return NULL;
    }
  task.begin = needs.begin;
  task.preds = needs.preds;
  return cleave_schedule_new_of (&task, record->n_threads, record->order, record->thread,
                                 record->begins, record->ends);
}

static gboolean
fits (const CleaveRecord *record, const CleaveStorage *storage)
{
  gint64 sum = 0;

  if (record->n_threads == 0 || record->n_threads > CLEAVE_MAX_THREADS ||
      record->n_steps != storage->steps->len || record->n_buffers != storage->buffers->len)
    return FALSE;
  for (guint b = 0; b < record->n_buffers; b++)
    {
      gint64 n_bytes = g_array_index (storage->buffers, CleaveBuffer, b).n_bytes;

      sum += n_bytes;
      if (record->offsets[b] < 0 || record->offsets[b] % CLEAVE_BUFFER_ALIGNMENT != 0 ||
          n_bytes > record->n_bytes || record->offsets[b] > record->n_bytes - n_bytes)
        return FALSE;
    }
  return record->n_bytes >= 0 && record->n_bytes <= sum;
}

gboolean
cleave_memory_plan_restore (CleaveMemoryPlan *plan,
                            const CleaveGraph *graph,
                            const CleaveRecord *record,
                            GError **error)
{
  g_autoptr (GPtrArray) order =
      (record->n_threads == 1 ? cleave_order_with_laps
                              : cleave_order_with_storage) (graph, &plan->storage, error);

  if (order == NULL)
    return FALSE;
  /* laps merge buffers. If the numbers of buffers differ, the record was made from a plan without
   * laps */
  if (cleave_storage_is_lapped (plan->storage) && record->n_buffers != plan->storage->buffers->len)
    cleave_storage_unlap (plan->storage, graph);
  if (!fits (record, plan->storage))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "the arena does not fit this graph");
  plan->schedule = restore_schedule (record, plan->storage, graph, error);
  if (plan->schedule == NULL)
    return FALSE;
  if (!cleave_arena_init_at (&plan->arena, plan->storage, graph, plan->schedule, record->offsets,
                             record->n_bytes))
    return cleave_fail (error, CLEAVE_ERROR_MODEL, "two values share memory while both are in use");
  return TRUE;
}
