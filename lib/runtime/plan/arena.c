/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finding the smallest arena is NP-hard, so cleave_arena_place() tries several greedy orders of the
 * buffers, each with best fit and with first fit. Each buffer goes into a gap between the
 * conflicting buffers that were placed before it: the smallest gap that holds it (best fit) or the
 * lowest one (first fit). If the arena exceeds the lower bound, the next round first places the
 * buffers that ended above the bound. If all orders exceed the bound, eviction (arena-evict.h)
 * tries to pack the smallest arena into fewer bytes. Limits count visits instead of time, so that
 * the result is always the same. A conflict of a buffer is another buffer that must not share
 * memory with it; a visit examines one conflict. */

#include "arena.h"

#include "../../memory/buffers.h"
#include "arena-edges.h"
#include "arena-evict.h"

#include <string.h>

enum { UNPLACED = -1 };

/* Limit on the rounds of a greedy order. A round places all buffers; promote() then moves some of
 * them to the front of the order for the next round. With 5 rounds instead of 20, 27 of 320 random
 * graphs for four threads take up to a third more memory, and 24 take less. */
#define MAX_ROUNDS 20
/* Limit on the rounds of a greedy order if `quick` is set. */
#define QUICK_ROUNDS 2
/* Limit on the visits of all rounds of the five greedy orders with best fit, and again of the five
 * orders with first fit. The limit bounds the time to make a program. */
#define MAX_WORK (G_GINT64_CONSTANT (1) << 20)
/* To place buffer b, packing sorts the placed buffers in conflict with b by offset. If there are at
 * most MAX_PLACED buffers in all, and b has more conflicts than 1/MANY_PART of the placed buffers,
 * pick_blocks() picks the conflicts from a sorted list of all placed buffers. Otherwise, or if a
 * buffer has fragments, sort_out_blocks() sorts the conflicts. With 4 or 16 instead of 8 for
 * MANY_PART, packing takes 2 % more instructions. */
#define MAX_PLACED 65536
#define MANY_PART 8
/* Limit on the number of arena sizes, from the lower bound on, into which squeeze() tries to pack
 * the buffers by eviction. Without eviction, 2 of 320 random graphs take up to 5 % more memory. */
#define MAX_SQUEEZES 5
/* Limits on the conflicts that eviction examines (visits) for all arena sizes. MAX_VISITS_NEAR
 * applies if the greedy orders exceed the lower bound by at most the fraction NEAR. */
#define MAX_VISITS (G_GINT64_CONSTANT (3) << 20)
#define MAX_VISITS_NEAR (G_GINT64_CONSTANT (1) << 19)
#define NEAR 0.01
/* Eviction into the lower bound itself may use only 1/PART_AT_BOUND of MAX_VISITS, since it
 * succeeds early or not at all. Without this limit, a failed attempt at the bound leaves no visits
 * for larger arenas. With the limit, packing takes 1.2 times as long; 79 of 115 arenas of fitted
 * models are up to 10 % smaller, one is 0.8 % larger. */
#define PART_AT_BOUND 2

typedef struct
{
  const CleaveArenaTask *task;
  guint *conflicts;        /* copy of `conflicts` of the task; sort_out_blocks() sorts the conflicts
                              of a buffer in this copy by their current offsets */
  CleaveArenaEdge *blocks; /* placed buffers in conflict with the current buffer, sorted by begin */
  CleaveArenaEdge *scratch;
  guint n_blocks;
  guint *away;             /* unplaced buffers in conflict with the current buffer */
  guint *placed, n_placed; /* placed buffers that are not empty, sorted by offset */
  guint *asked, n_asked;   /* `n_asked`: number of calls of pick_blocks(); asked[b]: value of
                              `n_asked` in the last call whose buffer conflicts with buffer b */
  guint *order;
  gint64 *offsets, *best_offsets;
  gint64 best;
  /* TRUE: use the lowest gap (first fit); FALSE: use the smallest gap (best fit) */
  gboolean first_fit;
  gint64 n_visits; /* number of visits that eviction has left */
} Packing;

/* Fills `blocks` with the placed buffers that conflict with `buffer`, in the order of `placed`,
 * which is sorted by offset. This is faster than sorting if `buffer` has many conflicts. */
static void
pick_blocks (Packing *packing, guint buffer)
{
  const CleaveArenaTask *task = packing->task;

  packing->n_asked++;
  packing->n_blocks = 0;
  for (guint i = task->begin[buffer]; i < task->begin[buffer + 1]; i++)
    packing->asked[task->conflicts[i]] = packing->n_asked;
  for (guint i = 0; i < packing->n_placed; i++)
    {
      guint other = packing->placed[i];
      gint64 begin;

      if (packing->asked[other] != packing->n_asked)
        continue;
      begin = packing->offsets[other];
      packing->blocks[packing->n_blocks++] =
          (CleaveArenaEdge){ begin, begin + task->n_bytes[other], other };
    }
}

static void
note_place (Packing *packing, guint buffer)
{
  guint low = 0, high = packing->n_placed, *placed = packing->placed;

  if (packing->task->n_buffers > MAX_PLACED || packing->task->n_bytes[buffer] == 0)
    return;
  while (low < high)
    {
      guint middle = low + (high - low) / 2;

      if (packing->offsets[placed[middle]] > packing->offsets[buffer])
        high = middle;
      else
        low = middle + 1;
    }
  memmove (placed + low + 1, placed + low, (packing->n_placed++ - low) * sizeof (guint));
  placed[low] = buffer;
}

/* Fills `blocks` with the placed buffers that conflict with `buffer`, sorted by offset. Stores the
 * sorted order in `conflicts`, so that the next sort takes nearly linear time. */
static void
sort_out_blocks (Packing *packing, guint buffer)
{
  const CleaveArenaTask *task = packing->task;
  guint *conflicts = packing->conflicts + task->begin[buffer];
  guint n = task->begin[buffer + 1] - task->begin[buffer], n_blocks = 0, n_away = 0;

  for (guint i = 0; i < n; i++)
    {
      const CleaveArenaPartial other = cleave_arena_get_partial (task, conflicts[i]);
      gint64 offset = packing->offsets[other.buffer];

      if (offset != UNPLACED && task->n_bytes[other.buffer] > 0)
        packing->blocks[n_blocks++] =
            (CleaveArenaEdge){ offset + other.begin, offset + other.end, conflicts[i] };
      else
        packing->away[n_away++] = conflicts[i];
    }
  cleave_arena_sort_edges (packing->blocks, packing->scratch, n_blocks);
  for (guint i = 0; i < n_blocks; i++)
    conflicts[i] = packing->blocks[i].buffer;
  memcpy (conflicts + n_blocks, packing->away, n_away * sizeof (guint));
  packing->n_blocks = n_blocks;
}

static void
find_blocks (Packing *packing, guint buffer)
{
  const CleaveArenaTask *task = packing->task;
  guint n = task->begin[buffer + 1] - task->begin[buffer];

  if (task->partials == NULL && task->n_buffers <= MAX_PLACED && n > packing->n_placed / MANY_PART)
    pick_blocks (packing, buffer);
  else
    sort_out_blocks (packing, buffer);
}

static gint64
find_gap (const Packing *packing, gint64 n_bytes)
{
  gint64 top = 0, best = UNPLACED, best_gap = G_MAXINT64;

  for (guint i = 0; i < packing->n_blocks; i++)
    {
      const CleaveArenaEdge *block = &packing->blocks[i];
      gint64 gap = block->at - top;

      if (gap >= n_bytes && gap < best_gap)
        {
          best = top;
          best_gap = packing->first_fit ? 0 : gap;
        }
      top = MAX (top, block->value);
    }
  return best == UNPLACED ? top : best;
}

/* Places all buffers in the current order. Returns the bytes of the arena. `is_last` TRUE: no later
 * round needs the offsets, so the function stops when the arena is as large as the smallest arena
 * so far. */
static gint64
pack (Packing *packing, gboolean is_last)
{
  const CleaveArenaTask *task = packing->task;
  gint64 size = 0;

  packing->n_placed = 0;
  for (guint i = 0; i < task->n_buffers; i++)
    packing->offsets[i] = UNPLACED;
  for (guint i = 0; i < task->n_buffers && !(is_last && size >= packing->best); i++)
    {
      guint buffer = packing->order[i];

      find_blocks (packing, buffer);
      packing->offsets[buffer] = find_gap (packing, task->n_bytes[buffer]);
      note_place (packing, buffer);
      size = MAX (size, packing->offsets[buffer] + task->n_bytes[buffer]);
    }
  return size;
}

/* Packs in the current order, and saves the offsets if the arena is the smallest so far. */
static void
try (Packing *packing, gboolean is_last)
{
  gint64 size = pack (packing, is_last);

  if (size >= packing->best)
    return;
  packing->best = size;
  memcpy (packing->best_offsets, packing->offsets, packing->task->n_buffers * sizeof (gint64));
}

typedef int (*Compare) (const CleaveArenaTask *task, guint a, guint b);

static int
by_time (const CleaveArenaTask *task, guint a, guint b)
{
  return (task->time[a] > task->time[b]) - (task->time[a] < task->time[b]);
}

static int
by_size (const CleaveArenaTask *task, guint a, guint b)
{
  gint64 x = task->n_bytes[a], y = task->n_bytes[b];

  return x != y ? (x < y) - (x > y) : by_time (task, a, b);
}

static int
by_conflicts (const CleaveArenaTask *task, guint a, guint b)
{
  guint x = task->begin[a + 1] - task->begin[a], y = task->begin[b + 1] - task->begin[b];

  return x != y ? (x < y) - (x > y) : by_size (task, a, b);
}

/* Returns the class of a buffer: the bit length of the number of its conflicts, a rough measure of
 * how long the buffer is in use. */
static guint
get_class (const CleaveArenaTask *task, guint buffer)
{
  return g_bit_storage (task->begin[buffer + 1] - task->begin[buffer]);
}

static int
by_class_and_size (const CleaveArenaTask *task, guint a, guint b)
{
  guint x = get_class (task, a), y = get_class (task, b);

  return x != y ? (x < y) - (x > y) : by_size (task, a, b);
}

static int
by_class_and_time (const CleaveArenaTask *task, guint a, guint b)
{
  guint x = get_class (task, a), y = get_class (task, b);

  return x != y ? (x < y) - (x > y) : by_time (task, a, b);
}

typedef struct
{
  const CleaveArenaTask *task;
  Compare compare;
} Sorting;

static int
compare_buffers (gconstpointer a, gconstpointer b, gpointer data)
{
  const Sorting *sorting = data;

  return sorting->compare (sorting->task, *(const guint *) a, *(const guint *) b);
}

static void
sort_order (Packing *packing, Compare compare)
{
  Sorting sorting = { packing->task, compare };

  for (guint i = 0; i < packing->task->n_buffers; i++)
    packing->order[i] = i;
  g_qsort_with_data (packing->order, (int) packing->task->n_buffers, sizeof (guint),
                     compare_buffers, &sorting);
}

/* Moves the buffers that end above offset `limit` to the front of the order. The order among the
 * moved buffers does not change, nor the order among the other buffers. */
static void
promote (Packing *packing, gint64 limit)
{
  const CleaveArenaTask *task = packing->task;
  g_autofree guint *old = g_memdup2 (packing->order, task->n_buffers * sizeof (guint));
  guint n = 0;

  for (guint pass = 0; pass < 2; pass++)
    for (guint i = 0; i < task->n_buffers; i++)
      if ((packing->offsets[old[i]] + task->n_bytes[old[i]] > limit) == (pass == 0))
        packing->order[n++] = old[i];
}

/* Runs all greedy orders, with first fit if `first_fit` is set, otherwise with best fit. */
static void
try_orders (Packing *packing, gint64 at_least, gint64 n_rounds)
{
  static const Compare compares[] = { by_size, by_conflicts, by_class_and_size, by_class_and_time,
                                      by_time };

  for (guint c = 0; c < (packing->task->quick ? 1 : G_N_ELEMENTS (compares)); c++)
    {
      sort_order (packing, compares[c]);
      for (gint64 round = 0; round < n_rounds && packing->best > at_least; round++)
        {
          try (packing, round + 1 == n_rounds);
          if (round + 1 < n_rounds)
            promote (packing, at_least);
        }
    }
}

static gboolean
fit (Packing *packing, gint64 capacity, guint n_seeds)
{
  capacity -= capacity % CLEAVE_BUFFER_ALIGNMENT; /* a multiple of the alignment, since eviction
                                                     also places buffers right below the capacity */
  for (guint seed = 0; seed < n_seeds; seed++)
    for (guint rule = 0; rule <= CLEAVE_EVICT_EARLIEST && packing->n_visits > 0; rule++)
      if (cleave_arena_evict (packing->task, capacity, rule, seed, &packing->n_visits,
                              packing->best_offsets))
        {
          packing->best = capacity;
          return TRUE;
        }
  return FALSE;
}

/* Tries to pack the buffers by eviction into arenas of several sizes. If the smallest arena so far
 * is near the lower bound, the first size is the bound. Each later size is halfway between the
 * largest size that failed and the smallest arena so far. */
static void
squeeze (Packing *packing, gint64 at_least)
{
  gint64 failed = at_least, close = at_least / 1024;
  /* TRUE: the smallest arena so far exceeds the lower bound by at most 25 %. Otherwise the search
   * skips the bound: with several threads, an arena of this size may be impossible */
  gboolean is_near = packing->best - at_least <= at_least / 4;
  gint64 n_visits;

  if (packing->best <= at_least)
    return;
  n_visits =
      (double) packing->best <= (1 + NEAR) * (double) at_least ? MAX_VISITS_NEAR : MAX_VISITS;
  packing->n_visits = n_visits / PART_AT_BOUND;
  if (is_near && fit (packing, at_least, 4))
    return;
  packing->n_visits = n_visits;
  for (guint i = 1; i < MAX_SQUEEZES && packing->best - failed > close; i++)
    {
      gint64 capacity = failed + (packing->best - failed) / 2;

      if (!fit (packing, capacity, 1))
        failed = capacity;
    }
  if (is_near && (double) packing->best > CLEAVE_ARENA_CLOSE * (double) at_least)
    {
      packing->n_visits = MAX_VISITS;
      fit (packing, (gint64) (CLEAVE_ARENA_CLOSE * (double) at_least), 2);
    }
}

gint64
cleave_arena_place (const CleaveArenaTask *task, gint64 at_least, gint64 *offsets)
{
  guint n = task->n_buffers, n_blocks = cleave_arena_count_most_conflicts (task);
  g_autofree guint *conflicts = g_new (guint, (gsize) task->begin[n] + 1);
  g_autofree CleaveArenaEdge *blocks = g_new (CleaveArenaEdge, 2 * (gsize) n_blocks);
  g_autofree guint *away = g_new (guint, n_blocks), *order = g_new (guint, n + 1);
  g_autofree guint *placed = g_new (guint, n), *asked = g_new0 (guint, n);
  g_autofree gint64 *tried = g_new (gint64, n);
  Packing packing = { .task = task,
                      .conflicts = conflicts,
                      .blocks = blocks,
                      .scratch = blocks + n_blocks,
                      .away = away,
                      .placed = placed,
                      .asked = asked,
                      .order = order,
                      .offsets = tried,
                      .best_offsets = offsets,
                      .best = G_MAXINT64 };
  gint64 round_work = task->begin[n] + n + 1;
  gint64 n_rounds = task->quick ? QUICK_ROUNDS : CLAMP (MAX_WORK / round_work / 5, 1, MAX_ROUNDS);

  if (task->begin[n] > 0)
    memcpy (conflicts, task->conflicts, task->begin[n] * sizeof (guint));
  try_orders (&packing, at_least, n_rounds);
  packing.first_fit = TRUE;
  try_orders (&packing, at_least, n_rounds);
  if (!task->quick)
    squeeze (&packing, at_least);
  return packing.best;
}
