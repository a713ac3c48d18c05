/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Ways to compute a graph: splits, fits, numbers of threads, kernels, a file in between. */

#include <cleave/cleave.h>

#include "counts.h"
#include "tape.h"

typedef struct
{
  Tape *tape;
  CleaveGraph *graph; /* owned */
  Counts *counts;
  GString *text; /* the changes, as text */
  gboolean deep; /* fits are likely to find a plan */
} Way;

/* Changes the graph. Returns FALSE if that failed; `failure` says why. */
gboolean way_change (Way *way, GString *failure);
/* Splits something of the graph, or refuses to. */
void way_split (Way *way);
/* Returns a random tiling of a value of this shape. */
CleaveTiling *way_pick_split (Way *way, const CleaveShape *shape);
/* Returns a tiling that leaves the chunks to a search, which needs a constraint. */
CleaveTiling *way_pick_search (Way *way, const CleaveShape *shape);
/* Fits the graph into part of its memory. Returns FALSE if the plan breaks a promise; `failure`
 * says which. */
gboolean way_fit (Way *way, GString *failure);
