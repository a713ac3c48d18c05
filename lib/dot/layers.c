/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Layered (Sugiyama-style) layout in linear time. Layers are found by longest path. Afterwards,
 * sweeps move each box to the mean position of its predecessors, then of its successors. */

#include "layers.h"

#include <math.h>
#include <string.h>

/* Number of sweeps over the layers; each sweep goes down and up once. On 6,400 nodes, the ends of
 * an edge are on average 193 points apart after 1 sweep, 187 after 2 sweeps, and 188 to 189 after
 * more sweeps. */
#define SWEEPS 2

/* The neighbors of all boxes in one direction: all predecessors, or all successors. The neighbors
 * of box b are others[first[b]] to others[first[b + 1] - 1]. */
typedef struct
{
  guint *first, *others;
} Ends;

typedef struct
{
  const double *sizes;
  double gap;
  guint n_boxes, n_layers;
  Ends from, to;
  guint *layer;          /* indexed by box: number of its layer */
  guint *first, *boxes;  /* the boxes of layer l are boxes[first[l]] to boxes[first[l + 1] - 1] */
  double *x, *wanted;    /* indexed by box: x of the box's center, and mean x of the centers of its
                          * neighbors */
  double *offset, *mean; /* working memory of place_in_order(), indexed by position in the layer */
  guint *count;
} Layers;

static void
ends_init (Ends *ends, guint n_boxes, const guint *edges, guint n_edges, guint end)
{
  g_autofree guint *at = NULL;

  ends->first = g_new0 (guint, n_boxes + 1);
  ends->others = g_new (guint, n_edges + 1);
  for (guint i = 0; i < n_edges; i++)
    ends->first[edges[2 * i + end] + 1]++;
  for (guint i = 0; i < n_boxes; i++)
    ends->first[i + 1] += ends->first[i];
  at = g_memdup2 (ends->first, (n_boxes + 1) * sizeof (guint));
  for (guint i = 0; i < n_edges; i++)
    ends->others[at[edges[2 * i + end]]++] = edges[2 * i + 1 - end];
}

static void
ends_clear (Ends *ends)
{
  g_free (ends->first);
  g_free (ends->others);
}

/* The functions below find the layer of each box. */

/* Moves the successors of `box` that have no final layer to at least one layer below `box`.
 * Decrements waiting[successor], the number of predecessors without a final layer. If the number
 * becomes 0, appends the successor to the queue. Returns the new length of the queue. */
static guint
pass_on (Layers *l, guint box, guint *waiting, guint *queue, guint n_queued)
{
  for (guint i = l->to.first[box]; i < l->to.first[box + 1]; i++)
    {
      guint other = l->to.others[i];

      if (waiting[other] == 0)
        continue;
      l->layer[other] = MAX (l->layer[other], l->layer[box] + 1);
      if (--waiting[other] == 0)
        queue[n_queued++] = other;
    }
  return n_queued;
}

/* Sets the layer of each box to the length of the longest path to the box. If all remaining boxes
 * are in cycles or behind cycles, treats the first of these boxes as a source. */
static void
find_longest_paths (Layers *l)
{
  g_autofree guint *waiting = g_new (guint, l->n_boxes + 1), *queue = g_new (guint, l->n_boxes + 1);
  guint n_queued = 0, next = 0;

  for (guint i = 0; i < l->n_boxes; i++)
    {
      waiting[i] = l->from.first[i + 1] - l->from.first[i];
      if (waiting[i] == 0)
        queue[n_queued++] = i;
    }
  for (guint done = 0; done < l->n_boxes; done++)
    {
      if (done == n_queued)
        {
          while (waiting[next] == 0)
            next++;
          waiting[next] = 0;
          queue[n_queued++] = next;
        }
      n_queued = pass_on (l, queue[done], waiting, queue, n_queued);
    }
}

/* Moves each box without predecessors down to the layer just above its highest successor. */
static void
lower_sources (Layers *l)
{
  for (guint i = 0; i < l->n_boxes; i++)
    {
      guint lowest = G_MAXUINT;

      if (l->from.first[i + 1] > l->from.first[i])
        continue;
      for (guint j = l->to.first[i]; j < l->to.first[i + 1]; j++)
        lowest = MIN (lowest, l->layer[l->to.others[j]]);
      if (lowest != G_MAXUINT && lowest > 0)
        l->layer[i] = lowest - 1;
    }
}

static void
fill_layers (Layers *l)
{
  g_autofree guint *at = NULL;

  for (guint i = 0; i < l->n_boxes; i++)
    l->n_layers = MAX (l->n_layers, l->layer[i] + 1);
  l->first = g_new0 (guint, l->n_layers + 1);
  l->boxes = g_new (guint, l->n_boxes + 1);
  for (guint i = 0; i < l->n_boxes; i++)
    l->first[l->layer[i] + 1]++;
  for (guint i = 0; i < l->n_layers; i++)
    l->first[i + 1] += l->first[i];
  at = g_memdup2 (l->first, (l->n_layers + 1) * sizeof (guint));
  for (guint i = 0; i < l->n_boxes; i++)
    l->boxes[at[l->layer[i]]++] = i;
}

/* The functions below find the positions of boxes within a layer. */

static int
compare_wanted (gconstpointer a, gconstpointer b, gpointer data)
{
  const double *wanted = data, x = wanted[*(const guint *) a], y = wanted[*(const guint *) b];

  return x < y ? -1 : x > y;
}

static void
find_wanted (Layers *l, guint box, const Ends *ends)
{
  guint begin = ends->first[box], end = ends->first[box + 1];
  double sum = 0;

  for (guint i = begin; i < end; i++)
    sum += l->x[ends->others[i]];
  l->wanted[box] = begin == end ? l->x[box] : sum / (end - begin);
}

/* Places boxes in the given order, without overlap, as near to their wanted positions as possible
 * (least squares). If neighboring boxes would overlap, merges these boxes into a group, and places
 * the group at the mean of their wanted positions (isotonic regression, pool adjacent
 * violators). */
static void
place_in_order (Layers *l, const guint *boxes, guint n)
{
  guint n_groups = 0, box = 0;

  for (guint i = 0; i < n; i++)
    {
      l->offset[i] = i == 0 ? 0
                            : l->offset[i - 1] + l->gap +
                                  (l->sizes[2 * boxes[i - 1]] + l->sizes[2 * boxes[i]]) / 2;
      l->mean[n_groups] = l->wanted[boxes[i]] - l->offset[i];
      l->count[n_groups++] = 1;
      for (; n_groups > 1 && l->mean[n_groups - 2] > l->mean[n_groups - 1]; n_groups--)
        {
          guint a = l->count[n_groups - 2], b = l->count[n_groups - 1];

          l->mean[n_groups - 2] = (l->mean[n_groups - 2] * a + l->mean[n_groups - 1] * b) / (a + b);
          l->count[n_groups - 2] = a + b;
        }
    }
  for (guint i = 0; i < n_groups; i++)
    for (guint end = box + l->count[i]; box < end; box++)
      l->x[boxes[box]] = l->mean[i] + l->offset[box];
}

static void
place_layer (Layers *l, guint layer, const Ends *ends)
{
  guint *boxes = l->boxes + l->first[layer], n = l->first[layer + 1] - l->first[layer];

  for (guint i = 0; i < n; i++)
    find_wanted (l, boxes[i], ends);
  g_qsort_with_data (boxes, (int) n, sizeof (guint), compare_wanted, l->wanted);
  place_in_order (l, boxes, n);
}

static void
sweep (Layers *l)
{
  l->x = g_new0 (double, l->n_boxes + 1);
  l->wanted = g_new0 (double, l->n_boxes + 1);
  l->offset = g_new (double, l->n_boxes + 1);
  l->mean = g_new (double, l->n_boxes + 1);
  l->count = g_new (guint, l->n_boxes + 1);
  for (guint s = 0; s < SWEEPS; s++)
    {
      for (guint i = 0; i < l->n_layers; i++)
        place_layer (l, i, &l->from);
      for (guint i = l->n_layers; i-- > 0;)
        place_layer (l, i, &l->to);
    }
}

static void
write_centers (const Layers *l, double gap, double *centers, double extent[2])
{
  double left = HUGE_VAL, right = -HUGE_VAL, top = 0;

  for (guint i = 0; i < l->n_boxes; i++)
    {
      left = MIN (left, l->x[i] - l->sizes[2 * i] / 2);
      right = MAX (right, l->x[i] + l->sizes[2 * i] / 2);
    }
  for (guint i = 0; i < l->n_layers; i++)
    {
      double height = 0;

      for (guint j = l->first[i]; j < l->first[i + 1]; j++)
        height = MAX (height, l->sizes[2 * l->boxes[j] + 1]);
      for (guint j = l->first[i]; j < l->first[i + 1]; j++)
        {
          centers[2 * l->boxes[j]] = l->x[l->boxes[j]] - left;
          centers[2 * l->boxes[j] + 1] = top + height / 2;
        }
      top += height + gap;
    }
  extent[0] = l->n_boxes == 0 ? 0 : right - left;
  extent[1] = l->n_boxes == 0 ? 0 : top - gap;
}

static void
layers_clear (Layers *l)
{
  ends_clear (&l->from);
  ends_clear (&l->to);
  g_free (l->layer);
  g_free (l->first);
  g_free (l->boxes);
  g_free (l->x);
  g_free (l->wanted);
  g_free (l->offset);
  g_free (l->mean);
  g_free (l->count);
}

void
cleave_layers_place (const double *sizes,
                     guint n_boxes,
                     const guint *edges,
                     guint n_edges,
                     const double gap[2],
                     double *centers,
                     double extent[2])
{
  Layers l = { .sizes = sizes, .gap = gap[0], .n_boxes = n_boxes };

  ends_init (&l.from, n_boxes, edges, n_edges, 1);
  ends_init (&l.to, n_boxes, edges, n_edges, 0);
  l.layer = g_new0 (guint, n_boxes + 1);
  find_longest_paths (&l);
  lower_sources (&l);
  fill_layers (&l);
  sweep (&l);
  write_centers (&l, gap[1], centers, extent);
  layers_clear (&l);
}
