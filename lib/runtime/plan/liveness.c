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
  arena->fragments = g_steal_pointer (&l->fragments);
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

  arena->n_bytes = cleave_placing_pack (arena->offsets, &l, order, l.n_buffers, at_most, TRUE);
  if (arena->n_bytes < 0 || arena->n_bytes > at_most)
    {
      cleave_arena_clear (arena);
      return FALSE;
    }
  keep_uses (&l, arena, &order);
  return TRUE;
}

static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const CleaveArenaSpan *x = a, *y = b;

  if (x->first != y->first)
    return (x->first > y->first) - (x->first < y->first);
  if (x->buffer != y->buffer)
    return (x->buffer > y->buffer) - (x->buffer < y->buffer);
  return (x->begin > y->begin) - (x->begin < y->begin);
}

static GArray *
list_spans (const CleaveStorage *storage,
            const GArray *fragments,
            const guint *first,
            const guint *gone)
{
  const guint n = storage->buffers->len;
  GArray *spans = g_array_sized_new (FALSE, FALSE, sizeof (CleaveArenaSpan), n + 1);

  for (guint b = 0, f = 0; b < n; b++)
    {
      const guint end = cleave_storage_end_fragments (storage, f, b);
      const CleaveArenaSpan whole = { g_array_index (storage->buffers, CleaveBuffer, b).n_bytes,
                                      first[b], gone[b], b, 0 };

      if (f == end)
        g_array_append_val (spans, whole);
      for (; f < end; f++)
        {
          const CleaveFragment *fragment = &g_array_index (fragments, CleaveFragment, f);
          const CleaveArenaSpan part = { fragment->n_bytes, fragment->first, fragment->last + 1, b,
                                         fragment->begin };

          g_array_append_val (spans, part);
        }
    }
  g_array_sort (spans, compare_spans);
  return spans;
}

GArray *
cleave_arena_list_spans (const CleaveArena *arena, const CleaveStorage *storage)
{
  return list_spans (storage, arena->fragments, arena->first, arena->gone);
}

/* The bytes [begin, end) of the arena. */
typedef struct
{
  gint64 begin, end;
} Place;

static int
compare_places (gconstpointer a, gconstpointer b, gpointer data)
{
  gint64 x = ((const Place *) a)->begin, y = ((const Place *) b)->begin;

  return (x > y) - (x < y);
}

/* Returns whether a place overlaps no place in `in_use`. */
static gboolean
is_free (GTree *in_use, const Place *place)
{
  GTreeNode *above = g_tree_lower_bound (in_use, place);
  GTreeNode *below = above == NULL ? g_tree_node_last (in_use) : g_tree_node_previous (above);

  return (above == NULL || ((const Place *) g_tree_node_key (above))->begin >= place->end) &&
         (below == NULL || ((const Place *) g_tree_node_key (below))->end <= place->begin);
}

/* Returns the lifetimes of all buffers, sorted by `first`, where a buffer is gone right after its
 * last use. */
static GArray *
list_uses (const CleaveLifetimes *l)
{
  g_autofree guint *after = g_new (guint, l->n_buffers + 1);

  for (guint b = 0; b < l->n_buffers; b++)
    after[b] = l->last[b] + 1;
  return list_spans (l->storage, l->fragments, l->first, after);
}

/* Returns whether no two spans that are in use at the same time overlap. Adds each span to a tree
 * at its first use, and removes it after its last use. */
static gboolean
has_no_overlap (const CleaveArena *arena, const CleaveLifetimes *l)
{
  g_autoptr (GArray) spans = list_uses (l);
  g_autoptr (GTree) in_use = g_tree_new_with_data (compare_places, NULL);
  g_autofree Place *places = g_new (Place, spans->len + 1);
  g_autofree guint *gone = g_new (guint, spans->len + 1), *ends = NULL;
  guint n_ended = 0;

  for (guint i = 0; i < spans->len; i++)
    {
      const CleaveArenaSpan *span = &g_array_index (spans, CleaveArenaSpan, i);
      gint64 begin = arena->offsets[span->buffer] + span->begin;

      places[i] = (Place){ begin, begin + span->n_bytes };
      gone[i] = span->gone;
    }
  ends = cleave_lifetimes_sort (gone, spans->len);
  for (guint i = 0; i < spans->len; i++)
    {
      if (places[i].begin == places[i].end)
        continue;
      for (; gone[ends[n_ended]] <= g_array_index (spans, CleaveArenaSpan, i).first; n_ended++)
        g_tree_remove (in_use, &places[ends[n_ended]]);
      if (!is_free (in_use, &places[i]))
        return FALSE;
      g_tree_insert (in_use, &places[i], &places[i]);
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
  if (!has_no_overlap (arena, &l))
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
  if (storage->buffers->len == 0 || !cleave_placing_init (&p, &l, arena->order, l.n_buffers))
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
  g_clear_pointer (&arena->fragments, g_array_unref);
}
