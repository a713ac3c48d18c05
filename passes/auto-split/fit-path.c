/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "fit-path.h"

#include <math.h>

/* Fewer strips hardly have three in a row that are the same, as a Loop needs. */
#define MIN_EVEN_STRIPS 6

/* The best way to a step. */
typedef struct
{
  double cost; /* INFINITY: there is none */
  gint64 n_bytes;
  const CleaveFitEdge *edge; /* the last; NULL: a step as it is */
} Way;

static gboolean
is_taken (const CleaveFitEdges *edges, const CleaveFitEdge *edge)
{
  return !edges->is_even ||
         (edge->cuts_weights ? edges->has_chunks : edge->n_strips >= MIN_EVEN_STRIPS);
}

static void
find_way (const CleaveFitEdges *edges, Way *ways, guint end, const CleaveFitAsk *ask)
{
  const CleaveFitSteps *steps = edges->steps;
  Way *best = &ways[end];

  *best = (Way){ .cost = INFINITY };
  if (steps->live[end - 1] <= ask->max_bytes)
    *best = (Way){ ways[end - 1].cost, MAX (ways[end - 1].n_bytes, steps->live[end - 1]), NULL };
  for (guint e = edges->first[end]; e < edges->first[end + 1]; e++)
    {
      const CleaveFitLink *link = &edges->links[e];
      const CleaveFitEdge *edge = &g_array_index (edges->edges, CleaveFitEdge, e);
      const Way *before = &ways[link->begin];
      Way way;

      if (link->n_bytes > ask->max_bytes || !link->is_best || !is_taken (edges, edge))
        continue;
      way.cost =
          before->cost + link->work + (ask->weighs ? link->again : 0) + ask->mac_price * link->macs;
      way.n_bytes = MAX (before->n_bytes, link->n_bytes);
      way.edge = edge;
      if (way.cost < best->cost || (way.cost <= best->cost && way.n_bytes < best->n_bytes))
        *best = way;
    }
}

gint64
cleave_fit_path_find_least (const CleaveFitEdges *edges)
{
  const guint n = edges->steps->n_steps;
  g_autofree gint64 *least = g_new0 (gint64, n + 1);

  for (guint end = 1; end <= n; end++)
    {
      least[end] = MAX (least[end - 1], edges->steps->live[end - 1]);
      for (guint e = edges->first[end]; e < edges->first[end + 1]; e++)
        {
          const CleaveFitLink *link = &edges->links[e];

          if (link->n_bytes < least[end] && link->is_best &&
              is_taken (edges, &g_array_index (edges->edges, CleaveFitEdge, e)))
            least[end] = MIN (least[end], MAX (least[link->begin], link->n_bytes));
        }
    }
  return least[n];
}

void
cleave_fit_path_free (CleaveFitPath *path)
{
  if (path == NULL)
    return;
  g_array_unref (path->edges);
  g_free (path);
}

CleaveFitPath *
cleave_fit_path_find (const CleaveFitEdges *edges, const CleaveFitAsk *ask)
{
  guint n = edges->steps->n_steps;
  g_autofree Way *ways = g_new0 (Way, n + 1);
  CleaveFitPath *path;

  for (guint end = 1; end <= n; end++)
    find_way (edges, ways, end, ask);
  if (isinf (ways[n].cost))
    return NULL;
  path = g_new0 (CleaveFitPath, 1);
  path->edges = g_array_new (FALSE, FALSE, sizeof (CleaveFitEdge));
  path->n_bytes = ways[n].n_bytes;
  for (guint end = n; end > 0;)
    {
      const CleaveFitEdge *edge = ways[end].edge;

      end = edge == NULL ? end - 1 : edge->begin;
      if (edge == NULL)
        continue;
      g_array_prepend_vals (path->edges, edge, 1);
      path->macs += edge->macs;
      path->work += edge->work + edge->again;
    }
  return path;
}
