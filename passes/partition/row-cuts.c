/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Finds the cheapest cuts of a row by dynamic programming, in two ways. cleave_row_cut_into() makes
 * a given number of parts that take similar times. cleave_row_cut_within() makes any number of
 * parts. The caller of cleave_row_cut_within() limits the length of parts: for each begin of a
 * part, the caller gives the last position at which the part may end. The cost of a cut is the
 * number of bytes that cross its positions. */

#include "row-cuts.h"

#include "../../lib/memory/cost.h"

/* Limit on the time of the slowest part, as a multiple of the shortest possible time: the time of
 * the slowest part in the most even cut. */
#define MAX_UNEVEN 1.25

/* The table `from` (EvenCut) has at most about this many entries, of 4 bytes each. A longer row is
 * cut at fewer positions (cleave_row_list_positions()). */
#define MAX_ENTRIES (1 << 24)

/* The search for the time of the slowest part halves its interval this many times. The ends of
 * the interval then differ by less time than any node takes. */
#define N_HALVINGS 40

static guint
get_position (const GArray *positions, guint index)
{
  return g_array_index (positions, guint, index);
}

/* State of the search for a cut of a row into `n_parts` parts. `positions` lists the positions at
 * which the row may be cut. `time`, `bytes` and `next` have one entry for each entry of
 * `positions`. */
typedef struct
{
  const CleaveRow *row;
  GArray *positions;
  guint n_parts, n; /* number of parts to make, and index of the last position */
  /* indexed as `positions`: estimated time of the nodes before the position, in nanoseconds */
  double *time;
  /* indexed as `positions`, in round k of the search: least bytes that cross the cuts if the nodes
   * before the position form k parts */
  gint64 *bytes;
  /* indexed as `positions`, in round k of the search: least bytes that cross the cuts if the nodes
   * before the position form k + 1 parts */
  gint64 *next;
  /* from[k * (n + 1) + i]: index of the position where the last part begins, if the nodes before
   * position i form k + 1 parts */
  guint *from;
  guint *queue;
} EvenCut;

static void
even_cut_clear (EvenCut *cut)
{
  g_clear_pointer (&cut->positions, g_array_unref);
  g_free (cut->time);
  g_free (cut->bytes);
  g_free (cut->next);
  g_free (cut->from);
  g_free (cut->queue);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (EvenCut, even_cut_clear)

static void
even_cut_init (EvenCut *cut, const CleaveRow *row, guint n_parts)
{
  double time = 0;
  guint node = 0;

  *cut = (EvenCut){ .row = row, .n_parts = n_parts };
  cut->positions = cleave_row_list_positions (row, MAX (4 * n_parts, MAX_ENTRIES / n_parts));
  cut->n = cut->positions->len - 1;
  cut->time = g_new0 (double, cut->n + 1);
  for (guint i = 1; i <= cut->n; i++)
    {
      for (; node < get_position (cut->positions, i); node++)
        time += cleave_cost_of_node (g_ptr_array_index (row->nodes, node));
      cut->time[i] = time;
    }
  cut->bytes = g_new (gint64, cut->n + 1);
  cut->next = g_new (gint64, cut->n + 1);
  cut->from = g_new0 (guint, (gsize) n_parts * (cut->n + 1));
  cut->queue = g_new (guint, cut->n + 1);
}

/* Returns whether the row can be cut into at most `n_parts` parts that take at most `limit`
 * nanoseconds each. */
static gboolean
can_cut (const EvenCut *cut, double limit)
{
  guint n_parts = 0, begin = 0;

  for (guint end = 0; begin < cut->n; begin = end)
    {
      while (end < cut->n && cut->time[end + 1] - cut->time[begin] <= limit)
        end++;
      if (end == begin || ++n_parts > cut->n_parts)
        return FALSE;
    }
  return TRUE;
}

/* Returns the time in nanoseconds of the slowest part in the most even cut, which is the cut whose
 * slowest part takes the least time. */
static double
find_least_limit (const EvenCut *cut)
{
  double below = 0, limit = cut->time[cut->n];

  for (guint i = 0; i < N_HALVINGS; i++)
    {
      double middle = (below + limit) / 2;

      if (can_cut (cut, middle))
        limit = middle;
      else
        below = middle;
    }
  return limit;
}

/* Computes `next`, the least bytes of cuts into `k` + 1 parts, from `bytes`, the least bytes of
 * cuts into `k` parts. The last part may take at most `limit` nanoseconds. So for each position
 * where the last part ends, only a window of earlier positions may be its begin. The window moves
 * forwards with the end. `queue` holds the positions in the window that may still give the cheapest
 * cut. */
static void
add_part (EvenCut *cut, guint k, double limit)
{
  guint head = 0, tail = 0;

  cut->next[0] = G_MAXINT64;
  for (guint end = 1; end <= cut->n; end++)
    {
      guint begin = end - 1;
      gint64 crossing = cut->row->crossing[get_position (cut->positions, begin)];

      if (cut->bytes[begin] < G_MAXINT64)
        {
          /* from here on, `bytes` includes the bytes that cross the cut before the new part */
          cut->bytes[begin] += crossing;
          while (tail > head && cut->bytes[cut->queue[tail - 1]] >= cut->bytes[begin])
            tail--;
          cut->queue[tail++] = begin;
        }
      while (head < tail && cut->time[end] - cut->time[cut->queue[head]] > limit)
        head++;
      cut->next[end] = head < tail ? cut->bytes[cut->queue[head]] : G_MAXINT64;
      cut->from[(gsize) k * (cut->n + 1) + end] = head < tail ? cut->queue[head] : 0;
    }
}

/* Finds the cheapest cut whose parts take at most `limit` nanoseconds each. Returns the bytes that
 * cross the cut, or G_MAXINT64 if there is no such cut. */
static gint64
find_cheapest (EvenCut *cut, double limit)
{
  for (guint i = 0; i <= cut->n; i++)
    cut->bytes[i] = i == 0 ? 0 : G_MAXINT64;
  for (guint k = 0; k < cut->n_parts; k++)
    {
      gint64 *bytes = cut->bytes;

      add_part (cut, k, limit);
      cut->bytes = cut->next;
      cut->next = bytes;
    }
  return cut->bytes[cut->n];
}

GArray *
cleave_row_cut_into (const CleaveRow *row, guint n_parts)
{
  g_auto (EvenCut) cut = { 0 };
  GArray *ends;
  double least, limit, below;
  gint64 n_bytes;
  guint end;

  if (n_parts == 0 || n_parts > row->nodes->len)
    return NULL;
  even_cut_init (&cut, row, n_parts);
  below = least = find_least_limit (&cut);
  limit = MAX_UNEVEN * least;
  n_bytes = find_cheapest (&cut, limit);
  /* several cuts may have `n_bytes` crossing bytes. Lower the limit on the time of a part by
   * bisection, to find the fastest of these cuts. The cheapest cut within the new limit must not
   * have more crossing bytes */
  for (guint i = 0; i < 6; i++)
    {
      double middle = (below + limit) / 2;

      if (find_cheapest (&cut, middle) > n_bytes)
        below = middle;
      else
        limit = middle;
    }
  find_cheapest (&cut, limit);
  ends = g_array_sized_new (FALSE, TRUE, sizeof (guint), n_parts + 1);
  g_array_set_size (ends, n_parts + 1);
  end = cut.n;
  for (guint k = n_parts; k > 0; k--)
    {
      g_array_index (ends, guint, k) = get_position (cut.positions, end);
      end = cut.from[(gsize) (k - 1) * (cut.n + 1) + end];
    }
  return ends;
}

/* The cheapest cut of the nodes before a position into parts. The last of these parts begins at
 * position number `from`. */
typedef struct
{
  gint64 n_bytes; /* bytes that cross the cuts; G_MAXINT64: no cut is allowed */
  guint n_parts, from;
} Cheapest;

static gboolean
is_cheaper (const Cheapest *a, const Cheapest *b)
{
  return a->n_bytes < b->n_bytes || (a->n_bytes == b->n_bytes && a->n_parts < b->n_parts);
}

/* Fills `cheapest`, indexed like `positions`, with the cheapest cut of the nodes before each
 * position. A part that begins at position number i ends at position number `reach[i]` or earlier.
 * `queue` holds positions at which the last part of a cut may begin. A position leaves the queue
 * when a part that begins at this position cannot reach `end`. A position also leaves the queue
 * when a later position has an equal or cheaper cut (is_cheaper()). */
static void
find_cheapest_cuts (const CleaveRow *row,
                    const GArray *positions,
                    const guint *reach,
                    Cheapest *cheapest)
{
  g_autofree guint *queue = g_new (guint, positions->len);
  guint head = 0, tail = 0;

  for (guint end = 0; end < positions->len; end++)
    {
      while (head < tail && reach[queue[head]] < end)
        head++;
      if (end > 0)
        cheapest[end] = head < tail ? (Cheapest){ cheapest[queue[head]].n_bytes,
                                                  cheapest[queue[head]].n_parts + 1, queue[head] }
                                    : (Cheapest){ G_MAXINT64, 0, 0 };
      if (cheapest[end].n_bytes == G_MAXINT64)
        continue;
      cheapest[end].n_bytes += row->crossing[get_position (positions, end)];
      while (head < tail && !is_cheaper (&cheapest[queue[tail - 1]], &cheapest[end]))
        tail--;
      queue[tail++] = end;
    }
}

GArray *
cleave_row_cut_within (const CleaveRow *row, const GArray *positions, const guint *reach)
{
  g_autofree Cheapest *cheapest = g_new0 (Cheapest, positions->len);
  const guint last = positions->len - 1;
  GArray *ends;
  guint end = last;

  find_cheapest_cuts (row, positions, reach, cheapest);
  if (cheapest[last].n_bytes == G_MAXINT64)
    return NULL;
  ends = g_array_sized_new (FALSE, TRUE, sizeof (guint), cheapest[last].n_parts + 1);
  g_array_set_size (ends, cheapest[last].n_parts + 1);
  for (guint k = cheapest[last].n_parts; k > 0; k--)
    {
      g_array_index (ends, guint, k) = get_position (positions, end);
      end = cheapest[end].from;
    }
  return ends;
}
