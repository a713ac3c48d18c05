/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "anti-dependencies.h"

typedef struct
{
  const CleaveReuse *reuse;
  guint n_threads, step;
  guint *after;      /* [buffer][thread]: steps of the thread that must be done before it is used */
  guint *counts;     /* [step][thread]: likewise, before the step */
  gboolean *is_used; /* of each buffer */
} Waiting;

/* Memory and the buffer that had it last. */
typedef struct
{
  gint64 begin, end;
  guint buffer;
} Tenure;

static void
merge_counts (guint *counts, const guint *other, guint n_threads)
{
  for (guint t = 0; t < n_threads; t++)
    counts[t] = MAX (counts[t], other[t]);
}

static void
add_tenure (GArray *tenures, gint64 begin, gint64 end, guint buffer)
{
  Tenure tenure = { begin, end, buffer };

  if (begin < end)
    g_array_append_val (tenures, tenure);
}

/* The first that ends behind `at`. */
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

/* A buffer takes its memory from those that had it, and waits for them; they waited for those that
 * had it before. */
static void
take_over (const Waiting *w, GArray *tenures, const Tenure *mine)
{
  guint n_threads = w->n_threads, begin = find_tenure (tenures, mine->begin), i = begin;
  guint *after = w->after + (gsize) mine->buffer * n_threads;
  g_autoptr (GArray) now = g_array_new (FALSE, FALSE, sizeof (Tenure));

  for (; i < tenures->len && g_array_index (tenures, Tenure, i).begin < mine->end; i++)
    {
      const Tenure *old = &g_array_index (tenures, Tenure, i);

      merge_counts (after, w->reuse->used + (gsize) old->buffer * n_threads, n_threads);
      add_tenure (now, old->begin, MIN (old->end, mine->begin), old->buffer);
      if (old->end > mine->end)
        {
          add_tenure (now, mine->begin, mine->end, mine->buffer);
          add_tenure (now, mine->end, old->end, old->buffer);
        }
    }
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
note_counts (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  Waiting *w = data;
  guint buffer = w->reuse->storage->buffer[assignment->location.root];

  if (buffer != CLEAVE_NEVER)
    merge_counts (w->counts + (gsize) w->step * w->n_threads,
                  w->after + (gsize) buffer * w->n_threads, w->n_threads);
}

static void
visit_all (Waiting *w, CleaveStepVisit visit)
{
  const GArray *steps = w->reuse->storage->steps;

  for (w->step = 0; w->step < steps->len; w->step++)
    if (w->reuse->left_out == NULL || !w->reuse->left_out[w->step])
      cleave_storage_visit (w->reuse->storage, w->reuse->graph,
                            &g_array_index (steps, CleaveStep, w->step), visit, w);
}

CleaveWaits
cleave_reuse_find_waits (const CleaveReuse *reuse, const CleaveSchedule *schedule)
{
  const GArray *buffers = reuse->storage->buffers;
  gsize n_threads = schedule->n_threads;
  g_autofree guint *after = g_new0 (guint, buffers->len * n_threads + 1);
  g_autofree guint *counts = g_new0 (guint, schedule->n_steps * n_threads + 1);
  g_autofree gboolean *is_used = g_new0 (gboolean, buffers->len + 1);
  g_autoptr (GArray) tenures = g_array_new (FALSE, FALSE, sizeof (Tenure));
  Waiting w = { reuse, (guint) n_threads, 0, after, counts, is_used };

  visit_all (&w, note_use);
  for (guint i = 0; i < buffers->len; i++)
    {
      guint buffer = reuse->order[i];
      gint64 begin = reuse->offsets[buffer];
      Tenure mine = { begin, begin + g_array_index (buffers, CleaveBuffer, buffer).n_bytes,
                      buffer };

      if (is_used[buffer] && mine.begin < mine.end) /* nothing is in nobody's way */
        take_over (&w, tenures, &mine);
    }
  visit_all (&w, note_counts);
  return cleave_schedule_find_waits (schedule, counts);
}
