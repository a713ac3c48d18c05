/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Reduces traffic between cores. The search looks at one buffer after the other. It moves the
 * buffer to a free offset, or swaps the offsets of two buffers of one size, if fewer bytes then
 * pass from one thread to another. For each move, the search compares the traffic at the old and
 * the new offset, counting all buffers that occupy these bytes over time. */

#include "arena-threads.h"

/* Smallest size of a buffer that is moved, in bytes. Moving a smaller buffer saves too little
 * traffic. */
#define MIN_BYTES (16 << 10)
/* Limit on the rounds; each round tries to move every large buffer once. A round without a move
 * ends the search. */
#define MAX_ROUNDS 3
/* Large buffers are sorted by first use. A buffer may move to the offset of one of the WINDOW large
 * buffers before it in this order, or of one of the WINDOW large buffers after it. */
#define WINDOW 32
/* Limit on visits of buffers: a visit compares two buffers, and all visits take about 4 ms. On the
 * networks of tests/peers/classes, four times this limit saves up to 1.25 times as much traffic. */
#define MAX_VISITS (1 << 19)

/* State of the computation that finds, for each buffer, the range of bytes that each thread
 * uses. */

typedef struct
{
  CleaveArenaThreads *threads;
  const CleaveStorage *storage;
  guint *number; /* indexed by buffer of the storage: its index in `order` */
  guint step, thread;
} Reaching;

/* Returns the range of a buffer that a step reads or writes, in bytes from the buffer's begin. A
 * LOAD or COPY step writes only the range of the value that its box gives; other steps use the
 * whole value. */
static CleaveArenaReach
find_reach (const Reaching *r, const CleaveAssignment *assignment, gboolean writes)
{
  const CleaveStep *step = &g_array_index (r->storage->steps, CleaveStep, r->step);
  gboolean is_part = writes && (step->kind == CLEAVE_STEP_LOAD || step->kind == CLEAVE_STEP_COPY);
  const CleaveTensorType *type = &assignment->result->type;
  gint64 size = (gint64) cleave_element_size (type->element);
  CleaveRange range = is_part ? g_array_index (r->storage->boxes, CleaveRange, step->box)
                              : cleave_range_whole (&type->shape);
  CleaveLocation location = cleave_location_part (&assignment->location, &range);
  CleaveShape shape = cleave_range_shape (&range);
  CleaveSpan span = cleave_location_get_span (&location, &shape);

  return (CleaveArenaReach){ span.begin * size, span.end * size };
}

static void
widen (CleaveArenaReach *all, const CleaveArenaReach *reach)
{
  if (reach->begin >= reach->end)
    return;
  *all = all->begin >= all->end
             ? *reach
             : (CleaveArenaReach){ MIN (all->begin, reach->begin), MAX (all->end, reach->end) };
}

static void
note_reach (const CleaveAssignment *assignment, gboolean writes, gpointer data)
{
  const Reaching *r = data;
  guint buffer = r->storage->buffer[assignment->location.root];
  CleaveArenaShare *share;
  CleaveArenaReach reach;

  if (buffer == CLEAVE_NEVER)
    return;
  reach = find_reach (r, assignment, writes);
  share = &r->threads->shares[r->threads->begin[r->number[buffer]]];
  while (share->thread != r->thread)
    share++;
  widen (&share->touched, &reach);
  if (writes)
    widen (&share->written, &reach);
}

/* Adds to `threads` an empty range of used bytes for each thread that uses a buffer. */
static void
add_shares (CleaveArenaThreads *threads,
            guint n_buffers,
            const guint *order,
            const CleaveWaits *used)
{
  guint n = 0;

  threads->begin = g_new (guint, n_buffers + 1);
  threads->shares = g_new0 (CleaveArenaShare, (gsize) used->list->len + 1);
  for (guint b = 0; b < n_buffers; b++)
    {
      threads->begin[b] = n;
      for (guint i = used->first[order[b]]; i < used->first[order[b] + 1]; i++)
        threads->shares[n++].thread = g_array_index (used->list, CleaveWait, i).thread;
    }
  threads->begin[n_buffers] = n;
}

void
cleave_arena_threads_init (CleaveArenaThreads *threads,
                           const CleaveStorage *storage,
                           const CleaveGraph *graph,
                           const CleaveSchedule *schedule,
                           const guint *order,
                           const CleaveWaits *used)
{
  guint n_buffers = storage->buffers->len;
  g_autofree guint *number = g_new (guint, n_buffers + 1);
  Reaching r = { .threads = threads, .storage = storage, .number = number };

  add_shares (threads, n_buffers, order, used);
  for (guint i = 0; i < n_buffers; i++)
    number[order[i]] = i;
  for (; r.step < storage->steps->len; r.step++)
    {
      r.thread = schedule->thread[r.step];
      cleave_storage_visit (storage, graph, &g_array_index (storage->steps, CleaveStep, r.step),
                            note_reach, &r);
    }
}

void
cleave_arena_threads_clear (CleaveArenaThreads *threads)
{
  g_clear_pointer (&threads->begin, g_free);
  g_clear_pointer (&threads->shares, g_free);
}

/* State of the search for moves of buffers within the arena. */

typedef struct
{
  gint64 begin, end;
  guint buffer;
} Tenure;

typedef struct
{
  const CleaveArenaTask *task;
  const CleaveArenaThreads *threads;
  gint64 size, *offsets;
  guint *large, n_large; /* indices of the buffers of at least MIN_BYTES, sorted by first use */
  guint first, end; /* indices [first, end) in `large` of the buffers whose offsets are candidates
                       for the current buffer */
  GArray *tenures;  /* Tenure: disjoint ranges of the arena, each with the buffer that occupied it
                       last */
  gint64 foreign;   /* number of bytes of the current buffer's range in the arena that pass from one
                       thread to another */
  /* offsets tried for the current buffer; the first `n_tried` are set */
  gint64 tried[2 * 2 * WINDOW];
  guint n_tried;
  gint64 n_visits; /* number of visits that are left */
} Moving;

/* Returns the number of bytes of the range [begin, end) that pass to another thread. These are
 * bytes that a thread read or wrote in buffer `old`, and another thread writes in buffer `now`. */
static gint64
count_foreign (const Moving *m, guint old, guint now, gint64 begin, gint64 end)
{
  const CleaveArenaThreads *threads = m->threads;
  gint64 foreign = 0;

  for (guint t = threads->begin[now]; t < threads->begin[now + 1]; t++)
    for (guint u = threads->begin[old]; u < threads->begin[old + 1]; u++)
      {
        const CleaveArenaReach *to = &threads->shares[t].written;
        const CleaveArenaReach *from = &threads->shares[u].touched;
        gint64 first = MAX (m->offsets[now] + to->begin, m->offsets[old] + from->begin);
        gint64 last = MIN (m->offsets[now] + to->end, m->offsets[old] + from->end);

        if (threads->shares[t].thread != threads->shares[u].thread)
          foreign += MAX (MIN (last, end) - MAX (first, begin), 0);
      }
  return foreign;
}

static void
add_tenure (Moving *m, gint64 begin, gint64 end, guint buffer)
{
  Tenure tenure = { begin, end, buffer };

  if (begin < end)
    g_array_append_val (m->tenures, tenure);
}

/* Records that `buffer` occupies the range [begin, end) of the arena, after all buffers that were
 * recorded before. Returns the number of bytes in this range that pass to another thread. These are
 * bytes that a thread writes in `buffer`, and another thread read or wrote in an earlier buffer. */
static gint64
take_over (Moving *m, guint buffer, gint64 begin, gint64 end)
{
  gint64 foreign = 0;

  for (guint i = 0; i < m->tenures->len;)
    {
      const Tenure old = g_array_index (m->tenures, Tenure, i);

      if (old.end <= begin || old.begin >= end)
        {
          i++;
          continue;
        }
      foreign += count_foreign (m, old.buffer, buffer, MAX (old.begin, begin), MIN (old.end, end));
      g_array_remove_index_fast (m->tenures, i);
      add_tenure (m, old.begin, begin, old.buffer);
      add_tenure (m, end, old.end, old.buffer);
    }
  add_tenure (m, begin, end, buffer);
  return foreign;
}

/* Returns the traffic of the buffers `large[m->first … m->end - 1]` in the range [begin, end) of
 * the arena. The traffic is the number of bytes that pass to another thread when a buffer takes
 * memory from an earlier buffer. */
static gint64
count_range (Moving *m, gint64 begin, gint64 end)
{
  gint64 foreign = 0;

  g_array_set_size (m->tenures, 0);
  for (guint i = m->first; i < m->end; i++)
    {
      guint buffer = m->large[i];
      gint64 first = MAX (begin, m->offsets[buffer]);
      gint64 last = MIN (end, m->offsets[buffer] + m->task->n_bytes[buffer]);

      if (first < last)
        foreign += take_over (m, buffer, first, last);
    }
  m->n_visits -= m->end - m->first;
  return foreign;
}

/* Returns whether the bytes from offset `at` are free for `buffer`: no conflicting buffer other
 * than `except` overlaps these bytes. */
static gboolean
is_free (Moving *m, guint buffer, gint64 at, guint except)
{
  const CleaveArenaTask *task = m->task;
  gint64 end = at + task->n_bytes[buffer];

  if (at < 0 || end > m->size)
    return FALSE;
  m->n_visits -= (task->begin[buffer + 1] - task->begin[buffer]) / 8;
  for (guint i = task->begin[buffer]; i < task->begin[buffer + 1]; i++)
    {
      guint other = task->conflicts[i];
      gint64 begin = m->offsets[other];

      if (other != except && begin < end && begin + task->n_bytes[other] > at)
        return FALSE;
    }
  return TRUE;
}

/* Returns the number of bytes by which the traffic between threads falls if `buffer` and `other`
 * exchange their offsets. `at` is the offset of `other`. If `other` equals `buffer`, offset `at` is
 * free, and only `buffer` moves. */
static gint64
weigh (Moving *m, guint buffer, gint64 at, guint other)
{
  gint64 from = m->offsets[buffer], n_bytes = m->task->n_bytes[buffer];
  gint64 before = m->foreign + count_range (m, at, at + n_bytes), after;

  m->offsets[buffer] = at;
  if (other != buffer)
    m->offsets[other] = from;
  after = count_range (m, from, from + n_bytes) + count_range (m, at, at + n_bytes);
  m->offsets[buffer] = from;
  if (other != buffer)
    m->offsets[other] = at;
  return before - after;
}

typedef struct
{
  gint64 at, gain;
  guint other; /* the buffer that takes the old offset of the moved buffer; the moved buffer itself
                  if there is no swap */
} Move;

static void
offer (Moving *m, guint buffer, gint64 at, guint other, Move *best)
{
  gint64 from = m->offsets[buffer], gain;

  if (at == from || !is_free (m, buffer, at, other) ||
      (other != buffer && !is_free (m, other, from, buffer)))
    return;
  gain = weigh (m, buffer, at, other);
  if (gain > best->gain)
    *best = (Move){ at, gain, other };
}

/* Evaluates a move of the buffer to offset `at`, unless `at` was tried before or is not free. */
static void
offer_place (Moving *m, guint buffer, gint64 at, Move *best)
{
  for (guint i = 0; i < m->n_tried; i++)
    if (m->tried[i] == at)
      return;
  m->tried[m->n_tried++] = at;
  offer (m, buffer, at, buffer, best);
}

/* Moves the large buffer `large[index]` to the offset where the fewest bytes pass from one thread
 * to another. Candidates are the begin and the end of each large buffer from `index` - WINDOW to
 * `index` + WINDOW, and swaps with buffers of the same size. Returns FALSE if no candidate reduces
 * this number of bytes. */
static gboolean
move (Moving *m, guint index)
{
  const gint64 *n_bytes = m->task->n_bytes;
  guint buffer = m->large[index];
  Move best = { .other = buffer };
  gint64 from = m->offsets[buffer];

  m->first = index - MIN (index, WINDOW);
  m->end = MIN (index + WINDOW, m->n_large);
  m->n_tried = 0;
  m->foreign = count_range (m, from, from + n_bytes[buffer]);
  if (m->foreign == 0)
    return FALSE;
  for (guint i = m->first; i < m->end && m->n_visits > 0; i++)
    {
      guint other = m->large[i];

      if (other == buffer)
        continue;
      offer_place (m, buffer, m->offsets[other], &best);
      offer_place (m, buffer, m->offsets[other] + n_bytes[other], &best);
      if (n_bytes[other] == n_bytes[buffer])
        offer (m, buffer, m->offsets[other], other, &best);
    }
  if (best.gain == 0)
    return FALSE;
  m->offsets[buffer] = best.at;
  if (best.other != buffer)
    m->offsets[best.other] = from;
  return TRUE;
}

void
cleave_arena_move_to_threads (const CleaveArenaTask *task,
                              const CleaveArenaThreads *threads,
                              gint64 size,
                              gint64 *offsets)
{
  g_autofree guint *large = g_new (guint, task->n_buffers + 1);
  g_autoptr (GArray) tenures = g_array_new (FALSE, FALSE, sizeof (Tenure));
  Moving m = { .task = task,
               .threads = threads,
               .size = size,
               .offsets = offsets,
               .large = large,
               .tenures = tenures,
               .n_visits = MAX_VISITS };
  gboolean moved = TRUE;

  for (guint b = 0; b < task->n_buffers; b++)
    if (task->n_bytes[b] >= MIN_BYTES)
      large[m.n_large++] = b;
  for (guint round = 0; moved && round < MAX_ROUNDS; round++)
    {
      moved = FALSE;
      for (guint i = 0; i < m.n_large && m.n_visits > 0; i++)
        moved |= move (&m, i);
    }
}
