/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Estimates the nodes of a graph that a plan has split. */

#include "plan-nodes.h"

static guint64
count_pieces (const CleaveFitVariant *variant, const CleaveFitPath *path)
{
  const guint *first_node = variant->steps.first_node;
  guint64 n = 0;

  for (guint i = 0; i < path->segments->len; i++)
    {
      const CleaveFitCandidate *segment = &g_array_index (path->segments, CleaveFitCandidate, i);

      n += (guint64) segment->n_strips * segment->n_columns *
           (first_node[segment->end] - first_node[segment->begin]);
    }
  return n;
}

static gboolean
has_tiles (const CleaveFitPath *path)
{
  for (guint i = 0; i < path->segments->len; i++)
    if (g_array_index (path->segments, CleaveFitCandidate, i).n_columns > 1)
      return TRUE;
  return FALSE;
}

double
cleave_fit_variant_estimate_nodes (const CleaveFitVariant *variant, const CleaveFitPath *path)
{
  return variant->nodes_per_piece[has_tiles (path)] * (double) count_pieces (variant, path);
}

void
cleave_fit_variant_note_nodes (CleaveFitVariant *variant, const CleaveFitPath *path, guint n_nodes)
{
  const guint64 n_pieces = count_pieces (variant, path);
  const double added = (double) n_nodes - variant->steps.nodes->len;
  double *per_piece = &variant->nodes_per_piece[has_tiles (path)];

  if (n_pieces > 0)
    *per_piece = MAX (*per_piece, added / (double) n_pieces);
}
