/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "lifetimes.h"

#include "arena.h"

/* A buffer may take the memory of another if every use of that one is done, for sure, when any step
 * that uses this one begins: the clocks of the schedule tell.  With one thread that is "ends before
 * it begins". */

typedef struct
{
  const CleaveStorage *storage;
  const CleaveSchedule *schedule;
  guint step, position;
  guint *first, *last; /* of each buffer: positions in the schedule's order */
  guint *used;         /* [buffer][thread]: steps of the thread up to its last use */
  guint *clock;        /* [buffer][thread]: steps done for sure when it is used first */
} Lifetimes;

static void
note_touch (const CleaveHome *home, gboolean writes, gpointer data)
{
  Lifetimes *l = data;
  guint n_threads = l->schedule->n_threads, thread = l->schedule->thread[l->step];
  guint buffer = l->storage->buffer[home->place.root];
  const guint *clock = cleave_schedule_clock (l->schedule, l->step);
  gsize row = (gsize) buffer * n_threads;

  if (buffer == CLEAVE_NEVER) /* a constant */
    return;
  l->first[buffer] = MIN (l->first[buffer], l->position);
  l->last[buffer] = l->position;
  l->used[row + thread] = MAX (l->used[row + thread], l->schedule->index[l->step] + 1);
  for (guint t = 0; t < n_threads; t++)
    l->clock[row + t] = MIN (l->clock[row + t], clock[t]);
}

static void
find_lifetimes (Lifetimes *l, const CleaveGraph *graph)
{
  gsize n = l->storage->buffers->len, n_threads = l->schedule->n_threads;

  l->first = g_new (guint, n + 1);
  l->last = g_new0 (guint, n + 1);
  l->used = g_new0 (guint, n * n_threads + 1);
  l->clock = g_new (guint, n * n_threads + 1);
  for (gsize i = 0; i < n; i++)
    l->first[i] = G_MAXUINT;
  for (gsize i = 0; i < n * n_threads; i++)
    l->clock[i] = G_MAXUINT;
  for (l->position = 0; l->position < l->schedule->n_steps; l->position++)
    {
      l->step = l->schedule->order[l->position];
      cleave_storage_visit (l->storage, graph,
                            &g_array_index (l->storage->steps, CleaveStep, l->step), note_touch, l);
    }
}

static int
compare_first (gconstpointer a, gconstpointer b, gpointer data)
{
  const guint *first = data;
  guint x = first[*(const guint *) a], y = first[*(const guint *) b];

  return (x > y) - (x < y);
}

static guint *
sort_by_first (const guint *first, guint n)
{
  guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) n, sizeof (guint), compare_first, (gpointer) first);
  return order;
}

static gboolean
is_done (const Lifetimes *l, guint buffer, const guint *clock)
{
  const guint *used = l->used + (gsize) buffer * l->schedule->n_threads;

  for (guint t = 0; t < l->schedule->n_threads; t++)
    if (used[t] > clock[t])
      return FALSE;
  return TRUE;
}

/* What is done for sure when any of order[i …] is used first. */
static guint *
find_common_clocks (const Lifetimes *l, const guint *order, guint n)
{
  guint n_threads = l->schedule->n_threads;
  guint *common = g_new (guint, (gsize) n * n_threads + 1);

  for (guint i = n; i-- > 0;)
    for (guint t = 0; t < n_threads; t++)
      {
        guint own = l->clock[(gsize) order[i] * n_threads + t];
        gsize at = (gsize) i * n_threads + t;

        common[at] = i + 1 < n ? MIN (own, common[at + n_threads]) : own;
      }
  return common;
}

typedef struct
{
  guint a, b; /* indices in the order at hand */
} Pair;

#define MAX_PAIRS (1u << 24)

/* All pairs of buffers that may not share memory; NULL if there are too many to look at.  Cost:
 * buffers times those in use at once. */
static GArray *
find_pairs (const Lifetimes *l, const guint *order, guint n)
{
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  g_autofree guint *active = g_new (guint, n + 1);
  g_autofree guint *common = find_common_clocks (l, order, n);
  guint n_threads = l->schedule->n_threads, n_active = 0;

  for (guint i = 0; i < n; i++)
    {
      const guint *clock = l->clock + (gsize) order[i] * n_threads;
      guint kept = 0;

      for (guint a = 0; a < n_active; a++)
        {
          Pair pair = { active[a], i };

          if (!is_done (l, order[active[a]], clock))
            g_array_append_val (pairs, pair);
          if (!is_done (l, order[active[a]], common + (gsize) i * n_threads))
            active[kept++] = active[a];
        }
      if (pairs->len > MAX_PAIRS)
        return NULL;
      n_active = kept;
      active[n_active++] = i;
    }
  return g_steal_pointer (&pairs);
}

static void
sort_pairs (const GArray *pairs, guint n, guint **begin, guint **conflicts)
{
  guint *next;

  *begin = g_new0 (guint, n + 2);
  *conflicts = g_new (guint, 2 * (gsize) pairs->len + 1);
  next = *begin + 1;
  for (guint i = 0; i < pairs->len; i++)
    {
      next[g_array_index (pairs, Pair, i).a + 1]++;
      next[g_array_index (pairs, Pair, i).b + 1]++;
    }
  for (guint b = 0; b < n; b++)
    next[b + 1] += next[b];
  for (guint i = 0; i < pairs->len; i++)
    {
      const Pair *pair = &g_array_index (pairs, Pair, i);

      (*conflicts)[next[pair->a]++] = pair->b;
      (*conflicts)[next[pair->b]++] = pair->a;
    }
}

static gint64
find_peak (const Lifetimes *l)
{
  const GArray *buffers = l->storage->buffers;
  g_autofree gint64 *change = g_new0 (gint64, l->schedule->n_steps + 1);
  gint64 live = 0, peak = 0;

  for (guint i = 0; i < buffers->len; i++)
    {
      change[l->first[i]] += g_array_index (buffers, CleaveBuffer, i).n_bytes;
      change[l->last[i] + 1] -= g_array_index (buffers, CleaveBuffer, i).n_bytes;
    }
  for (guint s = 0; s < l->schedule->n_steps; s++)
    {
      live += change[s];
      peak = MAX (peak, live);
    }
  return peak;
}

/* Places the buffers order[0 … n - 1] from `base` on; returns the bytes that they take, or -1 if
 * too many pairs of them are in use at once. */
static gint64
place_group (CleaveArena *arena,
             const Lifetimes *l,
             const guint *order,
             guint n,
             gint64 base,
             gint64 at_least)
{
  g_autoptr (GArray) pairs = find_pairs (l, order, n);
  g_autofree guint *begin = NULL, *conflicts = NULL, *time = g_new (guint, n + 1);
  g_autofree gint64 *n_bytes = g_new (gint64, n + 1), *offsets = g_new (gint64, n + 1);
  CleaveArenaTask task = { .n_buffers = n, .n_bytes = n_bytes, .time = time };
  gint64 size;

  if (n == 0 || pairs == NULL)
    return n == 0 ? 0 : -1;
  sort_pairs (pairs, n, &begin, &conflicts);
  task.begin = begin;
  task.conflicts = conflicts;
  for (guint i = 0; i < n; i++)
    {
      n_bytes[i] = g_array_index (l->storage->buffers, CleaveBuffer, order[i]).n_bytes;
      time[i] = i;
    }
  size = cleave_arena_place (&task, at_least, offsets);
  for (guint i = 0; i < n; i++)
    arena->offsets[order[i]] = base + offsets[i];
  return size;
}

/* One after the other: where so many are in use at once, sharing would gain little. */
static gint64
stack_group (CleaveArena *arena, const Lifetimes *l, const guint *order, guint n, gint64 base)
{
  gint64 size = 0;

  for (guint i = 0; i < n; i++)
    {
      arena->offsets[order[i]] = base + size;
      size += g_array_index (l->storage->buffers, CleaveBuffer, order[i]).n_bytes;
    }
  return size;
}

/* The only thread that uses a buffer, or the number of threads. */
static guint
find_owner (const Lifetimes *l, guint buffer)
{
  guint n_threads = l->schedule->n_threads, owner = n_threads;

  for (guint t = 0; t < n_threads; t++)
    if (l->used[(gsize) buffer * n_threads + t] > 0)
      {
        if (owner != n_threads)
          return n_threads;
        owner = t;
      }
  return owner;
}

/* Each thread its own memory, and some for what they share: a little more than one for all, in much
 * less time. */
static void
place_by_threads (CleaveArena *arena, const Lifetimes *l, const guint *order, guint n)
{
  g_autofree guint *group = g_new (guint, n + 1);

  arena->n_bytes = 0;
  for (guint t = 0; t <= l->schedule->n_threads; t++)
    {
      guint n_group = 0;
      gint64 size;

      for (guint i = 0; i < n; i++)
        if (find_owner (l, order[i]) == t)
          group[n_group++] = order[i];
      size = place_group (arena, l, group, n_group, arena->n_bytes, 0);
      arena->n_bytes += size >= 0 ? size : stack_group (arena, l, group, n_group, arena->n_bytes);
    }
}

static void
place_buffers (CleaveArena *arena, const Lifetimes *l)
{
  guint n = l->storage->buffers->len;
  g_autofree guint *order = sort_by_first (l->first, n);

  arena->offsets = g_new0 (gint64, n + 1);
  arena->n_bytes = place_group (arena, l, order, n, 0, arena->peak);
  if (arena->n_bytes < 0)
    place_by_threads (arena, l, order, n);
}

void
cleave_arena_init (CleaveArena *arena,
                   const CleaveStorage *storage,
                   const CleaveGraph *graph,
                   const CleaveSchedule *schedule)
{
  Lifetimes l = { .storage = storage, .schedule = schedule };

  find_lifetimes (&l, graph);
  arena->peak = find_peak (&l);
  place_buffers (arena, &l);
  g_free (l.first);
  g_free (l.last);
  g_free (l.used);
  g_free (l.clock);
}

void
cleave_arena_clear (CleaveArena *arena)
{
  g_clear_pointer (&arena->offsets, g_free);
}
