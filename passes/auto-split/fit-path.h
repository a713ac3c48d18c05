/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include "fit-edges.h"

/* Segments, first to last; steps between them stay as they are. */
typedef struct
{
  GArray *edges;  /* CleaveFitEdge */
  gint64 n_bytes; /* the most of all steps, as far as can be told */
  double macs, work;
} CleaveFitPath;

void cleave_fit_path_free (CleaveFitPath *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (CleaveFitPath, cleave_fit_path_free)

typedef struct
{
  gint64 max_bytes;
  double mac_price; /* of MACs, besides the work that they are: so many times as much */
  gboolean weighs;  /* counts weights that strips read again */
} CleaveFitAsk;

/* The segments that need no more than so many bytes and cost least; NULL: there are none. */
CleaveFitPath *cleave_fit_path_find (const CleaveFitEdges *edges, const CleaveFitAsk *ask);
/* The fewest bytes that there is a path of, whatever it costs. */
gint64 cleave_fit_path_find_least (const CleaveFitEdges *edges);
