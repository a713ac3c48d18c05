/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "layout.h"

#include <string.h>

/* The number of orders of placement that are tried before the best one is taken. Plans of chains
 * are placed at their lower bound by the first one. */
#define MAX_ORDERS 2000

typedef struct
{
  const CleaveBundleModel *model;
  const CleaveBundlePlan *plan;
  gint64 align;
  GArray *buffers;
  guint *segment_of; /* segment of a step */
} Builder;

/* Buffers */

static guint
find_segment (const Builder *b, guint step)
{
  if (step == CLEAVE_BUNDLE_NONE)
    return 0;
  return step >= b->model->steps->len ? b->plan->segments->len - 1 : b->segment_of[step];
}

static void
add_buffer (Builder *b, guint value, guint first, guint last, gint64 n_bytes)
{
  CleaveBundleBuffer buffer = { .value = value,
                                .first = first,
                                .last = last,
                                .n_bytes = cleave_align_up (n_bytes, b->align),
                                .n_used = n_bytes,
                                .over = CLEAVE_BUNDLE_NONE };

  g_array_append_val (b->buffers, buffer);
}

/* Adds the values that are read in a later segment than the one that computes them, and inputs and
 * outputs. */
static void
add_whole (Builder *b)
{
  for (guint i = 0; i < b->model->values->len; i++)
    {
      const CleaveBundleValue *value = cleave_bundle_value (b->model, i);
      guint first = find_segment (b, value->producer), last = find_segment (b, value->last_reader);

      if (value->base != i || value->place != CLEAVE_BUNDLE_ARENA)
        continue;
      if (value->producer == CLEAVE_BUNDLE_NONE || last > first ||
          value->last_reader >= b->model->steps->len)
        add_buffer (b, i, first, last, cleave_bundle_value_bytes (value));
    }
}

static CleaveBundleBuffer *
find_buffer (const GArray *buffers, guint value)
{
  for (guint i = 0; i < buffers->len; i++)
    if (g_array_index (buffers, CleaveBundleBuffer, i).value == value)
      return &g_array_index (buffers, CleaveBundleBuffer, i);
  return NULL;
}

static void
add_rings (Builder *b, guint index)
{
  CleaveBundleSegment *g = &g_array_index (b->plan->segments, CleaveBundleSegment, index);
  CleaveBundleFlow flow;

  cleave_bundle_flow_init (&flow, b->model, b->align);
  cleave_bundle_flow_repeat (&flow, g);
  for (guint s = g->first; s < g->end; s++)
    {
      const CleaveBundleSlot *slot = &flow.slots[s - g->first];
      guint value = cleave_bundle_step (b->model, s)->result;

      if (slot->shares == s && cleave_bundle_flow_find_whole (&flow, s) == CLEAVE_BUNDLE_NONE)
        add_buffer (b, value, index, index,
                    slot->capacity * slot->columns *
                        (gint64) cleave_bundle_value (b->model, value)->image.pixel_bytes);
    }
  if (g->overlay.value != CLEAVE_BUNDLE_NONE)
    {
      CleaveBundleBuffer *end = find_buffer (b->buffers, g->overlay.end);

      if (end != NULL)
        {
          end->over = g->overlay.value;
          end->lag = g->overlay.lag;
          end->is_upward = g->is_upward;
          end->row_bytes = cleave_bundle_row_bytes (cleave_bundle_value (b->model, end->value));
        }
    }
  cleave_bundle_flow_clear (&flow);
}

/* Placement */

static gboolean
is_overlay (const CleaveBundleBuffer *end, const CleaveBundleBuffer *value)
{
  return end->over == value->value && end->first == value->last;
}

/* Returns whether an end lies far enough before the value under it, or after it. A kernel that
 * works in place writes a row from its begin on. So a row may lie after the row under it only if
 * they do not overlap. */
static gboolean
has_lag (const CleaveBundleBuffer *end, const CleaveBundleBuffer *value)
{
  gint64 gap = end->offset + end->n_used - value->offset - value->n_used;

  if (end->is_upward)
    return gap >= end->lag && (gap <= 0 || gap >= end->row_bytes);
  return value->offset - end->offset >= end->lag;
}

static gboolean
may_be_at (const CleaveBundleBuffer *a, const CleaveBundleBuffer *b)
{
  if (a->offset + a->n_bytes <= b->offset || b->offset + b->n_bytes <= a->offset)
    return TRUE;
  return (is_overlay (a, b) && has_lag (a, b)) || (is_overlay (b, a) && has_lag (b, a));
}

static gboolean
fits (CleaveBundleBuffer *buffer, CleaveBundleBuffer *const *placed, guint n)
{
  if (buffer->offset < 0)
    return FALSE;
  for (guint i = 0; i < n; i++)
    if (!may_be_at (buffer, placed[i]))
      return FALSE;
  return TRUE;
}

static void
consider (CleaveBundleBuffer *buffer,
          CleaveBundleBuffer *const *placed,
          guint n,
          gint64 offset,
          gint64 *best)
{
  if (offset >= *best)
    return;
  buffer->offset = offset;
  if (fits (buffer, placed, n))
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

/* Returns the offset of `buffer`, one of an end and the value under it, that just keeps the lag. */
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

/* Places a buffer at the lowest offset where it fits. */
static void
place (CleaveBundleBuffer *buffer, CleaveBundleBuffer *const *placed, guint n, gint64 align)
{
  gint64 best = G_MAXINT64;

  consider (buffer, placed, n, 0, &best);
  for (guint i = 0; i < n; i++)
    {
      const CleaveBundleBuffer *other = placed[i];

      consider (buffer, placed, n, other->offset + other->n_bytes, &best);
      if (is_overlay (buffer, other) || is_overlay (other, buffer))
        consider (buffer, placed, n, find_overlaid_offset (buffer, other, align), &best);
    }
  buffer->offset = best;
}

/* Collects the buffers that are in use at the same time as `buffer`. */
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

static gint64
place_all (CleaveBundleBuffer **order, guint n, gint64 align)
{
  g_autofree CleaveBundleBuffer **neighbors = g_new (CleaveBundleBuffer *, MAX (n, 1));
  gint64 n_bytes = 0;

  for (guint i = 0; i < n; i++)
    {
      place (order[i], neighbors, find_neighbors (order[i], order, i, neighbors), align);
      n_bytes = MAX (n_bytes, order[i]->offset + order[i]->n_bytes);
    }
  return n_bytes;
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

/* Whole values first: rings of one segment fill the gaps. */
static int
compare_spans (gconstpointer a, gconstpointer b)
{
  const CleaveBundleBuffer *x = *(CleaveBundleBuffer *const *) a;
  const CleaveBundleBuffer *y = *(CleaveBundleBuffer *const *) b;
  guint p = x->last - x->first, q = y->last - y->first;

  return p != q ? (p > q ? -1 : 1) : compare_sizes (a, b);
}

/* Swaps two buffers of an order, by a fixed sequence of numbers. */
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

/* Tries orders of placement until the arena has no more bytes than the plan, its lower bound. */
static gint64
search (Builder *b)
{
  guint n = b->buffers->len;
  g_autofree CleaveBundleBuffer **order = g_new (CleaveBundleBuffer *, MAX (n, 1));
  g_autofree CleaveBundleBuffer **best_order = g_new (CleaveBundleBuffer *, MAX (n, 1));
  gint64 best = G_MAXINT64;
  guint32 seed = 1;

  for (guint i = 0; i < n; i++)
    order[i] = &g_array_index (b->buffers, CleaveBundleBuffer, i);
  for (guint trial = 0; n > 0 && trial < MAX_ORDERS && best > b->plan->peak_bytes; trial++)
    {
      gint64 n_bytes;

      if (trial < 2)
        qsort (order, n, sizeof *order, trial == 0 ? compare_sizes : compare_spans);
      else
        {
          memcpy (order, best_order, n * sizeof *order);
          shuffle (order, n, &seed);
        }
      n_bytes = place_all (order, n, b->align);
      if (n_bytes <= best)
        {
          best = n_bytes;
          memcpy (best_order, order, n * sizeof *order);
        }
    }
  return n == 0 ? 0 : place_all (best_order, n, b->align);
}

CleaveBundleLayout *
cleave_bundle_layout_new (const CleaveBundleModel *model,
                          const CleaveBundlePlan *plan,
                          gint64 align)
{
  CleaveBundleLayout *layout = g_new0 (CleaveBundleLayout, 1);
  g_autofree guint *segment_of = g_new0 (guint, MAX (model->steps->len, 1));
  Builder b = { model, plan, align, g_array_new (FALSE, TRUE, sizeof (CleaveBundleBuffer)),
                segment_of };

  for (guint i = 0; i < plan->segments->len; i++)
    {
      const CleaveBundleSegment *g = &g_array_index (plan->segments, CleaveBundleSegment, i);

      for (guint s = g->first; s < g->end; s++)
        segment_of[s] = i;
    }
  add_whole (&b);
  for (guint i = 0; i < plan->segments->len; i++)
    add_rings (&b, i);
  layout->n_bytes = search (&b);
  layout->buffers = b.buffers;
  layout->offsets = g_hash_table_new (NULL, NULL);
  for (guint i = 0; i < b.buffers->len; i++)
    {
      const CleaveBundleBuffer *buffer = &g_array_index (b.buffers, CleaveBundleBuffer, i);

      g_hash_table_insert (layout->offsets, GUINT_TO_POINTER (buffer->value),
                           GSIZE_TO_POINTER ((gsize) buffer->offset + 1));
    }
  return layout;
}

void
cleave_bundle_layout_free (CleaveBundleLayout *layout)
{
  g_array_unref (layout->buffers);
  g_hash_table_unref (layout->offsets);
  g_free (layout);
}

gint64
cleave_bundle_layout_offset (const CleaveBundleLayout *layout, guint value)
{
  gpointer offset = g_hash_table_lookup (layout->offsets, GUINT_TO_POINTER (value));

  g_assert (offset != NULL);
  return (gint64) GPOINTER_TO_SIZE (offset) - 1;
}
