/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Makes a memory plan: orders the nodes, schedules the steps and packs the arena. A lap is an
 * overlay that spans strips. If laps leave gaps in the arena, a second plan is made without laps,
 * and the smaller plan is kept. */

#include "memory-plan.h"

#include "../../ir/error.h"
#include "../../ir/max-threads.h"
#include "../../memory/ordering.h"
#include "schedule-search.h"

gboolean
cleave_count_threads (guint *n_threads, GError **error)
{
  if (*n_threads > CLEAVE_MAX_THREADS)
    return cleave_fail (error, CLEAVE_ERROR_OPTION, "number of threads must be at most %d, not %u",
                        CLEAVE_MAX_THREADS, *n_threads);
  if (*n_threads == 0)
    *n_threads = g_get_num_processors ();
  return TRUE;
}

static void
place (CleaveMemoryPlan *plan, const CleaveGraph *graph, guint n_threads)
{
  guint n_groups;
  g_autofree guint *groups = cleave_schedule_search_find_groups (graph, &n_groups);

  g_clear_pointer (&plan->schedule, cleave_schedule_free);
  cleave_arena_clear (&plan->arena);
  plan->schedule = cleave_schedule_search_schedule (plan->storage, graph, groups, n_groups,
                                                    n_threads, &plan->arena);
}

/* Moves the schedule and the arena of a plan to another plan. */
static void
move_placement (CleaveMemoryPlan *from, CleaveMemoryPlan *to)
{
  g_clear_pointer (&to->schedule, cleave_schedule_free);
  cleave_arena_clear (&to->arena);
  to->schedule = g_steal_pointer (&from->schedule);
  to->arena = from->arena;
  from->arena = (CleaveArena){ 0 };
}

gint64
cleave_memory_plan_get_peak_apart (const CleaveMemoryPlan *plan)
{
  const CleaveStorage *storage = plan->storage;
  gint64 peak = 0;

  for (guint s = 0; s < storage->steps->len; s++)
    peak = MAX (peak, storage->live_before_laps[s]);
  return peak;
}

gboolean
cleave_memory_plan_init (CleaveMemoryPlan *plan,
                         const CleaveGraph *graph,
                         guint n_threads,
                         GError **error)
{
  g_autoptr (GPtrArray) order =
      (n_threads == 1 ? cleave_order_with_laps : cleave_order_with_storage) (graph, &plan->storage,
                                                                             error);
  CleaveMemoryPlan lapped = { 0 };

  if (order == NULL)
    return FALSE;
  place (plan, graph, n_threads);
  if (!cleave_storage_is_lapped (plan->storage) ||
      plan->arena.n_bytes <= cleave_memory_plan_get_peak_apart (plan))
    return TRUE;
  /* laps make buffers larger, and this arena has gaps: plan again without laps, and keep the
   * smaller arena */
  move_placement (plan, &lapped);
  cleave_storage_unlap (plan->storage, graph);
  place (plan, graph, n_threads);
  if (lapped.arena.n_bytes < plan->arena.n_bytes)
    {
      cleave_storage_lap (plan->storage, graph);
      move_placement (&lapped, plan);
    }
  cleave_memory_plan_clear (&lapped);
  return TRUE;
}

gboolean
cleave_memory_plan_init_unplaced (CleaveMemoryPlan *plan, const CleaveGraph *graph, GError **error)
{
  g_autoptr (GPtrArray) order = cleave_order_with_laps (graph, &plan->storage, error);
  g_autofree guint *groups = NULL;
  guint n_groups;

  if (order == NULL)
    return FALSE;
  groups = cleave_schedule_search_find_groups (graph, &n_groups);
  plan->schedule =
      cleave_schedule_search_unplaced (plan->storage, graph, groups, n_groups, &plan->arena);
  return TRUE;
}

void
cleave_memory_plan_clear (CleaveMemoryPlan *plan)
{
  g_clear_pointer (&plan->storage, cleave_storage_free);
  g_clear_pointer (&plan->schedule, cleave_schedule_free);
  cleave_arena_clear (&plan->arena);
}
