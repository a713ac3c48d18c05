/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Packs buffers into a given capacity by eviction. A buffer that ends above the capacity moves to
 * the offset where the conflicting buffers are cheapest to evict. The search evicts them, and
 * places them again later. Each eviction raises the price of the buffer that evicts, so that the
 * search does not repeat itself. A conflict of a buffer is another buffer that must not share
 * memory with it. The effort of the search is counted in visits: each time the search examines a
 * buffer is one visit. To place a buffer, the search visits the conflicts of this buffer alone. */

#include "arena-evict.h"

#include "arena-edges.h"

#include <math.h>
#include <string.h>

enum { UNPLACED = -1 };

/* Limits on the visits in one call: MAX_VISITS in total, and MAX_VISITS_EACH times the sum of the
 * numbers of buffers and of conflicts. A call that needs more visits hardly ever succeeds. */
#define MAX_VISITS (G_GINT64_CONSTANT (1) << 20)
#define MAX_VISITS_EACH 300

typedef struct
{
  const CleaveArenaTask *task;
  gint64 capacity;
  CleaveEvictRule rule;
  gint64 *offsets, *prices;
  guint *conflicts; /* copy of `conflicts` of the task; find_begins() sorts the conflicts of a
                       buffer in this copy by their current offsets */
  CleaveArenaEdge *begins, *ends; /* begins and ends of the placed buffers that conflict with the
                                     current buffer, sorted, with the prices of evicting these
                                     buffers */
  CleaveArenaEdge *scratch;
  guint n_edges;
  guint *away;    /* indices of the buffers that conflict with the current buffer and are not
                     placed */
  guint *waiting; /* indices of all unplaced buffers */
  double *ranks;  /* indexed by buffer: the rank of the buffer; the search places the unplaced
                     buffer with the lowest rank next */
  guint n_waiting;
  gint64 n_owed; /* lower bound on the number of visits until all unplaced buffers are placed: the
                    total number of their conflicts */
  gint64 n_visits;
  guint32 random;
} Eviction;

/* The cheapest offset found so far for the current buffer, and its price. `n_equal` counts the
 * offsets with this price. */
typedef struct
{
  gint64 at, price;
  guint n_equal;
} Choice;

static guint
count_conflicts (const CleaveArenaTask *task, guint buffer)
{
  return task->begin[buffer + 1] - task->begin[buffer];
}

/* Returns the initial price of evicting a buffer. The price grows with the number of conflicts: a
 * buffer of any size that has many conflicts is in use for long and has few possible offsets. */
static gint64
get_base_price (const CleaveArenaTask *task, guint buffer)
{
  return (gint64) (256 * sqrt (count_conflicts (task, buffer) + 1));
}

/* Fills `begins` with one entry for each placed buffer that conflicts with `buffer`, sorted by
 * offset. Stores the sorted order in `conflicts`, so that the next sort takes nearly linear
 * time. */
static void
find_begins (Eviction *e, guint buffer)
{
  const CleaveArenaTask *task = e->task;
  guint *conflicts = e->conflicts + task->begin[buffer];
  guint n = count_conflicts (task, buffer), n_away = 0;

  e->n_edges = 0;
  for (guint i = 0; i < n; i++)
    {
      const CleaveArenaPartial other = cleave_arena_get_partial (task, conflicts[i]);
      const gint64 offset = e->offsets[other.buffer];

      if (offset != UNPLACED && task->n_bytes[other.buffer] > 0)
        e->begins[e->n_edges++] =
            (CleaveArenaEdge){ offset + other.begin, e->prices[other.buffer], conflicts[i] };
      else
        e->away[n_away++] = conflicts[i];
    }
  cleave_arena_sort_edges (e->begins, e->scratch, e->n_edges);
  for (guint i = 0; i < e->n_edges; i++)
    conflicts[i] = e->begins[i].buffer;
  memcpy (conflicts + e->n_edges, e->away, n_away * sizeof (guint));
}

static void
find_edges (Eviction *e, guint buffer)
{
  const CleaveArenaTask *task = e->task;

  find_begins (e, buffer);
  for (guint i = 0; i < e->n_edges; i++)
    {
      const CleaveArenaPartial other = cleave_arena_get_partial (task, e->begins[i].buffer);

      e->ends[i] = e->begins[i];
      e->ends[i].at = MAX (e->ends[i].at + other.end - other.begin, 0);
    }
  cleave_arena_sort_edges (e->ends, e->scratch, e->n_edges);
  e->n_visits -= count_conflicts (task, buffer) + e->n_edges;
}

/* Returns a pseudorandom number below n, the same on every machine and in every run. */
static guint
draw (Eviction *e, guint n)
{
  e->random = e->random * 1664525 + 1013904223;
  return (guint) (((guint64) e->random * n) >> 32);
}

static void
offer (Eviction *e, Choice *choice, gint64 at, gint64 price)
{
  if (price > choice->price)
    return;
  choice->n_equal = price < choice->price ? 1 : choice->n_equal + 1;
  if (draw (e, choice->n_equal) == 0)
    choice->at = at;
  choice->price = price;
}

/* Tries the offset right above each conflicting buffer. The price of an offset is the sum of the
 * prices of the conflicting buffers that overlap [offset, offset + n_bytes). The sum adds the price
 * of each buffer that begins below offset + n_bytes, and subtracts the price of each buffer that
 * ends at or below `offset`. */
static void
try_offsets_above (Eviction *e, gint64 n_bytes, Choice *choice)
{
  gint64 begun = 0, ended = 0;
  guint b = 0, done = 0;

  for (guint i = 0; i <= e->n_edges; i++)
    {
      gint64 at = i == 0 ? 0 : e->ends[i - 1].at;

      if (at + n_bytes > e->capacity)
        return;
      if (i > 1 && at == e->ends[i - 2].at)
        continue;
      for (; b < e->n_edges && e->begins[b].at < at + n_bytes; b++)
        begun += e->begins[b].value;
      for (; done < e->n_edges && e->ends[done].at <= at; done++)
        ended += e->ends[done].value;
      offer (e, choice, at, begun - ended);
    }
}

/* Tries the offset right below each conflicting buffer. The price of an offset is the sum of the
 * prices of the conflicting buffers that would be evicted, as in try_offsets_above(). */
static void
try_offsets_below (Eviction *e, gint64 n_bytes, Choice *choice)
{
  gint64 begun = 0, ended = 0;
  guint b = e->n_edges, done = b;

  for (guint i = 0; i <= e->n_edges; i++)
    {
      gint64 end = i == 0 ? e->capacity : e->begins[e->n_edges - i].at;

      if (end < n_bytes)
        return;
      if (end > e->capacity || (i > 1 && end == e->begins[e->n_edges - i + 1].at))
        continue;
      for (; done > 0 && e->ends[done - 1].at > end - n_bytes; done--)
        ended += e->ends[done - 1].value;
      for (; b > 0 && e->begins[b - 1].at >= end; b--)
        begun += e->begins[b - 1].value;
      offer (e, choice, end - n_bytes, ended - begun);
    }
}

static void
unplace (Eviction *e, guint buffer)
{
  e->offsets[buffer] = UNPLACED;
  e->waiting[e->n_waiting++] = buffer;
  e->n_owed += count_conflicts (e->task, buffer);
}

static void
place (Eviction *e, guint buffer)
{
  const CleaveArenaTask *task = e->task;
  gint64 n_bytes = task->n_bytes[buffer];
  Choice choice = { .price = G_MAXINT64 };

  find_edges (e, buffer);
  try_offsets_above (e, n_bytes, &choice);
  try_offsets_below (e, n_bytes, &choice);
  e->offsets[buffer] = choice.at;
  if (choice.price == 0)
    return;
  for (guint i = 0; i < e->n_edges && e->begins[i].at < choice.at + n_bytes; i++)
    {
      const CleaveArenaPartial other = cleave_arena_get_partial (task, e->begins[i].buffer);

      if (e->offsets[other.buffer] != UNPLACED &&
          e->begins[i].at + other.end - other.begin > choice.at)
        unplace (e, other.buffer);
    }
  e->prices[buffer] += 2 * get_base_price (task, buffer);
}

static double
find_rank (const Eviction *e, guint buffer)
{
  const CleaveArenaTask *task = e->task;

  return e->rule == CLEAVE_EVICT_EARLIEST
             ? (double) task->time[buffer]
             : -(double) task->n_bytes[buffer] * count_conflicts (task, buffer);
}

static guint
take_next (Eviction *e)
{
  guint next = 0, buffer;

  for (guint i = 1; i < e->n_waiting; i++)
    if (e->ranks[e->waiting[i]] < e->ranks[e->waiting[next]])
      next = i;
  e->n_visits -= e->n_waiting;
  buffer = e->waiting[next];
  e->waiting[next] = e->waiting[--e->n_waiting];
  e->n_owed -= count_conflicts (e->task, buffer);
  return buffer;
}

/* Removes from the arena the buffers that end above the capacity. Returns FALSE if one buffer alone
 * exceeds the capacity. */
static gboolean
begin (Eviction *e, const gint64 *offsets)
{
  const CleaveArenaTask *task = e->task;

  for (guint i = 0; i < task->n_buffers; i++)
    {
      if (task->n_bytes[i] > e->capacity)
        return FALSE;
      e->offsets[i] = offsets[i];
      e->prices[i] = get_base_price (task, i);
      e->ranks[i] = find_rank (e, i);
      if (offsets[i] + task->n_bytes[i] > e->capacity)
        unplace (e, i);
    }
  return TRUE;
}

/* Returns a copy of the task's list of conflicts. The copy is not NULL, even if there are no
 * conflicts. */
static guint *
dup_conflicts (const CleaveArenaTask *task)
{
  guint n = task->begin[task->n_buffers];
  guint *conflicts = g_new (guint, (gsize) n + 1);

  if (n > 0)
    memcpy (conflicts, task->conflicts, n * sizeof *conflicts);
  return conflicts;
}

gboolean
cleave_arena_evict (const CleaveArenaTask *task,
                    gint64 capacity,
                    CleaveEvictRule rule,
                    guint32 seed,
                    gint64 *n_visits,
                    gint64 *offsets)
{
  guint n = task->n_buffers;
  g_autofree gint64 *placed = g_new (gint64, n), *prices = g_new (gint64, n);
  g_autofree guint *conflicts = dup_conflicts (task);
  const gsize n_edges = cleave_arena_count_most_conflicts (task);
  g_autofree CleaveArenaEdge *edges = g_new (CleaveArenaEdge, 3 * n_edges);
  g_autofree double *ranks = g_new (double, n);
  g_autofree guint *away = g_new (guint, n_edges), *waiting = g_new (guint, n);
  gint64 most = MIN (MAX_VISITS, (task->begin[n] + n) * (gint64) MAX_VISITS_EACH);
  Eviction e = { .task = task,
                 .capacity = capacity,
                 .rule = rule,
                 .offsets = placed,
                 .prices = prices,
                 .conflicts = conflicts,
                 .begins = edges,
                 .ends = edges + n_edges,
                 .scratch = edges + 2 * n_edges,
                 .away = away,
                 .waiting = waiting,
                 .ranks = ranks,
                 .n_visits = MIN (most, *n_visits),
                 .random = (seed + 1) * 2654435761u };

  if (!begin (&e, offsets))
    return FALSE;
  *n_visits -= e.n_visits;
  while (e.n_waiting > 0 && e.n_visits > e.n_owed)
    place (&e, take_next (&e));
  *n_visits += e.n_waiting > 0 ? MIN (e.n_visits, 0) : e.n_visits;
  if (e.n_waiting > 0)
    return FALSE;
  memcpy (offsets, placed, n * sizeof (gint64));
  return TRUE;
}
