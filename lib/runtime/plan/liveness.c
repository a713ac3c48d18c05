/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the steps between which each buffer of a schedule is in use. Adds waits for buffers that
 * share memory, and packs the arena. */

#include "liveness.h"

#include "anti-dependencies.h"
#include "arena-threads.h"
#include "placing.h"

#include <string.h>

CleaveWaits
cleave_arena_find_waits (const CleaveArena *arena,
                         const CleaveStorage *storage,
                         const CleaveGraph *graph,
                         const gboolean *left_out,
                         const CleaveSchedule *schedule)
{
  const CleaveReuse reuse = {
    storage, graph, arena->offsets, arena->order, &arena->used, left_out
  };

  return schedule->n_threads > 1 ? cleave_reuse_find_waits (&reuse, schedule)
                                 : cleave_schedule_find_waits (schedule, NULL);
}

/* Moves the lifetimes that cleave_arena_find_waits() needs, and the array `order`, from `l` into
 * `arena`. */
static void
keep_uses (CleaveLifetimes *l, CleaveArena *arena, guint **order)
{
  arena->order = g_steal_pointer (order);
  arena->used = l->used;
  l->used = (CleaveWaits){ 0 };
  arena->first = g_steal_pointer (&l->first);
  arena->gone = g_steal_pointer (&l->gone);
}

/* Computes the lifetimes of all buffers, and the peak. Returns the indices of the buffers, sorted
 * by first use. */
static guint *
begin (CleaveArena *arena, CleaveLifetimes *l, double slack)
{
  cleave_lifetimes_init (l, slack);
  arena->slack = slack;
  arena->peak = cleave_lifetimes_get_peak (l);
  arena->offsets = g_new0 (gint64, l->storage->buffers->len + 1);
  return cleave_lifetimes_sort (l->first, l->storage->buffers->len);
}

void
cleave_arena_init (CleaveArena *arena,
                   const CleaveStorage *storage,
                   const CleaveGraph *graph,
                   const CleaveSchedule *schedule)
{
  g_auto (CleaveLifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_autofree guint *order = begin (arena, &l, 0);

  arena->n_bytes = cleave_placing_place (arena->offsets, &l, order, arena->peak);
  keep_uses (&l, arena, &order);
}

void
cleave_arena_init_unplaced (CleaveArena *arena,
                            const CleaveStorage *storage,
                            const CleaveGraph *graph,
                            const CleaveSchedule *schedule)
{
  g_auto (CleaveLifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_autofree guint *order = begin (arena, &l, 0);

  keep_uses (&l, arena, &order);
}

gboolean
cleave_arena_init_with_slack (CleaveArena *arena,
                              const CleaveStorage *storage,
                              const CleaveGraph *graph,
                              const CleaveSchedule *schedule,
                              double slack,
                              gint64 at_most)
{
  g_auto (CleaveLifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_autofree guint *order = begin (arena, &l, slack);

  arena->n_bytes = cleave_placing_pack (arena->offsets, &l, order, at_most, TRUE);
  if (arena->n_bytes < 0 || arena->n_bytes > at_most)
    {
      cleave_arena_clear (arena);
      return FALSE;
    }
  keep_uses (&l, arena, &order);
  return TRUE;
}

/* Compares two buffers by offset. */
static int
compare_offsets (gconstpointer a, gconstpointer b, gpointer data)
{
  const gint64 *offsets = data;
  gint64 x = offsets[GPOINTER_TO_UINT (a)], y = offsets[GPOINTER_TO_UINT (b)];

  return (x > y) - (x < y);
}

/* Returns whether the memory of a buffer overlaps no buffer in `in_use`. */
static gboolean
is_free (GTree *in_use, const CleaveArena *arena, const CleaveStorage *storage, guint buffer)
{
  GTreeNode *above = g_tree_lower_bound (in_use, GUINT_TO_POINTER (buffer));
  GTreeNode *below = above == NULL ? g_tree_node_last (in_use) : g_tree_node_previous (above);
  const CleaveBuffer *buffers = (const CleaveBuffer *) (gpointer) storage->buffers->data;
  gint64 begin = arena->offsets[buffer], end = begin + buffers[buffer].n_bytes;
  guint other;

  if (above != NULL && arena->offsets[GPOINTER_TO_UINT (g_tree_node_key (above))] < end)
    return FALSE;
  if (below == NULL)
    return TRUE;
  other = GPOINTER_TO_UINT (g_tree_node_key (below));
  return arena->offsets[other] + buffers[other].n_bytes <= begin;
}

/* Returns whether no two buffers that are in use at the same time overlap. Adds each buffer to a
 * tree at its first use, and removes it after its last use. */
static gboolean
has_no_overlap (const CleaveArena *arena, const CleaveLifetimes *l, const guint *order)
{
  guint n = l->storage->buffers->len;
  g_autoptr (GTree) in_use = g_tree_new_with_data (compare_offsets, arena->offsets);
  g_autofree guint *ends = cleave_lifetimes_sort (l->last, n);
  guint n_ended = 0;

  for (guint i = 0; i < n; i++)
    {
      if (g_array_index (l->storage->buffers, CleaveBuffer, order[i]).n_bytes == 0)
        continue;
      for (; n_ended < n && l->last[ends[n_ended]] < l->first[order[i]]; n_ended++)
        if (g_array_index (l->storage->buffers, CleaveBuffer, ends[n_ended]).n_bytes > 0)
          g_tree_remove (in_use, GUINT_TO_POINTER (ends[n_ended]));
      if (!is_free (in_use, arena, l->storage, order[i]))
        return FALSE;
      g_tree_insert (in_use, GUINT_TO_POINTER (order[i]), GUINT_TO_POINTER (1));
    }
  return TRUE;
}

gboolean
cleave_arena_init_at (CleaveArena *arena,
                      const CleaveStorage *storage,
                      const CleaveGraph *graph,
                      const CleaveSchedule *schedule,
                      const gint64 *offsets,
                      gint64 n_bytes)
{
  g_auto (CleaveLifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_autofree guint *order = begin (arena, &l, 0);

  arena->n_bytes = n_bytes;
  memcpy (arena->offsets, offsets, storage->buffers->len * sizeof (gint64));
  if (!has_no_overlap (arena, &l, order))
    return FALSE;
  keep_uses (&l, arena, &order);
  return TRUE;
}

void
cleave_arena_keep_with_threads (CleaveArena *arena,
                                const CleaveStorage *storage,
                                const CleaveGraph *graph,
                                const CleaveSchedule *schedule)
{
  g_auto (CleaveLifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_auto (CleaveArenaThreads) threads = { 0 };
  g_auto (CleavePlacing) p = { 0 };

  cleave_lifetimes_init (&l, arena->slack);
  if (storage->buffers->len == 0 || !cleave_placing_init (&p, &l, arena->order))
    return;
  for (guint i = 0; i < p.task.n_buffers; i++)
    p.offsets[i] = arena->offsets[arena->order[i]];
  cleave_arena_threads_init (&threads, storage, graph, schedule, arena->order, &arena->used);
  cleave_arena_move_to_threads (&p.task, &threads, arena->n_bytes, p.offsets);
  for (guint i = 0; i < p.task.n_buffers; i++)
    arena->offsets[arena->order[i]] = p.offsets[i];
}

void
cleave_arena_clear (CleaveArena *arena)
{
  g_clear_pointer (&arena->offsets, g_free);
  g_clear_pointer (&arena->order, g_free);
  cleave_waits_clear (&arena->used);
  g_clear_pointer (&arena->first, g_free);
  g_clear_pointer (&arena->gone, g_free);
}
