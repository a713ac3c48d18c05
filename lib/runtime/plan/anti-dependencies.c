/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds, for each buffer, the earlier buffers that occupied its bytes of the arena, and the last
 * uses of these buffers. A step that uses the buffer waits for the last uses. A tenure is a range
 * of the arena and the last buffer that occupied the range. */

#include "anti-dependencies.h"

#include <string.h>

/* The waits in the range [begin, end) of `list`. When all these waits have ended, no thread uses
 * the memory of the buffers to which the waits belong. */
typedef struct
{
  const GArray *list; /* CleaveWait */
  guint begin, end;
} Uses;

typedef struct
{
  const CleaveReuse *reuse;
  guint n_threads, step;
  Uses *after;    /* indexed by buffer: the last uses of the earlier buffers whose memory the buffer
                     shares */
  GArray *united; /* CleaveWait: merged lists of last uses. If a buffer takes over memory from
                     several buffers, its element of `after` is a range of this array */
  /* guint: indices of the earlier buffers whose memory the current buffer takes over */
  GArray *old;
  guint *counts;     /* indexed by thread: number of steps of the thread that must be done before
                        the current step, or before the first use of the current buffer */
  gboolean *is_used; /* indexed by buffer: TRUE if a step uses the buffer, not counting the steps in
                        `left_out` (CleaveReuse) */
} Waiting;

/* A tenure: a range of the arena in bytes, and the last buffer that occupied it. */
typedef struct
{
  gint64 begin, end;
  guint buffer;
} Tenure;

static Uses
find_uses (const Waiting *w, guint buffer)
{
  const CleaveWaits *used = w->reuse->used;

  return (Uses){ used->list, used->first[buffer], used->first[buffer + 1] };
}

static void
raise_counts (guint *counts, const Uses *uses)
{
  for (guint i = uses->begin; i < uses->end; i++)
    {
      const CleaveWait *wait = &g_array_index (uses->list, CleaveWait, i);

      counts[wait->thread] = MAX (counts[wait->thread], wait->count);
    }
}

static void
add_tenure (GArray *tenures, gint64 begin, gint64 end, guint buffer)
{
  Tenure tenure = { begin, end, buffer };

  if (begin < end)
    g_array_append_val (tenures, tenure);
}

/* Returns the index of the first tenure (a range of the arena) that ends after offset `at`. */
static guint
find_tenure (const GArray *tenures, gint64 at)
{
  guint low = 0, high = tenures->len;

  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (g_array_index (tenures, Tenure, middle).end > at)
        high = middle;
      else
        low = middle + 1;
    }
  return low;
}

/* Returns the last uses of the buffers in `old`, merged into one list. If `old` has a single
 * buffer, which is the usual case, returns that buffer's list in `used`. */
static Uses
unite_uses (const Waiting *w)
{
  guint begin = w->united->len;

  if (w->old->len == 1)
    return find_uses (w, g_array_index (w->old, guint, 0));
  memset (w->counts, 0, w->n_threads * sizeof *w->counts);
  for (guint i = 0; i < w->old->len; i++)
    {
      const Uses uses = find_uses (w, g_array_index (w->old, guint, i));

      raise_counts (w->counts, &uses);
    }
  for (guint t = 0; w->old->len > 0 && t < w->n_threads; t++)
    if (w->counts[t] > 0)
      {
        const CleaveWait wait = { t, w->counts[t] };

        g_array_append_val (w->united, wait);
      }
  return (Uses){ w->united, begin, w->united->len };
}

/* Records in `tenures` that a buffer occupies its range of the arena. Sets `after` of the buffer to
 * the last uses of the previous buffers in this range. Example: buffers a, b and c occupy the same
 * bytes in this order. Users of c wait only for users of b, since users of b have waited for users
 * of a. */
static void
take_over (const Waiting *w, GArray *tenures, const Tenure *mine)
{
  guint begin = find_tenure (tenures, mine->begin), i = begin;
  g_autoptr (GArray) now = g_array_new (FALSE, FALSE, sizeof (Tenure));

  g_array_set_size (w->old, 0);
  for (; i < tenures->len && g_array_index (tenures, Tenure, i).begin < mine->end; i++)
    {
      const Tenure *old = &g_array_index (tenures, Tenure, i);

      g_array_append_val (w->old, old->buffer);
      add_tenure (now, old->begin, MIN (old->end, mine->begin), old->buffer);
      if (old->end > mine->end)
        {
          add_tenure (now, mine->begin, mine->end, mine->buffer);
          add_tenure (now, mine->end, old->end, old->buffer);
        }
    }
  w->after[mine->buffer] = unite_uses (w);
  if (now->len == 0 || g_array_index (now, Tenure, now->len - 1).end <= mine->begin)
    add_tenure (now, mine->begin, mine->end, mine->buffer);
  if (i > begin)
    g_array_remove_range (tenures, begin, i - begin);
  g_array_insert_vals (tenures, begin, now->data, now->len);
}

static void
note_use (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Waiting *w = data;
  guint buffer = w->reuse->storage->buffer[assignment->location.root];

  if (buffer != CLEAVE_NEVER)
    w->is_used[buffer] = TRUE;
}

static void
raise_for_buffer (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Waiting *w = data;
  guint buffer = w->reuse->storage->buffer[assignment->location.root];

  if (buffer != CLEAVE_NEVER)
    raise_counts (w->counts, &w->after[buffer]);
}

static void
visit (Waiting *w, CleaveStepVisit visitor)
{
  const GArray *steps = w->reuse->storage->steps;

  if (w->reuse->left_out == NULL || !w->reuse->left_out[w->step])
    cleave_storage_visit (w->reuse->storage, w->reuse->graph,
                          &g_array_index (steps, CleaveStep, w->step), visitor, w);
}

static void
raise_for_step (guint step, guint *counts, gpointer data)
{
  Waiting *w = data;

  w->step = step;
  w->counts = counts;
  visit (w, raise_for_buffer);
}

CleaveWaits
cleave_reuse_find_waits (const CleaveReuse *reuse, const CleaveSchedule *schedule)
{
  const GArray *buffers = reuse->storage->buffers;
  g_autofree Uses *after = g_new0 (Uses, buffers->len + 1);
  g_autofree guint *counts = g_new0 (guint, schedule->n_threads);
  g_autofree gboolean *is_used = g_new0 (gboolean, buffers->len + 1);
  g_autoptr (GArray) tenures = g_array_new (FALSE, FALSE, sizeof (Tenure));
  g_autoptr (GArray) united = g_array_new (FALSE, FALSE, sizeof (CleaveWait));
  g_autoptr (GArray) old = g_array_new (FALSE, FALSE, sizeof (guint));
  Waiting w = { .reuse = reuse,
                .n_threads = schedule->n_threads,
                .after = after,
                .united = united,
                .old = old,
                .counts = counts,
                .is_used = is_used };
  const CleaveWaitSource source = { raise_for_step, &w };

  for (; w.step < reuse->storage->steps->len; w.step++)
    visit (&w, note_use);
  for (guint i = 0; i < buffers->len; i++)
    {
      guint buffer = reuse->order[i];
      gint64 begin = reuse->offsets[buffer];
      Tenure mine = { begin, begin + g_array_index (buffers, CleaveBuffer, buffer).n_bytes,
                      buffer };

      if (is_used[buffer] && mine.begin < mine.end) /* an empty buffer shares no memory */
        take_over (&w, tenures, &mine);
    }
  return cleave_schedule_find_waits (schedule, &source);
}
