/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the positions between which each buffer of a schedule is in use, and the peak. */

#include "lifetimes.h"

#include "clocks.h"
#include "liveness.h"

/* A touch: a step reads or writes a buffer. `end`: the wait for the end of the step. A later step
 * needs this wait before the later step can reuse the memory of the buffer. */
typedef struct
{
  guint buffer;
  CleaveWait end;
} Touch;

void
cleave_lifetimes_clear (CleaveLifetimes *l)
{
  g_free (l->n_bytes);
  g_free (l->first);
  g_free (l->last);
  g_free (l->gone);
  g_free (l->late);
  g_clear_pointer (&l->fragments, g_array_unref);
  g_free (l->fragment_begin);
  g_clear_pointer (&l->touches, g_array_unref);
  cleave_waits_clear (&l->used);
  g_free (l->done_at_use);
}

static void
note_touch (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  CleaveLifetimes *l = data;
  guint n_threads = l->schedule->n_threads, thread = l->schedule->thread[l->step];
  guint buffer = l->storage->buffer[assignment->location.root];
  const Touch touch = { buffer, { thread, l->schedule->index[l->step] + 1 } };

  if (buffer == CLEAVE_NEVER) /* a constant has no buffer in the arena */
    return;
  l->first[buffer] = MIN (l->first[buffer], l->position);
  l->last[buffer] = l->position;
  g_array_append_val (l->touches, touch);
  for (guint t = 0; l->done_at_use != NULL && t < n_threads; t++)
    {
      guint *done_at_use = &l->done_at_use[(gsize) buffer * n_threads + t];

      *done_at_use = MIN (*done_at_use, l->clock[t]);
    }
}

/* Visits the steps in the order of the schedule, and calls `visit` for each value that a step uses.
 * If there is slack, also follows the waits of the schedule. The waits tell which steps are
 * certainly done when a step begins (clocks.h), and the field `done_at_use` needs this. */
static void
visit_all (CleaveLifetimes *l, CleaveStepVisit visit)
{
  const CleaveWaits *needs = &l->schedule->needs;
  g_auto (CleaveClocks) clocks = { 0 };

  cleave_clocks_init (&clocks, l->schedule);
  for (guint i = 0; l->done_at_use != NULL && i < needs->list->len; i++)
    cleave_clocks_expect (&clocks, g_array_index (needs->list, CleaveWait, i));
  for (l->position = 0; l->position < l->schedule->n_steps; l->position++)
    {
      l->step = l->schedule->order[l->position];
      l->clock = cleave_clocks_begin (&clocks, l->step);
      for (guint i = needs->first[l->step]; l->done_at_use != NULL && i < needs->first[l->step + 1];
           i++)
        cleave_clocks_wait (&clocks, l->step, g_array_index (needs->list, CleaveWait, i));
      cleave_clocks_end (&clocks, l->step);
      cleave_storage_visit (l->storage, l->graph,
                            &g_array_index (l->storage->steps, CleaveStep, l->step), visit, l);
    }
}

/* Returns the touches (uses of buffers by steps), sorted by buffer, in linear time. */
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

/* Sets `used`: for each buffer, the last use of the buffer by each thread. Relies on the order of
 * the touches: among the touches of a buffer by one thread, a later touch is by a later step of
 * this thread. */
static void
find_used (CleaveLifetimes *l)
{
  guint n_buffers = l->storage->buffers->len, n_touches = l->touches->len, i = 0;
  g_autofree Touch *touches = sort_touches (l->touches, n_buffers);
  g_autofree guint *place =
      g_new0 (guint, l->schedule->n_threads); /* indexed by thread: 1 + the index of the thread's
                                                 wait in the list; 0: no wait */

  l->used = (CleaveWaits){ g_new (guint, (gsize) n_buffers + 1),
                           g_array_new (FALSE, FALSE, sizeof (CleaveWait)) };
  for (guint b = 0; b < n_buffers; b++)
    {
      guint begin = l->used.first[b] = l->used.list->len;

      for (; i < n_touches && touches[i].buffer == b; i++)
        {
          const CleaveWait *use = &touches[i].end;

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
find_end (const CleaveLifetimes *l, guint buffer)
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

/* Returns the first position after `last` whose step begins at time `end` (nanoseconds) or later.
 * The steps are sorted by their estimated begin. */
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

/* Sets `fragments` and `fragment_begin`. The fragments of the storage begin and end at steps;
 * replaces the steps by positions in the order of the schedule. Only schedules of one thread have
 * laps, and such a schedule runs the steps in their order. */
static void
find_fragments (CleaveLifetimes *l)
{
  const guint n = l->n_buffers, n_steps = l->schedule->n_steps;
  g_autofree guint *position = g_new (guint, n_steps + 1);

  if (l->storage->fragments == NULL)
    return;
  for (guint i = 0; i < n_steps; i++)
    position[l->schedule->order[i]] = i;
  l->fragments = g_array_copy (l->storage->fragments);
  l->fragment_begin = g_new (guint, n + 1);
  for (guint i = 0; i < l->fragments->len; i++)
    {
      CleaveFragment *fragment = &g_array_index (l->fragments, CleaveFragment, i);

      fragment->first = position[fragment->first];
      fragment->last = position[fragment->last];
    }
  l->fragment_begin[0] = 0;
  for (guint b = 0; b < n; b++)
    l->fragment_begin[b + 1] = cleave_storage_end_fragments (l->storage, l->fragment_begin[b], b);
}

void
cleave_lifetimes_init (CleaveLifetimes *l, double slack)
{
  gsize n = l->storage->buffers->len, n_threads = l->schedule->n_threads;

  l->n_buffers = (guint) n;
  l->n_bytes = g_new (gint64, n + 1);
  l->first = g_new (guint, n + 1);
  l->last = g_new0 (guint, n + 1);
  l->gone = g_new (guint, n + 1);
  l->late = g_new (guint, n + 1);
  l->touches = g_array_new (FALSE, FALSE, sizeof (Touch));
  l->done_at_use = slack > 0 ? g_new (guint, n * n_threads + 1) : NULL;
  for (gsize i = 0; slack > 0 && i < n * n_threads; i++)
    l->done_at_use[i] = G_MAXUINT;
  for (guint i = 0; i < n; i++)
    {
      l->n_bytes[i] = g_array_index (l->storage->buffers, CleaveBuffer, i).n_bytes;
      l->first[i] = G_MAXUINT;
    }
  find_fragments (l);
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

guint *
cleave_lifetimes_sort (const guint *first, guint n)
{
  guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) n, sizeof (guint), compare_first, (gpointer) first);
  return order;
}

/* Returns whether the waits of the schedule guarantee, for any duration of the steps, that all uses
 * of buffer `first` are done when a step uses buffer `then`. */
static gboolean
is_certain (const CleaveLifetimes *l, guint first, guint then)
{
  gsize n_threads = l->schedule->n_threads;

  for (guint i = l->used.first[first]; i < l->used.first[first + 1]; i++)
    {
      const CleaveWait *use = &g_array_index (l->used.list, CleaveWait, i);

      if (use->count > l->done_at_use[then * n_threads + use->thread])
        return FALSE;
    }
  return TRUE;
}

gboolean
cleave_lifetimes_conflict (const CleaveLifetimes *l, guint first, guint then)
{
  return l->gone[first] > l->first[then] ||
         (l->late[first] > l->first[then] && !is_certain (l, first, then));
}

/* Returns the largest of the sums change[0] + … + change[k - 1], for k from 0 to n. */
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

gint64
cleave_lifetimes_get_peak (const CleaveLifetimes *l)
{
  g_autofree gint64 *change = g_new0 (gint64, l->schedule->n_steps + 1);

  for (guint i = 0; i < l->n_buffers; i++)
    {
      guint n = cleave_lifetimes_count_fragments (l, i);

      for (guint f = 0; f < n; f++)
        {
          const CleaveFragment *fragment = cleave_lifetimes_get_fragment (l, i, f);

          change[fragment->first] += fragment->n_bytes;
          change[fragment->last + 1] -= fragment->n_bytes;
        }
      if (n > 0)
        continue;
      change[l->first[i]] += l->n_bytes[i];
      change[l->gone[i]] -= l->n_bytes[i];
    }
  return sum_up (change, l->schedule->n_steps);
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
