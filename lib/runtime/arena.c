/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "arena.h"

#include <string.h>

/* Finding the smallest arena is NP-hard, so several greedy orders are tried, with best fit and with
 * first fit: a buffer goes into the smallest, or the lowest, gap between those placed before that
 * holds it.  Where they miss the bound, the buffers that stick out go first in another round; where
 * they all miss it, a climb from the best order follows.  Work is counted in steps, not in time, so
 * the result is always the same. */

enum { UNPLACED = -1 };

#define MAX_ROUNDS 20
#define MAX_CLIMB 1200
/* Visits of a conflict: for each way to begin; for the climb, if the bound is near. */
#define MAX_WORK (G_GINT64_CONSTANT (1) << 20)
#define MAX_LAST_WORK (G_GINT64_CONSTANT (1) << 23)

typedef struct
{
  gint64 begin, end;
} Block;

typedef struct
{
  const CleaveArenaTask *task;
  GArray *blocks; /* Block: those in the way */
  guint *order, *best_order, *rank;
  gint64 *offsets, *best_offsets;
  gint64 best;
  guint32 random;
  gboolean first_fit; /* into the lowest gap, not the smallest */
} Packing;

static int
compare_blocks (gconstpointer a, gconstpointer b)
{
  const Block *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static void
find_blocks (Packing *packing, guint buffer)
{
  const CleaveArenaTask *task = packing->task;

  g_array_set_size (packing->blocks, 0);
  for (guint i = task->begin[buffer]; i < task->begin[buffer + 1]; i++)
    {
      guint other = task->conflicts[i];
      Block block = { packing->offsets[other], packing->offsets[other] + task->n_bytes[other] };

      if (block.begin != UNPLACED && block.end > block.begin)
        g_array_append_val (packing->blocks, block);
    }
  g_array_sort (packing->blocks, compare_blocks);
}

static gint64
find_gap (const Packing *packing, gint64 n_bytes)
{
  gint64 top = 0, best = UNPLACED, best_gap = G_MAXINT64;

  for (guint i = 0; i < packing->blocks->len; i++)
    {
      const Block *block = &g_array_index (packing->blocks, Block, i);
      gint64 gap = block->begin - top;

      if (gap >= n_bytes && gap < best_gap)
        {
          best = top;
          best_gap = packing->first_fit ? 0 : gap;
        }
      top = MAX (top, block->end);
    }
  return best == UNPLACED ? top : best;
}

static gint64
pack (Packing *packing)
{
  const CleaveArenaTask *task = packing->task;
  gint64 size = 0;

  for (guint i = 0; i < task->n_buffers; i++)
    packing->offsets[i] = UNPLACED;
  for (guint i = 0; i < task->n_buffers; i++)
    {
      guint buffer = packing->order[i];

      find_blocks (packing, buffer);
      packing->offsets[buffer] = find_gap (packing, task->n_bytes[buffer]);
      size = MAX (size, packing->offsets[buffer] + task->n_bytes[buffer]);
    }
  return size;
}

/* Packs in the order at hand; remembers it if it is the best so far. */
static gint64
try (Packing *packing)
{
  gsize n = packing->task->n_buffers;
  gint64 size = pack (packing);

  if (size < packing->best)
    {
      packing->best = size;
      memcpy (packing->best_offsets, packing->offsets, n * sizeof (gint64));
      memcpy (packing->best_order, packing->order, n * sizeof (guint));
    }
  return size;
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

/* Roughly how long a buffer lives, by how many it meets. */
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

/* Moves the buffers that end above `limit` to the front of the order, the others behind them as
 * they were. */
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

/* The same numbers on every machine and in every run. */
static guint
draw (Packing *packing, guint n)
{
  packing->random = packing->random * 1664525 + 1013904223;
  return (guint) (((guint64) packing->random * n) >> 32);
}

/* A buffer that ends above `limit`, by chance; G_MAXUINT if there is none. */
static guint
pick_high (Packing *packing, gint64 limit)
{
  const CleaveArenaTask *task = packing->task;
  guint n_seen = 0, pick = G_MAXUINT;

  for (guint b = 0; b < task->n_buffers; b++)
    if (packing->offsets[b] + task->n_bytes[b] > limit && draw (packing, ++n_seen) == 0)
      pick = b;
  return pick;
}

static void
swap (Packing *packing, guint a, guint b)
{
  guint *rank = packing->rank, place = rank[a];

  rank[a] = rank[b];
  rank[b] = place;
  packing->order[rank[a]] = a;
  packing->order[rank[b]] = b;
}

/* Lets a buffer that sticks out, or one two steps from it, change places with one that it met, and
 * keeps what is no worse, or a little now and then, to get out of dead ends. */
static void
climb (Packing *packing, gint64 at_least, gint64 n_rounds)
{
  const CleaveArenaTask *task = packing->task;
  gint64 size = packing->best, patience = MAX_CLIMB / 2;

  memcpy (packing->order, packing->best_order, task->n_buffers * sizeof (guint));
  for (guint i = 0; i < task->n_buffers; i++)
    packing->rank[packing->order[i]] = i;
  pack (packing);
  for (gint64 round = 0, idle = 0; round < n_rounds && idle < patience && packing->best > at_least;
       round++, idle++)
    {
      guint high = pick_high (packing, at_least), other;
      gint64 before = packing->best, now;

      if (high == G_MAXUINT || task->begin[high] == task->begin[high + 1])
        return;
      other = task->conflicts[task->begin[high] +
                              draw (packing, task->begin[high + 1] - task->begin[high])];
      if (draw (packing, 2) == 0)
        high = task->conflicts[task->begin[other] +
                               draw (packing, task->begin[other + 1] - task->begin[other])];
      swap (packing, high, other);
      now = try (packing);
      if (now <= size || (now <= size + size / 400 && draw (packing, 10) == 0))
        size = now;
      else
        swap (packing, high, other);
      if (packing->best < before)
        idle = 0;
    }
}

/* All ways to begin, with one kind of fit. */
static void
try_orders (Packing *packing, gint64 at_least, gint64 n_rounds)
{
  static const Compare compares[] = { by_size, by_conflicts, by_class_and_size, by_class_and_time,
                                      by_time };

  for (guint c = 0; c < G_N_ELEMENTS (compares); c++)
    {
      sort_order (packing, compares[c]);
      for (gint64 round = 0; round < n_rounds && packing->best > at_least; round++)
        {
          try (packing);
          promote (packing, at_least);
        }
    }
}

gint64
cleave_arena_place (const CleaveArenaTask *task, gint64 at_least, gint64 *offsets)
{
  g_autoptr (GArray) blocks = g_array_new (FALSE, FALSE, sizeof (Block));
  g_autofree guint *order = g_new (guint, task->n_buffers),
                   *best_order = g_new (guint, task->n_buffers);
  g_autofree guint *rank = g_new (guint, task->n_buffers);
  g_autofree gint64 *tried = g_new (gint64, task->n_buffers);
  Packing packing = { task, blocks, order, best_order, rank, tried, offsets, G_MAXINT64, 1, FALSE };
  gint64 round_work = task->begin[task->n_buffers] + task->n_buffers + 1;
  gint64 n_rounds = CLAMP (MAX_WORK / round_work / 5, 1, MAX_ROUNDS), work;

  try_orders (&packing, at_least, n_rounds);
  packing.first_fit = TRUE;
  try_orders (&packing, at_least, n_rounds);
  work = packing.best - at_least > at_least / 20 ? MAX_WORK : MAX_LAST_WORK;
  climb (&packing, at_least, MIN (work / round_work, MAX_CLIMB));
  return packing.best;
}
