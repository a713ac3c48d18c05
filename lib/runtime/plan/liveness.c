/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the steps between which each buffer of a schedule is in use. Adds waits for buffers that
 * share memory, and packs the arena.
 *
 * Over 400 lines: the search for a schedule and the arena both need the lifetimes of buffers. */

#include "liveness.h"

#include "anti-dependencies.h"
#include "arena-sweep.h"
#include "arena-threads.h"
#include "clocks.h"

#include <string.h>

/* A later buffer may reuse the memory of an earlier one if, by estimated times, all uses of the
 * earlier buffer end before the first use of the later one. Waits ensure that order in a run. They
 * cost no time if the estimates are right, and keep a thread that is ahead from needing more
 * memory.
 *
 * With slack, uses whose end the schedule's other waits do not guarantee must end earlier by the
 * slack. A thread may then be late by the slack before another thread waits for it. */

typedef struct
{
  const CleaveStorage *storage;
  const CleaveGraph *graph;
  const CleaveSchedule *schedule;
  guint step, position;
  guint n_buffers;
  gint64 *n_bytes; /* indexed by buffer: its size */
  guint *first,
      *last;   /* indexed by buffer: positions in the schedule's order of its first and last use */
  guint *gone; /* indexed by buffer: first position whose step begins after all uses of the buffer
                  have ended */
  guint *late; /* indexed by buffer: value of `gone` if all uses ended later by the slack */
  GArray *touches;  /* Touch: all uses of buffers, in the schedule's order */
  CleaveWaits used; /* indexed by buffer: number of steps of each thread up to the thread's last use
                       of the buffer */
  const guint *clock; /* indexed by thread: number of its steps that are certainly done when the
                         current step begins */
  guint *sure; /* [buffer][thread]: number of steps of the thread that are done whenever a step uses
                  the buffer; NULL: there is no slack */
} Lifetimes;

/* One use of a buffer: `use` ends when the step that uses the buffer is done. */
typedef struct
{
  guint buffer;
  CleaveWait use;
} Touch;

static void
lifetimes_clear (Lifetimes *l)
{
  g_free (l->n_bytes);
  g_free (l->first);
  g_free (l->last);
  g_free (l->gone);
  g_free (l->late);
  g_clear_pointer (&l->touches, g_array_unref);
  cleave_waits_clear (&l->used);
  g_free (l->sure);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Lifetimes, lifetimes_clear)

static void
note_touch (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Lifetimes *l = data;
  guint n_threads = l->schedule->n_threads, thread = l->schedule->thread[l->step];
  guint buffer = l->storage->buffer[assignment->location.root];
  const Touch touch = { buffer, { thread, l->schedule->index[l->step] + 1 } };

  if (buffer == CLEAVE_NEVER) /* a constant has no buffer in the arena */
    return;
  l->first[buffer] = MIN (l->first[buffer], l->position);
  l->last[buffer] = l->position;
  g_array_append_val (l->touches, touch);
  for (guint t = 0; l->sure != NULL && t < n_threads; t++)
    {
      guint *sure = &l->sure[(gsize) buffer * n_threads + t];

      *sure = MIN (*sure, l->clock[t]);
    }
}

/* Visits the steps in the schedule's order and calls `visit` for each value that they use. Updates
 * the clocks only if there is slack, since only `sure` depends on the clocks. */
static void
visit_all (Lifetimes *l, CleaveStepVisit visit)
{
  const CleaveWaits *needs = &l->schedule->needs;
  g_auto (CleaveClocks) clocks = { 0 };

  cleave_clocks_init (&clocks, l->schedule);
  for (guint i = 0; l->sure != NULL && i < needs->list->len; i++)
    cleave_clocks_expect (&clocks, g_array_index (needs->list, CleaveWait, i));
  for (l->position = 0; l->position < l->schedule->n_steps; l->position++)
    {
      l->step = l->schedule->order[l->position];
      l->clock = cleave_clocks_begin (&clocks, l->step);
      for (guint i = needs->first[l->step]; l->sure != NULL && i < needs->first[l->step + 1]; i++)
        cleave_clocks_wait (&clocks, l->step, g_array_index (needs->list, CleaveWait, i));
      cleave_clocks_end (&clocks, l->step);
      cleave_storage_visit (l->storage, l->graph,
                            &g_array_index (l->storage->steps, CleaveStep, l->step), visit, l);
    }
}

/* Returns the touches sorted by buffer, in linear time. */
static Touch *
sort_touches (const GArray *touches, guint n_buffers)
{
  g_autofree guint *next = g_new0 (guint, (gsize) n_buffers + 2);
  Touch *sorted = g_new (Touch, (gsize) touches->len + 1);

  for (guint i = 0; i < touches->len; i++)
    next[g_array_index (touches, Touch, i).buffer + 1]++;
  for (guint b = 0; b < n_buffers; b++)
    next[b + 1] += next[b];
  for (guint i = 0; i < touches->len; i++)
    {
      const Touch *touch = &g_array_index (touches, Touch, i);

      sorted[next[touch->buffer]++] = *touch;
    }
  return sorted;
}

/* Fills `used` with the last use of each buffer by each thread. Relies on the order of touches: the
 * steps of one thread come in ascending order. */
static void
find_used (Lifetimes *l)
{
  guint n_buffers = l->storage->buffers->len, n_touches = l->touches->len, i = 0;
  g_autofree Touch *touches = sort_touches (l->touches, n_buffers);
  g_autofree guint *place = g_new0 (
      guint, l->schedule->n_threads); /* indexed by thread: index of its wait in the list, plus 1 */

  l->used = (CleaveWaits){ g_new (guint, (gsize) n_buffers + 1),
                           g_array_new (FALSE, FALSE, sizeof (CleaveWait)) };
  for (guint b = 0; b < n_buffers; b++)
    {
      guint begin = l->used.first[b] = l->used.list->len;

      for (; i < n_touches && touches[i].buffer == b; i++)
        {
          const CleaveWait *use = &touches[i].use;

          if (place[use->thread] > begin)
            g_array_index (l->used.list, CleaveWait, place[use->thread] - 1) = *use;
          else
            {
              g_array_append_val (l->used.list, *use);
              place[use->thread] = l->used.list->len;
            }
        }
    }
  l->used.first[n_buffers] = l->used.list->len;
  g_clear_pointer (&l->touches, g_array_unref);
}

/* Returns the estimated time at which all uses of a buffer have ended, in nanoseconds. */
static double
find_end (const Lifetimes *l, guint buffer)
{
  const CleaveSchedule *schedule = l->schedule;
  double end = 0;

  for (guint i = l->used.first[buffer]; i < l->used.first[buffer + 1]; i++)
    {
      const CleaveWait *use = &g_array_index (l->used.list, CleaveWait, i);

      end = MAX (end, schedule->ends[schedule->sequence[use->thread][use->count - 1]]);
    }
  return end;
}

/* Returns the first position after `last` whose step begins at time `end` or later. Positions are
 * sorted by begin. */
static guint
find_gone (const CleaveSchedule *schedule, guint last, double end)
{
  guint low = last + 1, high = schedule->n_steps;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (schedule->begins[schedule->order[middle]] >= end)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

static void
find_lifetimes (Lifetimes *l, double slack)
{
  gsize n = l->storage->buffers->len, n_threads = l->schedule->n_threads;

  l->n_buffers = (guint) n;
  l->n_bytes = g_new (gint64, n + 1);
  l->first = g_new (guint, n + 1);
  l->last = g_new0 (guint, n + 1);
  l->gone = g_new (guint, n + 1);
  l->late = g_new (guint, n + 1);
  l->touches = g_array_new (FALSE, FALSE, sizeof (Touch));
  l->sure = slack > 0 ? g_new (guint, n * n_threads + 1) : NULL;
  for (gsize i = 0; slack > 0 && i < n * n_threads; i++)
    l->sure[i] = G_MAXUINT;
  for (guint i = 0; i < n; i++)
    {
      l->n_bytes[i] = g_array_index (l->storage->buffers, CleaveBuffer, i).n_bytes;
      l->first[i] = G_MAXUINT;
    }
  visit_all (l, note_touch);
  find_used (l);
  for (guint i = 0; i < n; i++)
    {
      double end = find_end (l, i);

      l->gone[i] = find_gone (l->schedule, l->last[i], end);
      l->late[i] = slack > 0 ? find_gone (l->schedule, l->last[i], end + slack) : l->gone[i];
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

typedef struct
{
  guint a, b; /* indices of the two buffers in `order`, the buffers sorted by first use */
} Pair;

/* Limit on the average number of buffers with which each buffer is compared. Beyond it, a sweep
 * replaces the quadratic search: for 4,000 buffers in use at once, the sweep takes 2 ms instead of
 * a second. */
#define MAX_VISITS_EACH 256

/* Returns whether all uses of buffer `first` are done whenever a step uses buffer `then`, however
 * long steps take. */
static gboolean
is_sure (const Lifetimes *l, guint first, guint then)
{
  gsize n_threads = l->schedule->n_threads;

  for (guint i = l->used.first[first]; i < l->used.first[first + 1]; i++)
    {
      const CleaveWait *use = &g_array_index (l->used.list, CleaveWait, i);

      if (use->count > l->sure[then * n_threads + use->thread])
        return FALSE;
    }
  return TRUE;
}

/* Returns whether buffer `then` must not reuse the memory of buffer `first`, whose first use is
 * earlier. */
static gboolean
is_conflict (const Lifetimes *l, guint first, guint then)
{
  return l->gone[first] > l->first[then] ||
         (l->late[first] > l->first[then] && !is_sure (l, first, then));
}

/* Returns all pairs of buffers that may not share memory (Pair); NULL if there are too many. Takes
 * time proportional to the number of buffers times the number in use at once. */
static GArray *
find_pairs (const Lifetimes *l, const guint *order)
{
  const guint n = l->n_buffers;
  g_autoptr (GArray) pairs = g_array_new (FALSE, FALSE, sizeof (Pair));
  g_autofree guint *active = g_new (guint, n + 1);
  guint n_active = 0;
  gsize n_visits = 0;

  for (guint i = 0; i < n; i++)
    {
      guint kept = 0;

      n_visits += n_active;
      if (n_visits > MAX_VISITS_EACH * (gsize) n)
        return NULL;
      for (guint a = 0; a < n_active; a++)
        {
          Pair pair = { active[a], i };

          if (l->late[order[active[a]]] <= l->first[order[i]])
            continue;
          active[kept++] = active[a];
          if (is_conflict (l, order[pair.a], order[i]))
            g_array_append_val (pairs, pair);
        }
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

/* Returns the largest sum of the first k elements of `change`, over all k. */
static gint64
sum_up (const gint64 *change, guint n)
{
  gint64 live = 0, peak = 0;

  for (guint i = 0; i < n; i++)
    {
      live += change[i];
      peak = MAX (peak, live);
    }
  return peak;
}

static gint64
find_peak (const Lifetimes *l)
{
  g_autofree gint64 *change = g_new0 (gint64, l->schedule->n_steps + 1);

  for (guint i = 0; i < l->n_buffers; i++)
    {
      change[l->first[i]] += l->n_bytes[i];
      change[l->gone[i]] -= l->n_bytes[i];
    }
  return sum_up (change, l->schedule->n_steps);
}

/* Input of cleave_arena_place(): the buffers sorted by first use, and the pairs of buffers that may
 * not share memory. */
typedef struct
{
  CleaveArenaTask task;
  guint *begin, *conflicts, *time;
  gint64 *n_bytes, *offsets;
} Placing;

static void
placing_clear (Placing *p)
{
  g_free (p->begin);
  g_free (p->conflicts);
  g_free (p->time);
  g_free (p->n_bytes);
  g_free (p->offsets);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Placing, placing_clear)

/* Fills the input of cleave_arena_place(). Returns FALSE if there are too many pairs. */
static gboolean
placing_init (Placing *p, const Lifetimes *l, const guint *order)
{
  const guint n = l->n_buffers;
  g_autoptr (GArray) pairs = find_pairs (l, order);

  if (pairs == NULL)
    return FALSE;
  sort_pairs (pairs, n, &p->begin, &p->conflicts);
  p->time = g_new (guint, n + 1);
  p->n_bytes = g_new (gint64, n + 1);
  p->offsets = g_new (gint64, n + 1);
  for (guint i = 0; i < n; i++)
    {
      p->n_bytes[i] = l->n_bytes[order[i]];
      p->time[i] = i;
    }
  p->task = (CleaveArenaTask){ .n_buffers = n,
                               .n_bytes = p->n_bytes,
                               .time = p->time,
                               .begin = p->begin,
                               .conflicts = p->conflicts };
  return TRUE;
}

/* Sets `offsets`, indexed by buffer, to the smallest arena that cleave_arena_place() finds. Returns
 * its bytes; -1 if there are too many pairs. */
static gint64
location (gint64 *offsets, const Lifetimes *l, const guint *order, gint64 at_least, gboolean quick)
{
  g_auto (Placing) p = { 0 };
  gint64 size;

  if (l->n_buffers == 0)
    return 0;
  if (!placing_init (&p, l, order))
    return -1;
  p.task.quick = quick;
  size = cleave_arena_place (&p.task, at_least, p.offsets);
  for (guint i = 0; i < p.task.n_buffers; i++)
    offsets[order[i]] = p.offsets[i];
  return size;
}

/* Sets `offsets`, indexed by buffer, with cleave_arena_sweep(), which is faster and packs less
 * densely. Returns the bytes of the arena. */
static gint64
sweep (gint64 *offsets, const Lifetimes *l, const guint *order)
{
  const guint n = l->n_buffers;
  g_autofree CleaveArenaSpan *spans = g_new (CleaveArenaSpan, n + 1);
  g_autofree gint64 *swept = g_new (gint64, n + 1);
  gint64 size;

  for (guint i = 0; i < n; i++)
    spans[i] = (CleaveArenaSpan){
      .n_bytes = l->n_bytes[order[i]],
      .first = l->first[order[i]],
      .gone = l->late[order[i]],
    };
  size = cleave_arena_sweep (spans, n, swept);
  for (guint i = 0; i < n; i++)
    offsets[order[i]] = swept[i];
  return size;
}

/* Sets `offsets` to the smallest arena that is found in a limited time. Returns its bytes. */
static gint64
place (gint64 *offsets, const Lifetimes *l, const guint *order, gint64 at_least)
{
  const gint64 size = location (offsets, l, order, at_least, FALSE);

  return size < 0 ? sweep (offsets, l, order) : size;
}

gint64
cleave_arena_place_spans (const CleaveArenaSpan *spans, guint n, gint64 at_least)
{
  g_auto (Lifetimes) l = { .n_buffers = n, .n_bytes = g_new (gint64, n + 1) };
  g_autofree guint *order = g_new (guint, n + 1);
  g_autofree gint64 *offsets = g_new (gint64, n + 1);

  l.first = g_new (guint, n + 1);
  l.gone = g_new (guint, n + 1);
  for (guint i = 0; i < n; i++)
    {
      order[i] = i;
      l.n_bytes[i] = spans[i].n_bytes;
      l.first[i] = spans[i].first;
      l.gone[i] = spans[i].gone;
    }
  l.late = g_memdup2 (l.gone, n * sizeof (guint));
  return place (offsets, &l, order, at_least);
}

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

/* Moves the lifetimes that cleave_arena_find_waits() needs, and `order`, into `arena`. */
static void
keep_uses (Lifetimes *l, CleaveArena *arena, guint **order)
{
  arena->order = g_steal_pointer (order);
  arena->used = l->used;
  l->used = (CleaveWaits){ 0 };
  arena->first = g_steal_pointer (&l->first);
  arena->gone = g_steal_pointer (&l->gone);
}

/* Finds the lifetimes of all buffers, and the peak. Returns the buffers sorted by first use. */
static guint *
begin (CleaveArena *arena, Lifetimes *l, double slack)
{
  find_lifetimes (l, slack);
  arena->slack = slack;
  arena->peak = find_peak (l);
  arena->offsets = g_new0 (gint64, l->storage->buffers->len + 1);
  return sort_by_first (l->first, l->storage->buffers->len);
}

void
cleave_arena_init (CleaveArena *arena,
                   const CleaveStorage *storage,
                   const CleaveGraph *graph,
                   const CleaveSchedule *schedule)
{
  g_auto (Lifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_autofree guint *order = begin (arena, &l, 0);

  arena->n_bytes = place (arena->offsets, &l, order, arena->peak);
  keep_uses (&l, arena, &order);
}

void
cleave_arena_init_unplaced (CleaveArena *arena,
                            const CleaveStorage *storage,
                            const CleaveGraph *graph,
                            const CleaveSchedule *schedule)
{
  g_auto (Lifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
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
  g_auto (Lifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_autofree guint *order = begin (arena, &l, slack);

  arena->n_bytes = location (arena->offsets, &l, order, at_most, TRUE);
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
has_no_overlap (const CleaveArena *arena, const Lifetimes *l, const guint *order)
{
  guint n = l->storage->buffers->len;
  g_autoptr (GTree) in_use = g_tree_new_with_data (compare_offsets, arena->offsets);
  g_autofree guint *ends = g_memdup2 (order, n * sizeof (guint));
  guint n_ended = 0;

  if (n > 0)
    g_qsort_with_data (ends, (int) n, sizeof (guint), compare_first, l->last);
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
  g_auto (Lifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
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
  g_auto (Lifetimes) l = { .storage = storage, .graph = graph, .schedule = schedule };
  g_auto (CleaveArenaThreads) threads = { 0 };
  g_auto (Placing) p = { 0 };

  find_lifetimes (&l, arena->slack);
  if (storage->buffers->len == 0 || !placing_init (&p, &l, arena->order))
    return;
  for (guint i = 0; i < p.task.n_buffers; i++)
    p.offsets[i] = arena->offsets[arena->order[i]];
  cleave_arena_threads_init (&threads, storage, graph, schedule, arena->order, &arena->used);
  cleave_arena_move_to_threads (&p.task, &threads, arena->n_bytes, p.offsets);
  for (guint i = 0; i < p.task.n_buffers; i++)
    arena->offsets[arena->order[i]] = p.offsets[i];
}

/* The lifetime of one buffer in a schedule. */
typedef struct
{
  guint first, last; /* positions of the first and the last use in the schedule's order */
  double end;        /* estimated time at which all uses have ended, in nanoseconds */
} Lifetime;

static Lifetime *
find_spans (const CleaveScheduleTask *task, const CleaveSchedule *schedule)
{
  Lifetime *lifetimes = g_new0 (Lifetime, task->n_buffers + 1);

  for (guint b = 0; b < task->n_buffers; b++)
    lifetimes[b].first = G_MAXUINT;
  for (guint position = 0; position < schedule->n_steps; position++)
    {
      guint step = schedule->order[position];

      for (guint i = task->touch_begin[step]; i < task->touch_begin[step + 1]; i++)
        {
          Lifetime *lifetime = &lifetimes[task->touched[i]];

          lifetime->first = MIN (lifetime->first, position);
          lifetime->last = position;
          lifetime->end = MAX (lifetime->end, schedule->ends[step]);
        }
    }
  return lifetimes;
}

gint64
cleave_arena_get_peak (const CleaveScheduleTask *task, const CleaveSchedule *schedule)
{
  g_autofree Lifetime *lifetimes = find_spans (task, schedule);
  g_autofree gint64 *change = g_new0 (gint64, schedule->n_steps + 1);

  for (guint b = 0; b < task->n_buffers; b++)
    {
      change[lifetimes[b].first] += task->n_bytes[b];
      change[find_gone (schedule, lifetimes[b].last, lifetimes[b].end)] -= task->n_bytes[b];
    }
  return sum_up (change, schedule->n_steps);
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
