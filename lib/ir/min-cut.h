/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Minimum cuts of directed graphs, by igraph (topology.c). The partition into models
 * (passes/partition/row-refine.c) moves nodes from one part to the next part along a minimum cut,
 * so that fewer bytes cross between the two parts. Example: with edges source -> a of 8 bytes, a ->
 * b of 2 bytes and b -> sink of 8 bytes, the cut is between a and b. */

#include <glib.h>

/* The numbers of the two vertices that a cut must separate. */
#define CLEAVE_FLOW_SOURCE 0
#define CLEAVE_FLOW_SINK 1

typedef struct
{
  guint from, to; /* numbers of the source and target vertices */
  gint64 n_bytes; /* cost in bytes if the cut passes the edge; -1: no cut may pass it */
} CleaveFlowEdge;

/* Finds a minimum cut: each vertex is before the cut, as the source is, or after the cut, as the
 * sink is. The cut has the least sum of the costs of edges (CleaveFlowEdge) from a vertex before
 * the cut to a vertex after the cut. Sets is_before[vertex] to whether the vertex is before the
 * cut. */
void cleave_min_cut (const GArray *edges, guint n_vertices, gboolean *is_before);
