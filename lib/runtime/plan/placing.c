/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Places the buffers of a schedule in an arena, with the search of arena.h. If many buffers are in
 * use at once, uses the faster sweep of arena-sweep.h. */

#include "placing.h"

#include "arena-sweep.h"
#include "liveness.h"

typedef struct
{
  guint a, b; /* indices of the two buffers in `order`, the buffers sorted by first use */
} Pair;

/* Limit on the average number of buffers with which each buffer is compared. Above this limit, a
 * sweep replaces the quadratic search: for 4,000 buffers in use at once, the sweep takes 2 ms
 * instead of a second. */
#define MAX_VISITS_EACH 256

void
cleave_placing_clear (CleavePlacing *p)
{
  g_free (p->begin);
  g_free (p->conflicts);
  g_free (p->time);
  g_free (p->n_bytes);
  g_free (p->offsets);
}

/* Returns all pairs of buffers that may not share memory (Pair); NULL if there are too many. Takes
 * time proportional to the number of buffers times the number of buffers in use at once. */
static GArray *
find_pairs (const CleaveLifetimes *l, const guint *order)
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
          if (cleave_lifetimes_conflict (l, order[pair.a], order[i]))
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

gboolean
cleave_placing_init (CleavePlacing *p, const CleaveLifetimes *l, const guint *order)
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

gint64
cleave_placing_pack (
    gint64 *offsets, const CleaveLifetimes *l, const guint *order, gint64 at_least, gboolean quick)
{
  g_auto (CleavePlacing) p = { 0 };
  gint64 size;

  if (l->n_buffers == 0)
    return 0;
  if (!cleave_placing_init (&p, l, order))
    return -1;
  p.task.quick = quick;
  size = cleave_arena_place (&p.task, at_least, p.offsets);
  for (guint i = 0; i < p.task.n_buffers; i++)
    offsets[order[i]] = p.offsets[i];
  return size;
}

/* Sets `offsets`, indexed by buffer, with cleave_arena_sweep(): faster than cleave_arena_place(),
 * but the arena is larger. Returns the bytes of the arena. */
static gint64
sweep (gint64 *offsets, const CleaveLifetimes *l, const guint *order)
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

gint64
cleave_placing_place (gint64 *offsets,
                      const CleaveLifetimes *l,
                      const guint *order,
                      gint64 at_least)
{
  const gint64 size = cleave_placing_pack (offsets, l, order, at_least, FALSE);

  return size < 0 ? sweep (offsets, l, order) : size;
}

gint64
cleave_arena_place_spans (const CleaveArenaSpan *spans, guint n, gint64 at_least)
{
  g_auto (CleaveLifetimes) l = { .n_buffers = n, .n_bytes = g_new (gint64, n + 1) };
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
  return cleave_placing_place (offsets, &l, order, at_least);
}
