/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Searches for offsets of the buffers of a plan. If there are several memories, they are parts of
 * one range of offsets, and each buffer lies in one memory:
 *
 *   [ memory 0 ........ ][ memory 1 ........................ ]
 *
 * Memory 0 is the fastest one, so it should hold the buffers with the most accesses for each
 * byte. */

#include "place.h"

#include <string.h>

#include "../ir/align.h"

/* The search places the buffers in at most this many orders, and keeps the best result. For plans
 * of chains, the first order reaches the lower bound. */
#define MAX_ORDERS 2000
/* The limit on the number of orders of buffers if there are several memories. The search then
 * seldom reaches the lower bound, so the limit alone ends it. */
#define MAX_ORDERS_OF_MEMORIES 200

gint64
cleave_bundle_memory_begin (const CleaveBundleMemories *memories, guint index)
{
  gint64 begin = 0;

  for (guint i = 0; i < index; i++)
    begin += memories->sizes[i];
  return begin;
}

guint
cleave_bundle_memory_find (const CleaveBundleMemories *memories, gint64 offset)
{
  guint i = 0;

  while (i + 1 < memories->n && offset >= cleave_bundle_memory_begin (memories, i + 1))
    i++;
  return i;
}

static gboolean
is_overlay (const CleaveBundleBuffer *end, const CleaveBundleBuffer *value)
{
  return end->over == value->value && end->first == value->last;
}

/* Returns whether `end`, the result of a segment, may overlay `value` at the offsets that both
 * buffers have now.
 *
 * If the rows of the result are computed downward, the result must begin at least `lag` bytes
 * before the value. A negative `lag` -n lets the result begin at most n bytes after the value.
 *
 * If the rows are computed upward, the result must end at least `lag` bytes after the value. A
 * negative `lag` -n lets the result end at most n bytes before the value.
 *
 * If the result begins (upward: ends) after the value, the distance must be at least one row. A
 * smaller distance would break kernels that work in place: they write each row from its begin, and
 * would overwrite elements that they still read. */
static gboolean
has_lag (const CleaveBundleBuffer *end, const CleaveBundleBuffer *value)
{
  gint64 after = end->is_upward ? end->offset + end->n_used - value->offset - value->n_used
                                : end->offset - value->offset;
  gboolean is_far = end->is_upward ? after >= end->lag : -after >= end->lag;

  return is_far && (after <= 0 || after >= end->row_bytes);
}

static gboolean
may_be_at (const CleaveBundleBuffer *a, const CleaveBundleBuffer *b)
{
  if (a->offset + a->n_bytes <= b->offset || b->offset + b->n_bytes <= a->offset)
    return TRUE;
  return (is_overlay (a, b) && has_lag (a, b)) || (is_overlay (b, a) && has_lag (b, a));
}

/* Returns whether a buffer lies within one memory. */
static gboolean
is_inside (const CleaveBundleBuffer *buffer, const CleaveBundleMemories *memories)
{
  guint i;

  if (buffer->offset < 0 || memories->n == 0)
    return buffer->offset >= 0;
  i = cleave_bundle_memory_find (memories, buffer->offset);
  return buffer->offset + buffer->n_bytes <= cleave_bundle_memory_begin (memories, i + 1);
}

static gboolean
fits (const CleaveBundlePlacement *p,
      CleaveBundleBuffer *buffer,
      CleaveBundleBuffer *const *placed,
      guint n)
{
  if (!is_inside (buffer, p->memories))
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!may_be_at (buffer, placed[i]))
      return FALSE;
  return TRUE;
}

static void
consider (const CleaveBundlePlacement *p,
          CleaveBundleBuffer *buffer,
          CleaveBundleBuffer *const *placed,
          guint n,
          gint64 offset,
          gint64 *best)
{
  if (offset >= *best)
    return;
  buffer->offset = offset;
  if (fits (p, buffer, placed, n))
    *best = offset;
}

static gint64
align_down (gint64 offset, gint64 align)
{
  return MAX (offset, 0) / align * align;
}

static gint64
align_up (gint64 offset, gint64 align)
{
  return cleave_align_up (MAX (offset, 0), align);
}

/* One of the buffers `buffer` and `other` is the result of a segment, which overlays the other
 * buffer. Returns the offset for `buffer` that is nearest to `other`, among the offsets that the
 * lag allows. */
static gint64
find_overlaid_offset (const CleaveBundleBuffer *buffer,
                      const CleaveBundleBuffer *other,
                      gint64 align)
{
  gboolean is_end = is_overlay (buffer, other);
  const CleaveBundleBuffer *end = is_end ? buffer : other;
  gint64 used = other->n_used - buffer->n_used;

  if (end->is_upward)
    return is_end ? align_up (other->offset + used + end->lag, align)
                  : align_down (other->offset + used - end->lag, align);
  return is_end ? align_down (other->offset - end->lag, align)
                : align_up (other->offset + end->lag, align);
}

/* Places a buffer at the lowest offset where it fits. Returns FALSE if it fits nowhere. */
static gboolean
place (const CleaveBundlePlacement *p,
       CleaveBundleBuffer *buffer,
       CleaveBundleBuffer *const *placed,
       guint n)
{
  gint64 best = G_MAXINT64;

  consider (p, buffer, placed, n, 0, &best);
  for (guint i = 1; i < p->memories->n; i++)
    consider (p, buffer, placed, n, cleave_bundle_memory_begin (p->memories, i), &best);
  for (guint i = 0; i < n; i++)
    {
      const CleaveBundleBuffer *other = placed[i];

      consider (p, buffer, placed, n, other->offset + other->n_bytes, &best);
      if (is_overlay (buffer, other) || is_overlay (other, buffer))
        consider (p, buffer, placed, n, find_overlaid_offset (buffer, other, p->align), &best);
    }
  buffer->offset = best;
  return best < G_MAXINT64;
}

/* Collects the buffers that are in use at the same time as `buffer`. Returns their number. */
static guint
find_neighbors (const CleaveBundleBuffer *buffer,
                CleaveBundleBuffer *const *placed,
                guint n,
                CleaveBundleBuffer **neighbors)
{
  guint n_neighbors = 0;

  for (guint i = 0; i < n; i++)
    if (placed[i]->first <= buffer->last && buffer->first <= placed[i]->last)
      neighbors[n_neighbors++] = placed[i];
  return n_neighbors;
}

/* The costs of a placement. The search minimizes `accesses`, then `n_bytes`. */
typedef struct
{
  gint64 accesses; /* sum over all buffers: `accesses` of the buffer times the index of its memory.
                    * The fastest memory has index 0 */
  gint64 n_bytes;  /* bytes of the arena, or of all memories together */
} Cost;

static gboolean
is_less_or_equal (const Cost *a, const Cost *b)
{
  return a->accesses != b->accesses ? a->accesses < b->accesses : a->n_bytes <= b->n_bytes;
}

/* Adds the costs of a placed buffer to `cost`. Updates ends[m]: the offset, from the begin of
 * memory m, after the last buffer in memory m. */
static void
add_cost (const CleaveBundlePlacement *p,
          const CleaveBundleBuffer *buffer,
          gint64 *ends,
          Cost *cost)
{
  guint memory = cleave_bundle_memory_find (p->memories, buffer->offset);
  gint64 end = buffer->offset + buffer->n_bytes - cleave_bundle_memory_begin (p->memories, memory);

  cost->accesses += buffer->accesses * (gint64) memory;
  cost->n_bytes += MAX (end - ends[memory], 0);
  ends[memory] = MAX (ends[memory], end);
}

/* Places `n` buffers one after the other, in the order `order`. Returns FALSE if a buffer does not
 * fit. */
static gboolean
place_all (const CleaveBundlePlacement *p, CleaveBundleBuffer **order, guint n, Cost *cost)
{
  g_autofree CleaveBundleBuffer **neighbors = g_new (CleaveBundleBuffer *, MAX (n, 1));
  g_autofree gint64 *ends = g_new0 (gint64, MAX (p->memories->n, 1));

  *cost = (Cost){ 0, 0 };
  for (guint i = 0; i < n; i++)
    {
      if (!place (p, order[i], neighbors, find_neighbors (order[i], order, i, neighbors)))
        return FALSE;
      add_cost (p, order[i], ends, cost);
    }
  return TRUE;
}

static int
compare_sizes (gconstpointer a, gconstpointer b)
{
  const CleaveBundleBuffer *x = *(CleaveBundleBuffer *const *) a;
  const CleaveBundleBuffer *y = *(CleaveBundleBuffer *const *) b;

  if (x->n_bytes != y->n_bytes)
    return x->n_bytes > y->n_bytes ? -1 : 1;
  return x->value < y->value ? -1 : x->value > y->value;
}

/* Compares buffers by the number of segments that use them, the most segments first: the rings of
 * one segment then fill the gaps. */
static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const CleaveBundleBuffer *x = *(CleaveBundleBuffer *const *) a;
  const CleaveBundleBuffer *y = *(CleaveBundleBuffer *const *) b;
  guint p = x->last - x->first, q = y->last - y->first;

  return p != q ? (p > q ? -1 : 1) : compare_sizes (a, b);
}

/* Compares buffers by their accesses per byte, the most accesses first. */
static int
compare_densities (gconstpointer a, gconstpointer b)
{
  const CleaveBundleBuffer *x = *(CleaveBundleBuffer *const *) a;
  const CleaveBundleBuffer *y = *(CleaveBundleBuffer *const *) b;
  double p = (double) x->accesses / (double) x->n_bytes;
  double q = (double) y->accesses / (double) y->n_bytes;

  return p != q ? (p > q ? -1 : 1) : compare_sizes (a, b);
}

/* Changes an order by two swaps. Each swap exchanges two buffers, which `seed` determines. */
static void
shuffle (CleaveBundleBuffer **order, guint n, guint32 *seed)
{
  for (guint k = 0; k < 2; k++)
    {
      guint i, j;
      CleaveBundleBuffer *other;

      *seed = *seed * 1664525u + 1013904223u;
      i = (*seed >> 8) % n;
      *seed = *seed * 1664525u + 1013904223u;
      j = (*seed >> 8) % n;
      other = order[i];
      order[i] = order[j];
      order[j] = other;
    }
}

/* Sets the order in which a trial places the buffers. `trial`: number of the trial, from 0. The
 * first three trials sort the buffers by different keys. Each later trial uses the best order so
 * far, changed by shuffle(). */
static void
set_order (CleaveBundleBuffer **order,
           CleaveBundleBuffer *const *best,
           guint n,
           guint trial,
           guint32 *seed)
{
  static const GCompareFunc sorts[] = { compare_sizes, compare_spans, compare_densities };

  if (trial < G_N_ELEMENTS (sorts))
    qsort (order, n, sizeof *order, sorts[trial]);
  else
    {
      memcpy (order, best, n * sizeof *order);
      shuffle (order, n, seed);
    }
}

gboolean
cleave_bundle_place (const CleaveBundlePlacement *p, GArray *buffers)
{
  guint n = buffers->len, n_orders = p->memories->n == 0 ? MAX_ORDERS : MAX_ORDERS_OF_MEMORIES;
  g_autofree CleaveBundleBuffer **order = g_new (CleaveBundleBuffer *, MAX (n, 1));
  g_autofree CleaveBundleBuffer **best_order = g_new (CleaveBundleBuffer *, MAX (n, 1));
  const Cost bound = { 0, p->bound };
  Cost least = { G_MAXINT64, G_MAXINT64 }, cost;
  guint32 seed = 1;

  for (guint i = 0; i < n; i++)
    best_order[i] = order[i] = &g_array_index (buffers, CleaveBundleBuffer, i);
  for (guint trial = 0; n > 0 && trial < n_orders && !is_less_or_equal (&least, &bound); trial++)
    {
      set_order (order, best_order, n, trial, &seed);
      if (place_all (p, order, n, &cost) && is_less_or_equal (&cost, &least))
        {
          least = cost;
          memcpy (best_order, order, n * sizeof *order);
        }
    }
  return n == 0 || place_all (p, best_order, n, &cost);
}
