/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <glib.h>

/* Minimum cuts of directed graphs, by igraph. */

/* The vertices between which a graph is cut. */
#define CLEAVE_FLOW_SOURCE 0
#define CLEAVE_FLOW_SINK 1

typedef struct
{
  guint from, to; /* source and target vertex */
  gint64 n_bytes; /* cost of a cut through the edge, in bytes; -1: no cut may pass it */
} CleaveFlowEdge;

/* Divides the vertices into those before a cut, the source among them, and those after it. The sum
 * of the edges (CleaveFlowEdge) from a vertex before the cut to one after it is the least possible.
 * Sets is_before[vertex]. */
void cleave_min_cut (const GArray *edges, guint n_vertices, gboolean *is_before);
