/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A Way is a random way to compute a graph. A Way may split or fit the graph, use other kernels or
 * another number of threads, or write the graph to a file and read it. judge.c changes a copy of
 * the graph with way_change(), and runs the copy. All random choices come from a tape (tape.h). */

#include <cleave/cleave.h>

#include "counts.h"
#include "tape.h"

typedef struct
{
  Tape *tape;
  CleaveGraph *graph; /* the graph that is changed; owned by this struct */
  Counts *counts;
  GString *text; /* description of the changes, for messages */
  gboolean deep; /* the random graph has long chains of nodes, so that a fit often finds a plan */
} Way;

/* Changes the graph. Returns FALSE if the change failed; `failure` is then the reason. */
gboolean way_change (Way *way, GString *failure);
/* Splits some nodes of the graph. The library may refuse the split. */
void way_split (Way *way);
/* Returns a random tiling of a value of this shape. */
CleaveTiling *way_pick_split (Way *way, const CleaveShape *shape);
/* Returns a tiling whose chunks a search finds. A tiling of this kind needs a constraint. */
CleaveTiling *way_pick_search (Way *way, const CleaveShape *shape);
/* Fits the graph into a part of its memory. Returns FALSE if the MACs of the split graph differ
 * from the MACs that the plan reports, or if the split graph needs more bytes than the plan
 * reports. `failure` then names the numbers. */
gboolean way_fit (Way *way, GString *failure);
