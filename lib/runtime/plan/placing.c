/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Places the buffers of a schedule in an arena, with the search of arena.h. If many buffers are in
 * use at once, the search places only the large buffers. arena-fill.h then places all other
 * buffers. */

#include "placing.h"

#include "arena-fill.h"
#include "liveness.h"

typedef struct
{
  guint a, b; /* indices of the two buffers in `order`, the buffers sorted by first use */
} Pair;

/* A conflict of the bytes [a.begin, a.end) of buffer `pair.a` with the bytes [b.begin, b.end) of
 * buffer `pair.b`. */
typedef struct
{
  Pair pair;
  CleaveSpan a, b;
} PartialPair;

typedef struct
{
  GArray *whole;   /* Pair: buffers that may not share memory */
  GArray *partial; /* PartialPair: buffers of which only parts may not share memory */
} Pairs;

static void
pairs_clear (Pairs *pairs)
{
  g_clear_pointer (&pairs->whole, g_array_unref);
  g_clear_pointer (&pairs->partial, g_array_unref);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (Pairs, pairs_clear)

/* Limit on the average number of buffers with which each buffer is compared. Above this limit, the
 * search for offsets would take too long. */
#define MAX_VISITS_EACH 256
/* If too many buffers are in use at once, the search places only the large buffers. A buffer is
 * large if it has at least 1/MIN_PART of the lower bound of the arena. If too many large buffers
 * are in use at once, this limit is doubled until the search can place the large buffers. */
#define MIN_PART 1024

void
cleave_placing_clear (CleavePlacing *p)
{
  g_free (p->begin);
  g_free (p->conflicts);
  g_free (p->partials);
  g_free (p->time);
  g_free (p->n_bytes);
  g_free (p->offsets);
}

/* Returns the fragment of a buffer with an index; for a buffer without laps, the whole buffer. */
static CleaveFragment
get_fragment (const CleaveLifetimes *l, guint buffer, guint index)
{
  return cleave_lifetimes_count_fragments (l, buffer) > 0
             ? *cleave_lifetimes_get_fragment (l, buffer, index)
             : (CleaveFragment){ buffer, 0, l->n_bytes[buffer], l->first[buffer],
                                 l->gone[buffer] - 1 };
}

/* Adds a pair for each two fragments of two buffers that are in use at the same time. */
static void
add_partial_pairs (GArray *pairs, const CleaveLifetimes *l, const guint *order, Pair pair)
{
  const guint a = order[pair.a], n = MAX (cleave_lifetimes_count_fragments (l, a), 1);
  const guint b = order[pair.b], m = MAX (cleave_lifetimes_count_fragments (l, b), 1);

  for (guint i = 0; i < n; i++)
    for (guint k = 0; k < m; k++)
      {
        const CleaveFragment x = get_fragment (l, a, i), y = get_fragment (l, b, k);
        const PartialPair partial = { pair,
                                      { x.begin, x.begin + x.n_bytes },
                                      { y.begin, y.begin + y.n_bytes } };

        if (x.first <= y.last && y.first <= x.last)
          g_array_append_val (pairs, partial);
      }
}

/* Finds all pairs of the n buffers `order` that may not share memory. Returns FALSE if there are
 * too many. Takes time proportional to n times the number of buffers in use at once. */
static gboolean
find_pairs (Pairs *pairs, const CleaveLifetimes *l, const guint *order, guint n)
{
  g_autofree guint *active = g_new (guint, n + 1);
  guint n_active = 0;
  gsize n_visits = 0;

  pairs->whole = g_array_new (FALSE, FALSE, sizeof (Pair));
  pairs->partial = g_array_new (FALSE, FALSE, sizeof (PartialPair));
  for (guint i = 0; i < n; i++)
    {
      guint kept = 0;

      n_visits += n_active;
      if (n_visits > MAX_VISITS_EACH * (gsize) n)
        return FALSE;
      for (guint a = 0; a < n_active; a++)
        {
          const Pair pair = { active[a], i };

          if (l->late[order[pair.a]] <= l->first[order[i]])
            continue;
          active[kept++] = pair.a;
          if (!cleave_lifetimes_conflict (l, order[pair.a], order[i]))
            continue;
          if (cleave_lifetimes_count_fragments (l, order[pair.a]) > 0 ||
              cleave_lifetimes_count_fragments (l, order[i]) > 0)
            add_partial_pairs (pairs->partial, l, order, pair);
          else
            g_array_append_val (pairs->whole, pair);
        }
      n_active = kept;
      active[n_active++] = i;
    }
  return TRUE;
}

/* Counts the conflicts of each buffer. Sets next[b] to the index of its first conflict. */
static void
count_conflicts (const Pairs *pairs, guint n, guint *next)
{
  for (guint i = 0; i < pairs->whole->len; i++)
    {
      next[g_array_index (pairs->whole, Pair, i).a + 1]++;
      next[g_array_index (pairs->whole, Pair, i).b + 1]++;
    }
  for (guint i = 0; i < pairs->partial->len; i++)
    {
      next[g_array_index (pairs->partial, PartialPair, i).pair.a + 1]++;
      next[g_array_index (pairs->partial, PartialPair, i).pair.b + 1]++;
    }
  for (guint b = 0; b < n; b++)
    next[b + 1] += next[b];
}

/* Returns the conflict of a buffer of `n_bytes` bytes with buffer `other`, if only the ranges `own`
 * and `theirs` conflict. */
static CleaveArenaPartial
make_partial (guint other, gint64 n_bytes, CleaveSpan own, CleaveSpan theirs)
{
  return (CleaveArenaPartial){ other, theirs.begin + n_bytes - own.end, theirs.end - own.begin };
}

static void
list_conflicts (CleavePlacing *p, const Pairs *pairs, guint n)
{
  const guint n_partial = pairs->partial->len;
  guint *next;

  p->begin = g_new0 (guint, n + 2);
  p->conflicts = g_new (guint, 2 * ((gsize) pairs->whole->len + n_partial) + 1);
  p->partials = n_partial == 0 ? NULL : g_new (CleaveArenaPartial, 2 * n_partial);
  next = p->begin + 1;
  count_conflicts (pairs, n, next);
  for (guint i = 0; i < pairs->whole->len; i++)
    {
      const Pair *pair = &g_array_index (pairs->whole, Pair, i);

      p->conflicts[next[pair->a]++] = pair->b;
      p->conflicts[next[pair->b]++] = pair->a;
    }
  for (guint i = 0; i < n_partial; i++)
    {
      const PartialPair *partial = &g_array_index (pairs->partial, PartialPair, i);
      const guint a = partial->pair.a, b = partial->pair.b;

      p->partials[2 * i] = make_partial (b, p->n_bytes[a], partial->a, partial->b);
      p->partials[2 * i + 1] = make_partial (a, p->n_bytes[b], partial->b, partial->a);
      p->conflicts[next[a]++] = n + 2 * i;
      p->conflicts[next[b]++] = n + 2 * i + 1;
    }
}

gboolean
cleave_placing_init (CleavePlacing *p, const CleaveLifetimes *l, const guint *order, guint n)
{
  g_auto (Pairs) pairs = { NULL, NULL };

  if (!find_pairs (&pairs, l, order, n))
    return FALSE;
  p->time = g_new (guint, n + 1);
  p->n_bytes = g_new (gint64, n + 1);
  p->offsets = g_new (gint64, n + 1);
  for (guint i = 0; i < n; i++)
    {
      p->n_bytes[i] = l->n_bytes[order[i]];
      p->time[i] = i;
    }
  list_conflicts (p, &pairs, n);
  p->task = (CleaveArenaTask){ .n_buffers = n,
                               .n_bytes = p->n_bytes,
                               .time = p->time,
                               .begin = p->begin,
                               .conflicts = p->conflicts,
                               .partials = p->partials };
  return TRUE;
}

gint64
cleave_placing_pack (gint64 *offsets,
                     const CleaveLifetimes *l,
                     const guint *order,
                     guint n,
                     gint64 at_least,
                     gboolean quick)
{
  g_auto (CleavePlacing) p = { 0 };
  gint64 size;

  if (n == 0)
    return 0;
  if (!cleave_placing_init (&p, l, order, n))
    return -1;
  p.task.quick = quick;
  size = cleave_arena_place (&p.task, at_least, p.offsets);
  for (guint i = 0; i < n; i++)
    offsets[order[i]] = p.offsets[i];
  return size;
}

/* Sets `large` to the buffers of at least `least` bytes, in their order. Returns their number. */
static guint
list_large (const CleaveLifetimes *l, const guint *order, gint64 least, guint *large)
{
  guint n = 0;

  for (guint i = 0; i < l->n_buffers; i++)
    if (l->n_bytes[order[i]] >= least)
      large[n++] = order[i];
  return n;
}

static int
compare_first (gconstpointer a, gconstpointer b)
{
  const CleaveArenaSpan *x = a, *y = b;

  return (x->first > y->first) - (x->first < y->first);
}

/* Appends the fragments of a buffer at offset `offset`; for a buffer without laps, the whole
 * buffer. */
static void
add_spans (GArray *spans, const CleaveLifetimes *l, guint buffer, gint64 offset)
{
  const guint n = cleave_lifetimes_count_fragments (l, buffer);

  for (guint i = 0; i < MAX (n, 1); i++)
    {
      const CleaveFragment fragment = get_fragment (l, buffer, i);
      const CleaveArenaSpan span = { fragment.n_bytes, fragment.first,
                                     n > 0 ? fragment.last + 1 : l->late[buffer], buffer,
                                     offset + fragment.begin };

      g_array_append_val (spans, span);
    }
}

/* Places the buffers of less than `least` bytes between the other buffers, which have offsets.
 * Returns the bytes of the arena. */
static gint64
fill (gint64 *offsets, const CleaveLifetimes *l, const guint *order, gint64 least)
{
  g_autoptr (GArray) placed = g_array_new (FALSE, FALSE, sizeof (CleaveArenaSpan));
  g_autofree CleaveArenaSpan *spans = g_new (CleaveArenaSpan, l->n_buffers + 1);
  g_autofree gint64 *filled = g_new (gint64, l->n_buffers + 1);
  guint n = 0;
  gint64 size;

  for (guint i = 0; i < l->n_buffers; i++)
    if (l->n_bytes[order[i]] >= least)
      add_spans (placed, l, order[i], offsets[order[i]]);
    else
      spans[n++] = (CleaveArenaSpan){ l->n_bytes[order[i]], l->first[order[i]], l->late[order[i]],
                                      order[i], 0 };
  g_array_sort (placed, compare_first);
  size = cleave_arena_fill ((const CleaveArenaSpan *) (gpointer) placed->data, placed->len, spans,
                            n, filled);
  for (guint i = 0; i < n; i++)
    offsets[spans[i].buffer] = filled[i];
  return size;
}

gint64
cleave_placing_place (gint64 *offsets,
                      const CleaveLifetimes *l,
                      const guint *order,
                      gint64 at_least)
{
  const gint64 size = cleave_placing_pack (offsets, l, order, l->n_buffers, at_least, FALSE);
  g_autofree guint *large = g_new (guint, l->n_buffers + 1);
  gint64 least = MAX (at_least / MIN_PART, 1);

  if (size >= 0)
    return size;
  while (cleave_placing_pack (offsets, l, large, list_large (l, order, least, large), at_least,
                              FALSE) < 0)
    least *= 2;
  return fill (offsets, l, order, least);
}

/* Adds a span to the lifetime of its buffer. */
static void
add_span (CleaveLifetimes *l, const CleaveArenaSpan *span)
{
  const guint b = span->buffer;

  l->n_bytes[b] = MAX (l->n_bytes[b], span->begin + span->n_bytes);
  l->first[b] = MIN (l->first[b], span->first);
  l->gone[b] = MAX (l->gone[b], span->gone);
  l->fragment_begin[b + 1]++;
}

static int
compare_buffers (gconstpointer a, gconstpointer b)
{
  guint x = ((const CleaveFragment *) a)->buffer, y = ((const CleaveFragment *) b)->buffer;

  return (x > y) - (x < y);
}

/* Makes fragments of the spans of each buffer that has several spans. Before the call,
 * fragment_begin[b + 1] is the number of spans of buffer b. After the call, fragment_begin[b] is
 * the index of the first fragment of buffer b. */
static void
add_fragments (CleaveLifetimes *l, const CleaveArenaSpan *spans, guint n)
{
  l->fragments = g_array_new (FALSE, FALSE, sizeof (CleaveFragment));
  for (guint i = 0; i < n; i++)
    {
      const CleaveFragment fragment = { spans[i].buffer, spans[i].begin, spans[i].n_bytes,
                                        spans[i].first, spans[i].gone - 1 };

      if (l->fragment_begin[fragment.buffer + 1] > 1)
        g_array_append_val (l->fragments, fragment);
    }
  g_array_sort (l->fragments, compare_buffers);
  for (guint b = 0; b < l->n_buffers; b++)
    l->fragment_begin[b + 1] =
        l->fragment_begin[b] + (l->fragment_begin[b + 1] > 1 ? l->fragment_begin[b + 1] : 0);
}

gint64
cleave_arena_place_spans (const CleaveArenaSpan *spans, guint n, gint64 at_least)
{
  g_auto (CleaveLifetimes) l = { .n_bytes = g_new0 (gint64, n + 1),
                                 .first = g_new (guint, n + 1),
                                 .gone = g_new0 (guint, n + 1),
                                 .fragment_begin = g_new0 (guint, n + 2) };
  g_autofree guint *order = NULL;
  g_autofree gint64 *offsets = g_new (gint64, n + 1);

  for (guint i = 0; i < n; i++)
    l.first[i] = G_MAXUINT;
  for (guint i = 0; i < n; i++)
    {
      l.n_buffers = MAX (l.n_buffers, spans[i].buffer + 1);
      add_span (&l, &spans[i]);
    }
  add_fragments (&l, spans, n);
  l.late = g_memdup2 (l.gone, n * sizeof (guint));
  order = cleave_lifetimes_sort (l.first, l.n_buffers);
  return cleave_placing_place (offsets, &l, order, at_least);
}
