/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Packs buffers in the order in which they come into use. Each buffer takes the smallest gap that
 * is large enough, and becomes a gap again when it is no longer in use. */

#include "arena-sweep.h"

/* A gap: bytes [begin, end) of the arena that no buffer in use occupies. */
typedef struct
{
  gint64 begin, end;
} Gap;

/* The gaps in two trees: one sorted by begin, to find neighbors, and one sorted by size, to find
 * the smallest gap that is large enough. */
typedef struct
{
  GTree *by_begin;
  GTree *by_size;
} Gaps;

static int
compare_begins (gconstpointer a, gconstpointer b, gpointer data)
{
  const Gap *x = a, *y = b;

  return (x->begin > y->begin) - (x->begin < y->begin);
}

static int
compare_sizes (gconstpointer a, gconstpointer b, gpointer data)
{
  const Gap *x = a, *y = b;
  gint64 m = x->end - x->begin, n = y->end - y->begin;

  return m != n ? (m > n) - (m < n) : compare_begins (a, b, NULL);
}

static void
add_gap (Gaps *gaps, gint64 begin, gint64 end)
{
  const Gap made = { begin, end };
  Gap *gap;

  if (begin >= end)
    return;
  gap = g_memdup2 (&made, sizeof made);
  g_tree_insert (gaps->by_size, gap, gap);
  g_tree_insert (gaps->by_begin, gap, gap);
}

static void
remove_gap (Gaps *gaps, Gap *gap)
{
  g_tree_remove (gaps->by_size, gap);
  g_tree_remove (gaps->by_begin, gap); /* frees the gap, since this tree owns its gaps */
}

static gint64
take (Gaps *gaps, gint64 n_bytes)
{
  const Gap wanted = { 0, n_bytes };
  Gap *gap = g_tree_node_value (g_tree_lower_bound (gaps->by_size, &wanted));
  const Gap left = *gap;

  remove_gap (gaps, gap);
  add_gap (gaps, left.begin + n_bytes, left.end);
  return left.begin;
}

/* Frees the bytes [begin, end): adds them as a gap, merged with the gaps before and after them. */
static void
give_back (Gaps *gaps, gint64 begin, gint64 end)
{
  const Gap at_end = { end, end };
  GTreeNode *node = g_tree_lower_bound (gaps->by_begin, &at_end);
  Gap *after = g_tree_node_value (node); /* never NULL, since the last gap has no end */
  GTreeNode *previous = g_tree_node_previous (node);
  Gap *before = previous == NULL ? NULL : g_tree_node_value (previous);

  if (after->begin == end)
    {
      end = after->end;
      remove_gap (gaps, after);
    }
  if (before != NULL && before->end == begin)
    {
      begin = before->begin;
      remove_gap (gaps, before);
    }
  add_gap (gaps, begin, end);
}

static int
compare_gone (gconstpointer a, gconstpointer b, gpointer data)
{
  const CleaveArenaSpan *spans = data;
  guint x = spans[*(const guint *) a].gone, y = spans[*(const guint *) b].gone;

  return (x > y) - (x < y);
}

static guint *
sort_by_gone (const CleaveArenaSpan *spans, guint n)
{
  guint *order = g_new (guint, n + 1);

  for (guint i = 0; i < n; i++)
    order[i] = i;
  g_qsort_with_data (order, (int) n, sizeof (guint), compare_gone, (gpointer) spans);
  return order;
}

gint64
cleave_arena_sweep (const CleaveArenaSpan *spans, guint n, gint64 *offsets)
{
  g_autoptr (GTree) by_size = g_tree_new_full (compare_sizes, NULL, NULL, NULL);
  g_autoptr (GTree) by_begin = g_tree_new_full (compare_begins, NULL, NULL, g_free);
  g_autofree guint *order = sort_by_gone (spans, n);
  Gaps gaps = { by_begin, by_size };
  gint64 size = 0;

  add_gap (&gaps, 0, G_MAXINT64);
  for (guint i = 0, next = 0; i < n; i++)
    {
      for (; spans[order[next]].gone <= spans[i].first; next++)
        if (spans[order[next]].n_bytes > 0)
          give_back (&gaps, offsets[order[next]],
                     offsets[order[next]] + spans[order[next]].n_bytes);
      offsets[i] = spans[i].n_bytes == 0 ? 0 : take (&gaps, spans[i].n_bytes);
      size = MAX (size, offsets[i] + spans[i].n_bytes);
    }
  return size;
}
